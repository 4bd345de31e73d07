"""Pictures of reproduced experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.report import Figure
from tawt.report.dots import Dot, dots, scale_for
from tawt.report.lines import Line, Upwards, lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.reproduce.plan import TablePlan
    from tawt.reproduce.scores import Number, ScoreRow

OURS, PAPER = "c0", "c1"
_POINTS = Upwards(factor=1.0, suffix="", from_zero=True, line=0.0)
_FEWEST = 2


def gains_figures(plan: TablePlan, rows: Sequence[ScoreRow]) -> list[Figure]:
    """What each weighted row gains over the plain one, every seed, beside what the paper's did."""
    columns = list(plan.columns)
    draw = _by_size if len(columns) >= _FEWEST and all(map(str.isdigit, columns)) else _by_column
    figures = [
        draw(row.name, columns, row.numbers[: len(columns)])
        for row in rows
        if row.against is not None
    ]
    return [figure for figure in figures if figure is not None]


def _by_column(name: str, columns: Sequence[str], numbers: Sequence[Number]) -> Figure | None:
    """A row for each column of the table."""
    rows = [
        Dot(
            name=column,
            value=number.gain,
            interval=(min(number.gains), max(number.gains)) if len(number.gains) > 1 else None,
            mark=number.paper_gain,
            said=_said(number),
        )
        for column, number in zip(columns, numbers, strict=True)
        if number.gain is not None
    ]
    if not rows:
        return None
    label = f"Gains of {name}: " + ", ".join(f"{row.name} {row.said}" for row in rows)
    drawing = dots(rows, label=label, scale=scale_for(rows, holds=[0.0], whole=True), line=0.0)
    return Figure(
        title=f"{name}: improvement over plain, points",
        drawing=drawing,
        note="Dots: here, from the least to the greatest seed; diamonds: the paper.",
    )


def _by_size(name: str, columns: Sequence[str], numbers: Sequence[Number]) -> Figure | None:
    """From left to right, as columns are sizes."""
    pairs = [(float(column), number) for column, number in zip(columns, numbers, strict=True)]
    ours = [(size, number.gain) for size, number in pairs if number.gain is not None]
    theirs = [(size, number.paper_gain) for size, number in pairs if number.paper_gain is not None]
    if not ours:
        return None
    band = [(size, min(n.gains), max(n.gains)) for size, n in pairs if len(n.gains) > 1]
    series = [
        Line(name="here", points=ours, band=band, tone=OURS),
        Line(name="the paper", points=theirs, tone=PAPER, dashed=True),
    ]
    title = f"{name}: improvement over plain, points"
    drawing = lines(series, label=title, across="size", up=_POINTS, by_ratio=ours[0][0] > 0)
    return Figure(
        title=title,
        drawing=drawing,
        legend=[(OURS, "here, from the least to the greatest seed"), (PAPER, "the paper")],
    )


def _said(number: Number) -> str:
    theirs = "" if number.paper_gain is None else f" (the paper {number.paper_gain:+.2f})"
    return f"{number.gain:+.1f}{theirs}"
