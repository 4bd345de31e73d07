"""A comparison as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tawt.files.markdown import escaped
from tawt.report.words import times
from tawt.significance import RESAMPLES

if TYPE_CHECKING:
    from tawt.compare import Comparison, RowResult
    from tawt.tasks import Measure

HEADINGS = (
    "",
    "score",
    "± seeds",
    "passes",
    "against",
    "difference",
    "95% interval",
    "better on",
    "p t-test",
    "p bootstrap",
    "p over seeds",
)
P_VALUES = [at for at, heading in enumerate(HEADINGS) if heading.startswith("p ")]
"""Places of those that tests are in."""


def cells(row: RowResult, *, seeds: int, measure: Measure) -> tuple[str, ...]:
    """The cells of one row, in the order of `HEADINGS`.

    Example:
        >>> from tawt.compare import RowResult
        >>> from tawt.tasks import Measure
        >>> row = RowResult("joint", [0.5, 0.7], 0.6, 0.1414, {}, "single-task", 0.1, 2, 0.0004)
        >>> cells(row, seeds=2, measure=Measure())
        ('joint', '60.0', '± 14.1', '', 'single-task', '+10.0', '', '2 of 2', '< 0.001', '', '')
    """
    passes = "" if row.passes is None else times(row.passes)
    first = (row.name, measure.shown(row.mean), f"± {measure.shown(row.spread)}", passes)
    if row.against is None or row.difference is None:
        return first + ("",) * (len(HEADINGS) - len(first))
    return (
        *first,
        row.against,
        measure.shown_gain(row.difference),
        interval_text(row.interval, measure=measure),
        f"{row.wins} of {seeds}",
        p_text(row.p_value),
        p_text(row.p_bootstrap),
        p_text(row.p_seeds),
    )


def interval_text(ends: tuple[float, float] | None, *, measure: Measure) -> str:
    """The interval of a gain as one reads it.

    Example:
        >>> from tawt.tasks import Measure
        >>> interval_text((-0.004, 0.0312), measure=Measure())
        '-0.4 to +3.1'
    """
    return "" if ends is None else " to ".join(measure.shown_gain(end) for end in ends)


def p_text(value: float | None) -> str:
    """A p-value as one reads it.

    Example:
        >>> p_text(0.0004), p_text(0.034), p_text(None)
        ('< 0.001', '0.034', '')
    """
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def markdown(comparison: Comparison) -> str:
    """The table in Markdown."""
    lines = [
        "| " + " | ".join(HEADINGS) + " |",
        "|" + "---|" * len(HEADINGS),
        *("| " + " | ".join(_cells(row, comparison)) + " |" for row in comparison.rows),
    ]
    named = replace(
        comparison, metric=escaped(comparison.metric), target=escaped(comparison.target)
    )
    return "\n".join([*lines, "", caption(named), ""])


def caption(comparison: Comparison) -> str:
    """What the table's numbers are, and how they were computed."""
    measure = comparison.measure
    lower = ", lower is better" if measure.lower_is_better else ""
    return (
        f"{comparison.metric} on the test examples of {comparison.target}, in {measure.unit}{lower}"
        "; mean and "
        f"standard deviation over {len(comparison.seeds)} seeds. passes: how often training went "
        "through the target's examples. p: paired t-test, and paired "
        f"bootstrap ({RESAMPLES:,} resamples of the test examples), both on each test example's "
        "score averaged over seeds, and Holm-corrected over the table; 95% interval: the "
        "bootstrap's, of the difference in the mean of these scores, for the row alone; p over "
        "seeds: paired t-test on the seeds' scores, uncorrected."
    )


def _cells(row: RowResult, comparison: Comparison) -> tuple[str, ...]:
    return cells(_escaped(row), seeds=len(comparison.seeds), measure=comparison.measure)


def _escaped(row: RowResult) -> RowResult:
    against = None if row.against is None else escaped(row.against)
    return replace(row, name=escaped(row.name), against=against)
