"""The paper's figure of weights on samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.report import Figure
from tawt.report.dots import Dot, dots, off_scale, scale_for
from tawt.report.words import listed
from tawt.reproduce.captions import counted
from tawt.reproduce.choices import Once, score
from tawt.reproduce.figures import OURS, PAPER
from tawt.reproduce.paper import paper
from tawt.reproduce.result import Result
from tawt.significance import interval, paired_t_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.reproduce.sample_runs import SampleRun
    from tawt.reproduce.store import Store

EXPERIMENT = "figure-weighted-samples"


def samples_result(
    runs: Sequence[SampleRun],
    store: Store,
    seeds: Sequence[int],
    *,
    departures: Sequence[str],
    majority: float,
) -> Result:
    """The figure, and the numbers in it, which the paper does not print.

    Args:
        runs: Its rows.
        store: Where their records are.
        seeds: Of the runs.
        departures: From the paper, in words.
        majority: Share of the commonest type among test words.
    """
    records = {run.name: [Once(run).record(seed, store) for seed in seeds] for run in runs}
    scores = {
        name: [100 * score(record) for record in found if record is not None]
        for name, found in records.items()
    }
    rows = [_row(run, scores, records) for run in runs]
    first = records[runs[0].name][0]
    assert first is not None
    return Result(
        experiment=EXPERIMENT,
        title="Weights on samples",
        said=[_said(row) for row in rows if row["against"]],
        headings=[
            *("", "accuracy", "over plain", "95% interval", "better on", "p over seeds"),
            "effective examples",
        ],
        rows=[_line(row, len(seeds)) for row in rows],
        caption=(
            "Test accuracy in percent, mean ± standard deviation over "
            f"{counted(seeds)}; the interval and p are of a paired t-test over seeds. With one "
            "source, a weight on the task has nothing to change in pre-training. Effective "
            "examples: as many of the source's, counting the same, as its weighted ones are worth "
            "at the end. Commonest type: "
            f"{100 * majority:.1f}% of test words (the paper: 20.17%). The paper: "
            f"{paper()[EXPERIMENT]['setting']}. Its claim: {paper()[EXPERIMENT]['claim']}. Here: "
            + "; ".join(departures)
            + "."
        ),
        data={
            "experiment": EXPERIMENT,
            "rows": rows,
            "seeds": list(seeds),
            "departures": list(departures),
            "majority": majority,
            **{name: first[name] for name in ("versions", "machine", "commit")},
        },
        figures=[_figure(rows)],
    )


def _row(
    run: SampleRun, scores: dict[str, list[float]], records: dict[str, list[Any]]
) -> dict[str, Any]:
    mine = scores[run.name]
    plain = next((name for name in scores if name == _plain(run)), None)
    row: dict[str, Any] = {
        "name": run.name,
        "scores": mine,
        "mean": float(np.mean(mine)),
        "spread": float(np.std(mine, ddof=1)) if len(mine) > 1 else None,
        "against": plain,
        "seconds": [record["seconds"] for record in records[run.name]],
    }
    last = [record["updates"][-1] for record in records[run.name] if record["updates"]]
    effective = [update.get("units", {}).get("effective_sample_size") for update in last]
    if effective and None not in effective:  # records from before have none
        row["effective_examples"] = float(np.mean(effective))
    if plain is not None:
        gains = np.array(mine) - np.array(scores[plain])
        ours, theirs = ([r["examples"] for r in records[name]] for name in (run.name, plain))
        row |= {
            "gain": float(gains.mean()),
            "interval": interval(gains.tolist()),
            "wins": int((gains > 0).sum()),
            "p_seeds": paired_t_test(mine, scores[plain]) if len(mine) > 1 else None,
            "p_examples": paired_t_test(ours, theirs),
        }
    return row


def _plain(run: SampleRun) -> str | None:
    """The row that a weighted one should beat."""
    if run.unit is None:
        return None
    return run.name.partition(",")[0] + ", plain"


def _line(row: dict[str, Any], seeds: int) -> list[str]:
    spread = "" if row["spread"] is None else f" ± {row['spread']:.1f}"
    cells = [row["name"], f"{row['mean']:.1f}{spread}"]
    if row["against"] is None:
        return [*cells, "", "", "", "", ""]
    low_high = "" if row["interval"] is None else "{:+.2f} to {:+.2f}".format(*row["interval"])
    p = "" if row["p_seeds"] is None else f"{row['p_seeds']:.3f}"
    effective = f"{row['effective_examples']:.0f}" if "effective_examples" in row else ""
    return [*cells, f"{row['gain']:+.2f}", low_high, f"{row['wins']} of {seeds}", p, effective]


def _said(row: dict[str, Any]) -> str:
    interval = row["interval"]
    unclear = interval is None or interval[0] <= 0 <= interval[1]
    verdict = "no clear difference" if unclear else "better" if row["gain"] > 0 else "worse"
    return f"{row['name'].capitalize()}: {row['gain']:+.2f} points over plain, {verdict}."


def _figure(rows: Sequence[dict[str, Any]]) -> Figure:
    found = [
        Dot(
            name=row["name"],
            value=row["mean"],
            singles=row["scores"] if len(row["scores"]) > 1 else (),
            said=_line(row, len(row["scores"]))[1],
            tone=PAPER if row["against"] else OURS,
        )
        for row in rows
    ]
    scale = scale_for(found)
    label = "Test accuracy: " + ", ".join(f"{dot.name} {dot.said}" for dot in found)
    off = off_scale(found, scale)
    far = f" Far off, and outside of the scale: {listed(off)}." if off else ""
    return Figure(
        title="Test accuracy of every seed",
        drawing=dots(found, label=label, scale=scale, suffix="%"),
        note=f"Large dots are means; orange: weights are learned.{far}",
    )
