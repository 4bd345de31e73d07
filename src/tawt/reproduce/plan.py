"""What stands where in a table of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.reproduce.choices import BestOf, Held, Once
from tawt.reproduce.paper import SCALES
from tawt.reproduce.tagging import TaggingRun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tawt.reproduce.choices import Choice
    from tawt.reproduce.tagging import Setup


@dataclass(frozen=True)
class PlanRow:
    """One row: what each number needs, and the row that it should beat."""

    name: str
    """As the paper has it."""
    cells: tuple[Choice | None, ...]
    """None where the paper has no number either."""
    against: str | None = None


@dataclass(frozen=True)
class TablePlan:
    """A table."""

    columns: tuple[str, ...]
    targets: tuple[str, ...]
    """Whose score each column has."""
    rows: tuple[PlanRow, ...]

    @property
    def choices(self) -> list[Choice]:
        """All that is needed."""
        return [cell for row in self.rows for cell in row.cells if cell is not None]

    def runs(self) -> Iterator[TaggingRun]:
        """All runs."""
        for choice in self.choices:
            yield from runs_of(choice)


def runs_of(choice: Choice) -> Iterator[TaggingRun]:
    """All runs of a choice; one with weights taken over has the sizes of its model."""
    return (run for run in choice.runs if isinstance(run, TaggingRun))


AGAINST = {
    "weighted pre-training": "pre-training",
    "weighted joint training": "joint training",
    "weighted normalized joint training": "normalized joint training",
}
"""Weighted, and plain."""
_ROWS = {
    "single-task": "single-task",
    "pre-training": "pre-training",
    "weighted pre-training": "weighted pre-training",
    "joint training": "joint",
    "weighted joint training": "weighted joint",
    "normalized joint training": "normalized joint",
    "weighted normalized joint training": "weighted normalized joint",
}
"""The paper's names, and `tawt compare`'s."""


def chosen(setup: Setup, row: str, target: str, sources: Mapping[str, int], size: int) -> Choice:
    """What a number of the paper's needs.

    Args:
        setup: What all runs share.
        row: By the paper's name.
        target: Of the run.
        sources: Sentences of each.
        size: The target's.
    """
    sizes = (*((name, setup.size(wanted)) for name, wanted in sources.items()),)
    own = ((target, setup.size(size)),)
    if row == "single-task":
        return Once(TaggingRun(setup, "single-task", target, own))
    if row == "weighted pre-training":
        return BestOf(
            tuple(TaggingRun(setup, _ROWS[row], target, sizes + own, scale) for scale in SCALES)
        )
    return Once(TaggingRun(setup, _ROWS[row], target, sizes + own))


def held(setup: Setup, row: str, target: str, sources: Mapping[str, int], size: int) -> Held:
    """The same with its final weights held from the start."""
    learned = chosen(setup, row, target, sources, size)
    plain = chosen(setup, AGAINST[row], target, sources, size)
    assert isinstance(learned, Once | BestOf)
    assert isinstance(plain, Once)
    assert isinstance(plain.run, TaggingRun)
    return Held(learned, plain.run)
