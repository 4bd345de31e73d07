"""From records to the numbers of a table of scores."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.reproduce.choices import BestOf, score
from tawt.reproduce.paper import is_significant, printed
from tawt.reproduce.plan import runs_of
from tawt.reproduce.same_runs import same_runs
from tawt.significance import paired_t_test

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.reproduce.choices import Choice
    from tawt.reproduce.plan import PlanRow, TablePlan
    from tawt.reproduce.same_runs import Spot
    from tawt.reproduce.store import Store
    from tawt.reproduce.tagging import Setup
    from tawt.sweeps import Record

LEVEL = 0.001
"""Of significance, as in the paper."""


@dataclass(frozen=True, kw_only=True)
class Number:
    """One number, ours and the paper's; in percent."""

    scores: list[float] = field(default_factory=list)
    """Of each seed."""
    paper: float | None = None
    gains: list[float] = field(default_factory=list)
    """Of each seed, over the row that it should beat."""
    paper_gain: float | None = None
    p_value: float | None = None
    """Of the paired t-test on test examples, as in the paper."""
    paper_significant: bool = False
    sizes: dict[str, int] = field(default_factory=dict)
    capped: bool = False
    """Whether the data has fewer sentences than the paper took."""
    same_as: Spot | None = None
    """Where the same runs stand before it, since the data has too few sentences for others."""
    scales: list[float] = field(default_factory=list)
    """c of each seed, where it was chosen."""
    weights: list[dict[str, float]] = field(default_factory=list)
    """Final shares of each seed."""
    seconds: list[float] = field(default_factory=list)

    @property
    def mean(self) -> float | None:
        """Over seeds."""
        return float(np.mean(self.scores)) if self.scores else None

    @property
    def spread(self) -> float | None:
        """Standard deviation over seeds; nothing for one."""
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else None

    @property
    def gain(self) -> float | None:
        """Mean over the row that it should beat."""
        return float(np.mean(self.gains)) if self.gains else None

    @property
    def is_significant(self) -> bool:
        """Better than that row, as the paper judges it."""
        return self.p_value is not None and self.p_value < LEVEL and (self.gain or 0) > 0

    def repeats(self, row: str) -> bool:
        """Whether the same runs stand before it in its row, which is this."""
        return self.same_as is not None and self.same_as[0] == row

    def to_json(self) -> dict[str, Any]:
        """With what follows from it."""
        return {"mean": self.mean, "spread": self.spread, "gain": self.gain, **asdict(self)}


@dataclass(frozen=True)
class ScoreRow:
    """One row, its average last."""

    name: str
    against: str | None
    numbers: list[Number]


def score_rows(
    experiment: str, plan: TablePlan, setup: Setup, store: Store, seeds: Sequence[int]
) -> list[ScoreRow]:
    """The rows of a table whose runs are all made."""
    records = {
        (row.name, position): _records(cell, store, seeds)
        for row in plan.rows
        for position, cell in enumerate(row.cells)
        if cell is not None
    }
    same = same_runs(plan, setup)
    return [_row(experiment, row, plan, setup, records, same) for row in plan.rows]


def _records(choice: Choice, store: Store, seeds: Sequence[int]) -> list[Record]:
    found = [choice.record(seed, store) for seed in seeds]
    assert all(record is not None for record in found), "asked for before all runs were made"
    return [record for record in found if record is not None]


_Records = dict[tuple[str, int], list["Record"]]


def _row(
    experiment: str,
    row: PlanRow,
    plan: TablePlan,
    setup: Setup,
    records: _Records,
    same: Mapping[Spot, Spot],
) -> ScoreRow:
    theirs = printed(experiment, row.name)
    beaten = printed(experiment, row.against) if row.against else None
    numbers = []
    for position, (column, cell) in enumerate(zip(plan.columns, row.cells, strict=True)):
        paper = theirs[position]
        paper_gain = _minus(paper, beaten[position]) if beaten else None
        if cell is None:
            numbers.append(Number(paper=paper, paper_gain=paper_gain))
            continue
        mine = records[row.name, position]
        other = records.get((row.against, position)) if row.against else None
        wanted = dict(next(runs_of(cell)).sizes)
        numbers.append(
            Number(
                scores=[100 * score(record) for record in mine],
                paper=paper,
                gains=_gains(mine, other),
                paper_gain=paper_gain,
                p_value=_p_value(mine, other),
                paper_significant=is_significant(experiment, row.name, column),
                sizes={task: setup.capped(task, size) for task, size in wanted.items()},
                capped=any(size > setup.available[task] for task, size in wanted.items()),
                same_as=same.get((row.name, column)),
                scales=_scales(cell, mine),
                weights=[record["weights"] for record in mine],
                seconds=[record["seconds"] for record in mine],
            )
        )
    return ScoreRow(row.name, row.against, [*numbers, _average(row.name, numbers, theirs, beaten)])


def _average(
    row: str,
    numbers: Sequence[Number],
    theirs: Sequence[float | None],
    beaten: Sequence[float | None] | None,
) -> Number:
    """Over columns, the same runs once, seed by seed; nothing where a column has no number."""
    whole = all(number.scores for number in numbers)
    counted = [number for number in numbers if not number.repeats(row)]
    gains = [number.gains for number in counted]
    return Number(
        scores=np.mean([n.scores for n in counted], axis=0).tolist() if whole else [],
        paper=theirs[len(numbers)],
        gains=np.mean(gains, axis=0).tolist() if whole and all(gains) else [],
        paper_gain=_minus(theirs[len(numbers)], beaten[len(numbers)]) if beaten else None,
    )


def _gains(mine: Sequence[Record], other: Sequence[Record] | None) -> list[float]:
    if other is None:
        return []
    return [100 * (score(a) - score(b)) for a, b in zip(mine, other, strict=True)]


def _p_value(mine: Sequence[Record], other: Sequence[Record] | None) -> float | None:
    if other is None:
        return None
    ours, theirs = ([record["examples"] for record in found] for found in (mine, other))
    return paired_t_test(ours, theirs)


def _scales(choice: Choice, records: Sequence[Record]) -> list[float]:
    return [record["scale"] for record in records] if isinstance(choice, BestOf) else []


def _minus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else round(first - second, 2)
