"""A comparison as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tawt.studies import Comparison, RowResult

HEADINGS = ("", "score", "± seeds", "against", "difference", "better on", "p", "p over seeds")


def cells(row: RowResult, *, seeds: int) -> tuple[str, ...]:
    """The cells of one row, in the order of `HEADINGS`.

    Example:
        >>> from tawt.studies import RowResult
        >>> row = RowResult("joint", [0.5, 0.7], 0.6, 0.1414, {}, "single-task", 0.1, 2, 0.0004)
        >>> cells(row, seeds=2)
        ('joint', '60.0', '± 14.1', 'single-task', '+10.0', '2 of 2', '< 0.001', '')
    """
    first = (row.name, f"{100 * row.mean:.1f}", f"± {100 * row.spread:.1f}")
    if row.against is None or row.difference is None:
        return (*first, "", "", "", "", "")
    difference, wins = f"{100 * row.difference:+.1f}", f"{row.wins} of {seeds}"
    return (*first, row.against, difference, wins, p_text(row.p_value), p_text(row.p_seeds))


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
        *(
            "| " + " | ".join(_escaped(c) for c in cells(row, seeds=len(comparison.seeds))) + " |"
            for row in comparison.rows
        ),
    ]
    caption = (
        f"{comparison.metric} on the test examples of {comparison.target}, in percent; mean and "
        f"standard deviation over {len(comparison.seeds)} seeds; p: paired t-test on test "
        "examples, Holm-corrected; p over seeds: paired t-test on the seeds' scores."
    )
    return "\n".join([*lines, "", caption, ""])


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
