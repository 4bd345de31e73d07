"""What a comparison came to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.compare.best import Best, Rival
from tawt.compare.folder import COMPARISON, CONFIG
from tawt.compare.shapes import ComparisonTable
from tawt.errors import RunError
from tawt.files import shapes
from tawt.tasks import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class RowResult:
    """One row of the table."""

    name: str
    scores: list[float]
    """Test score of each seed."""
    mean: float
    spread: float
    """Standard deviation over seeds; 0 for one seed."""
    weights: dict[str, float]
    """Final shares, averaged over seeds."""
    against: str | None = None
    difference: float | None = None
    """By how much the mean score is better than that of the row it is compared with."""
    wins: int | None = None
    """Seeds on which it is better than that row."""
    p_value: float | None = None
    """Of the paired t-test on test examples, Holm-corrected over the table."""
    p_bootstrap: float | None = None
    """Of the paired bootstrap on test examples, Holm-corrected over the table."""
    interval: tuple[float, float] | None = None
    """95% of the paired bootstrap: the difference in mean score per test example."""
    p_seeds: float | None = None
    """Of the paired t-test on the seeds' scores, uncorrected: would other seeds agree?"""
    learns: bool = False
    """Whether its weights move."""
    findings: dict[str, dict[str, int]] = field(default_factory=dict)
    """In how many runs each source was found to help, to hurt, or neither."""
    warnings: dict[str, int] = field(default_factory=dict)
    """What the guard of training has said, and in how many runs."""
    passes: float | None = None
    """Over the target's examples, on average over seeds; none where old runs do not say."""


@dataclass(frozen=True)
class Comparison:
    """A table, and what it was made with."""

    target: str
    metric: str
    seeds: list[int]
    rows: list[RowResult]
    circumstances: dict[str, Any]
    seconds: float
    """Training time of all runs together."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Rows that would have been the same runs as others, and the rows that stand for them."""
    measure: Measure = field(default_factory=Measure)
    """How scores are read."""
    best: Best | None = None
    """The best row beside the others; none in the tables of older versions."""

    def row(self, name: str) -> RowResult | None:
        """The row of that name, if it is in the table."""
        return next((row for row in self.rows if row.name == name), None)


def load_comparison(folder: Path) -> Comparison:
    """The table that a comparison left in its folder.

    One made before there was a bootstrap has none; `compare` makes the table again, not the runs.
    """
    values = files.read_sealed(folder / COMPARISON)
    shapes.check(values, ComparisonTable, folder / COMPARISON)
    try:
        rows = [_loaded(row) for row in values.pop("rows")]
        measure = Measure(**values.pop("measure", {}))
        best = _loaded_best(values.pop("best", None))
        comparison = Comparison(rows=rows, measure=measure, best=best, **values)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{folder / COMPARISON} is damaged: {error}.") from error
    if not comparison.rows or not (folder / CONFIG).exists():
        raise RunError(f"{folder} is damaged: it has no rows, or no {CONFIG}.")
    return comparison


def _loaded(values: dict[str, Any]) -> RowResult:
    row = RowResult(**values)
    return row if row.interval is None else replace(row, interval=_ends(row.interval))


def _loaded_best(values: dict[str, Any] | None) -> Best | None:
    if values is None:
        return None
    rivals = [Rival(**{**each, "interval": _ends(each["interval"])}) for each in values["rivals"]]
    return Best(values["name"], rivals)


def _ends(interval: Sequence[float]) -> tuple[float, float]:
    low, high = interval  # JSON has lists for tuples
    return float(low), float(high)
