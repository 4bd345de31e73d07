"""Plots that need no program: SVG inside a page, in the page's own colours.

They are drawn 400 wide and scaled to their place, so that their text can be read on a phone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from tawt.report.figures import COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH, _ROW, _NAME = 400, 40, 250
_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 42, 8, 10, 34, 220
_TICKS = 4


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A share, with what is written beside it."""

    name: str
    value: float
    interval: tuple[float, float] | None = None
    """Drawn over the bar."""
    mark: float | None = None
    """Another share to see it beside, drawn as a stroke."""
    said: str = ""
    """Written at the right."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A value over time."""

    name: str
    points: Sequence[tuple[float, float]]


def colour(position: int) -> str:
    """Of a series; those beyond the colours that can be told apart are grey.

    Example:
        >>> colour(0), colour(99)
        ('#0072B2', '#888888')
    """
    return COLOURS[position] if position < len(COLOURS) else "#888888"


def bars(rows: Sequence[Bar], *, label: str) -> str:
    """Horizontal bars from zero, each under its name.

    Args:
        rows: From the top.
        label: What is shown, for those who cannot see it.

    Example:
        >>> bars([Bar(name="a<b", value=0.5)], label="shares").count("a&lt;b")
        2
    """
    ends = [end for row in rows for end in (row.value, row.mark or 0, *(row.interval or ()))]
    scale = _WIDTH / (max(ends, default=0.0) or 1.0)
    drawn = [_bar(row, place, scale) for place, row in enumerate(rows)]
    return _whole(_ROW * len(rows), label, drawn)


def lines(series: Sequence[Line], *, label: str, across: str) -> str:
    """Shares over time, from zero.

    Args:
        series: The first are drawn on top.
        label: What is shown, for those who cannot see it.
        across: What time is counted in.
    """
    points = [point for line in series for point in line.points]
    last = max((x for x, _ in points), default=0.0) or 1.0
    top = _rounded_up(max((y for _, y in points), default=0.0))
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> str:
        return f"{_LEFT + wide * x / last:.1f},{_TOP + high * (1 - y / top):.1f}"

    grid = []
    for k in range(_TICKS + 1):
        y = _TOP + high * (1 - k / _TICKS)
        grid.append(f'<path class="grid" d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"/>')
        grid.append(_text(_LEFT - 5, y + 4, f"{100 * top * k / _TICKS:.3g}%", anchor="end"))
        x = _LEFT + wide * k / _TICKS
        anchor = "end" if k == _TICKS else "middle"
        grid.append(_text(x, _HEIGHT - 20, f"{last * k / _TICKS:,.0f}", anchor=anchor))
    grid.append(_text(_LEFT + wide / 2, _HEIGHT - 4, across, anchor="middle"))
    drawn = [
        f'<polyline fill="none" stroke="{colour(number)}" stroke-width="2" '
        f'points="{" ".join(place(*point) for point in line.points)}">'
        f"<title>{escape(line.name)}</title></polyline>"
        for number, line in enumerate(series)
    ]
    return _whole(_HEIGHT, label, [*grid, *reversed(drawn)])


def _bar(row: Bar, number: int, scale: float) -> str:
    top = _ROW * number
    bar = top + 21
    parts = [
        f'<svg x="0" y="{top}" width="{_NAME}" height="18">{_text(0, 14, row.name)}</svg>',
        _text(_WIDTH, top + 14, row.said, anchor="end"),
        f'<rect x="0" y="{bar}" width="{max(0.5, scale * row.value):.1f}" height="10" rx="2" '
        f'fill="{colour(number)}"><title>{escape(row.name)}</title></rect>',
    ]
    if row.interval is not None:
        low, high = (min(_WIDTH - 1.0, max(1.0, scale * end)) for end in row.interval)
        parts.append(
            f'<path class="ends" d="M{low:.1f} {bar + 1}v8m0 -4H{high:.1f}m0 -4v8" fill="none"/>'
        )
    if row.mark is not None:
        x = min(_WIDTH - 1.0, max(1.0, scale * row.mark))
        parts.append(f'<path class="mark" d="M{x:.1f} {bar - 3}v16" fill="none"/>')
    return "".join(parts)


def _text(x: float, y: float, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _whole(height: float, label: str, parts: Sequence[str]) -> str:
    return (
        f'<svg class="figure" viewBox="0 0 {_WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _rounded_up(value: float) -> float:
    """To an end of the scale whose quarters are easy to read.

    Example:
        >>> _rounded_up(0.31), _rounded_up(0.9)
        (0.4, 1.0)
    """
    steps = (0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
    return next((end for end in steps if value <= end), math.ceil(value))
