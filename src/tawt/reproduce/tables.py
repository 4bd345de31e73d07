"""The paper's tables of scores, as text and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.reproduce.captions import departures, metric_name
from tawt.reproduce.contents import record_by_contents
from tawt.reproduce.figures import gains_figures
from tawt.reproduce.paper import paper
from tawt.reproduce.result import Result
from tawt.reproduce.same_runs import in_words, same_runs
from tawt.reproduce.scores import score_rows
from tawt.reproduce.sizes import too_small

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.reproduce.plan import TablePlan
    from tawt.reproduce.scores import Number, ScoreRow
    from tawt.reproduce.store import Store
    from tawt.reproduce.tagging import Setup


def score_table(
    experiment: str, title: str, plan: TablePlan, setup: Setup, store: Store, seeds: Sequence[int]
) -> Result:
    """The table of an experiment whose runs are all made.

    Args:
        experiment: Its name.
        title: What it is about.
        plan: What stands where.
        setup: What its runs share.
        store: Where their records are.
        seeds: Of the runs.
    """
    rows = score_rows(experiment, plan, setup, store, seeds)
    return Result(
        experiment=experiment,
        title=title,
        said=[said for row in rows if (said := _said(row, plan.columns))],
        headings=["", *plan.columns, "average"],
        rows=[line for row in rows for line in _lines(row)],
        caption=_caption(experiment, plan, setup, rows, seeds),
        data={
            "experiment": experiment,
            "setting": paper()[experiment].get("setting"),
            "columns": list(plan.columns),
            "rows": [_as_json(row) for row in rows],
            **made_with(plan, setup, store, seeds),
        },
        figures=gains_figures(plan, rows),
    )


def made_with(plan: TablePlan, setup: Setup, store: Store, seeds: Sequence[int]) -> dict[str, Any]:
    """Settings, versions, machine, and what data and encoder are; no names of folders."""
    found = [choice.record(seed, store) for choice in plan.choices for seed in seeds]
    records = [record for record in found if record is not None]
    first = records[0]
    held_out = {
        task: {split: part[split] for split in ("dev", "test") if split in part}
        for record in records
        for task, part in record["data"].items()
        if "test" in part
    }
    return {
        "seeds": list(seeds),
        "departures": departures(setup, seeds),
        "available": dict(setup.available),
        "encoder_sha256": record_by_contents(setup.encoder),
        "files_sha256": {
            task: {
                split: record_by_contents(fields.get(split)) for split in ("train", "dev", "test")
            }
            for task, fields in setup.tasks.items()
        },
        "held_out": held_out,
        "commits": sorted({str(record["commit"]) for record in records}),
        **{name: first[name] for name in ("versions", "machine", "commit")},
    }


def _as_json(row: ScoreRow) -> dict[str, Any]:
    numbers = [number.to_json() for number in row.numbers]
    return {"name": row.name, "against": row.against, "numbers": numbers}


def _lines(row: ScoreRow) -> list[list[str]]:
    """The row, and under a weighted one what it gains."""
    lines = [[row.name, *(_score_text(number) for number in row.numbers)]]
    if row.against is not None:
        lines.append(["improvement", *(_gain_text(number) for number in row.numbers)])
    return lines


def _score_text(number: Number) -> str:
    ours = "–"
    if number.mean is not None:
        spread = "" if number.spread is None else f" ± {number.spread:.1f}"
        mark = "†" * number.capped + "‡" * (number.same_as is not None)
        ours = f"{number.mean:.1f}{spread}{mark}"
    stars = " ***" if number.is_significant else ""
    return f"{ours}{stars} ({_paper_text(number)})"


def _paper_text(number: Number) -> str:
    if number.paper is None:
        return "–"
    return f"{number.paper:.2f}{' ***' if number.paper_significant else ''}"


def _gain_text(number: Number) -> str:
    ours = "–" if number.gain is None else f"{number.gain:+.1f}"
    theirs = "–" if number.paper_gain is None else f"{number.paper_gain:+.2f}"
    return f"{ours} ({theirs})"


def _said(row: ScoreRow, columns: Sequence[str]) -> str | None:
    """How a weighted row did, in a sentence."""
    if row.against is None:
        return None
    average = row.numbers[-1]
    said = f"{row.name.capitalize()} beats {row.against} in {_wins(row, columns)}"
    if average.gain is None or average.paper_gain is None:
        return f"{said}."
    return f"{said}, by {average.gain:+.1f} on average (the paper: {average.paper_gain:+.2f})."


def _wins(row: ScoreRow, columns: Sequence[str]) -> str:
    """In how many columns a weighted row is better; those of the same runs are one."""
    pairs = [
        (n.gain, n.paper_gain, n.repeats(row.name))
        for n in row.numbers[: len(columns)]
        if n.gain is not None and n.paper_gain is not None
    ]
    ours = [gain > 0 for gain, _, again in pairs if not again]
    theirs = [gain > 0 for _, gain, _ in pairs]
    if len(ours) == len(theirs):
        return f"{sum(ours)} of {len(ours)} columns (the paper: {sum(theirs)})"
    paper = f"the paper: {sum(theirs)} of {len(theirs)}"
    return f"{sum(ours)} of {len(ours)} different columns ({paper})"


def _caption(
    experiment: str, plan: TablePlan, setup: Setup, rows: Sequence[ScoreRow], seeds: Sequence[int]
) -> str:
    scored = dict.fromkeys(f"{metric_name(setup, target)} for {target}" for target in plan.targets)
    metrics = ", ".join(scored)
    spread = " ± standard deviation over seeds" if len(seeds) > 1 else ""
    said = [
        f"Test scores in percent ({metrics}), mean{spread}; in parentheses the paper's. "
        f"Improvements are over {_beaten(rows)}. ***: p < 0.001 in a paired t-test on test "
        "sentences, as in the paper, each sentence's score averaged over seeds.",
        f"The paper: {paper()[experiment].get('setting', 'settings of its main table')}.",
        "Here: " + "; ".join(departures(setup, seeds)) + ".",
    ]
    short = too_small(setup, plan.runs())
    if short:
        listed = ", ".join(f"{setup.available[task]} of {task}" for task in short)
        said.append(f"†: fewer sentences than the paper took, all that the data has: {listed}.")
    same = same_runs(plan, setup)
    if same:
        said.append(
            "‡: the same runs as another number, since the data has too few sentences for others; "
            f"a row's average counts them once. These are: {in_words(same)}."
        )
    return " ".join(said)


def _beaten(rows: Sequence[ScoreRow]) -> str:
    """Which rows improvements are over, in words."""
    held = any("fixed final weights" in (row.against or "") for row in rows)
    return "the row with final weights held" if held else "the plain row"
