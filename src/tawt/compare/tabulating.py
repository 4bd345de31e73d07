"""From finished runs to a table with tests of its differences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.compare.best import best_of
from tawt.compare.comparison import Comparison, RowResult
from tawt.errors import RunError
from tawt.significance import paired_t_test, verdicts
from tawt.sweeps.row_runs import run_folder
from tawt.tasks import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from tawt.config.rows import Row
    from tawt.config.schema import RunConfig
    from tawt.runs.folder import RunFolder
    from tawt.significance import Verdict


def tabulated(
    folder: Path,
    config: RunConfig,
    table: Sequence[Row],
    seeds: list[int],
    *,
    left_out: Mapping[str, str],
) -> Comparison:
    """The table of finished runs.

    Args:
        folder: Of the comparison.
        config: What all runs share.
        table: Its rows.
        seeds: Of each row.
        left_out: Rows that would be the same runs as others, and those that stand for them.
    """
    target = next(iter(config.targets))
    runs = {row.name: [run_folder(folder, row, seed) for seed in seeds] for row in table}
    records = {name: [run.record() for run in found] for name, found in runs.items()}
    first = records[table[0].name][0]
    metric = first["metric"][target]
    measure = Measure(**first.get("measure", {}).get(target, {}))
    scores = {
        name: [record["scores"][target]["test"][metric] for record in found]
        for name, found in records.items()
    }
    examples = {name: _examples(found, target) for name, found in runs.items()}
    lengths = {scores.shape for scores in examples.values()}
    if len(lengths) > 1:
        raise RunError("The runs have predictions for different numbers of test examples.")
    if any(score is None for found in scores.values() for score in found):
        raise RunError("A run has no finite test score, so there is nothing to compare.")
    left_out = {name: kept for name, kept in left_out.items() if kept in scores}
    compared = {
        row.name: left_out.get(other, other)
        for row in table
        if (other := row.opponent(config, among={*scores, *left_out})) is not None
    }
    tests = verdicts(
        {name: (examples[name], examples[against]) for name, against in compared.items()}
    )
    return Comparison(
        target=target,
        metric=metric,
        seeds=seeds,
        rows=[
            _row(
                row,
                scores,
                records[row.name],
                against=compared.get(row.name),
                tests=tests.get(row.name),
                measure=measure,
                target=target,
            )
            for row in table
        ],
        circumstances={key: first[key] for key in ("versions", "machine", "commit")},
        seconds=round(sum(record["seconds"] for found in records.values() for record in found), 1),
        left_out=left_out,
        measure=measure,
        best=best_of(scores, examples, measure=measure),
    )


def _examples(runs: Sequence[RunFolder], target: str) -> NDArray[np.float64]:
    scores = [run.example_scores(target) for run in runs]
    for run, found in zip(runs, scores, strict=True):
        if len(found) != len(scores[0]):
            raise RunError(f"The run folder {run.path} is damaged: predictions are missing.")
    return np.array(scores)


def _row(
    row: Row,
    scores: dict[str, list[float]],
    records: list[dict[str, Any]],
    *,
    against: str | None,
    tests: Verdict | None,
    measure: Measure,
    target: str,
) -> RowResult:
    ours = scores[row.name]
    theirs = scores[against] if against is not None else None
    gains = None
    if theirs is not None:
        gains = [measure.gain(a, over=b) for a, b in zip(ours, theirs, strict=True)]
    weights = {
        task: float(np.mean([record["weights"][task] for record in records]))
        for task in records[0]["weights"]
    }
    known = [record.get("findings", {}) for record in records]
    sources = known[0] if all(found.keys() == known[0].keys() for found in known) else {}
    return RowResult(
        name=row.name,
        scores=ours,
        mean=float(np.mean(ours)),
        spread=float(np.std(ours, ddof=1)) if len(ours) > 1 else 0.0,
        weights=weights,
        findings={
            name: dict(Counter(found[name]["verdict"] for found in known)) for name in sources
        },
        warnings=dict(Counter(line for record in records for line in record.get("warnings", []))),
        against=against,
        difference=None
        if theirs is None
        else measure.gain(float(np.mean(ours)), over=float(np.mean(theirs))),
        wins=None if gains is None else sum(gain > 0 for gain in gains),
        p_value=None if tests is None else tests.p_value,
        p_bootstrap=None if tests is None else tests.p_bootstrap,
        interval=None if tests is None else tests.interval,
        p_seeds=paired_t_test(ours, theirs) if theirs is not None and len(ours) > 1 else None,
        learns=row.learns,
        passes=_mean_passes(records, target),
    )


def _mean_passes(records: Sequence[Mapping[str, Any]], target: str) -> float | None:
    """Over the target; nothing where a record of an older version does not say."""
    found = [record.get("passes", {}).get(target) for record in records]
    return None if None in found else float(np.mean(found))
