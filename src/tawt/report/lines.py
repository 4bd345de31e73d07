"""Values over time, or over sizes."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from tawt.report.drawing import WIDTH, Anchor, path, text, whole
from tawt.report.scales import (
    LogScale,
    Scale,
    Side,
    main_range,
    rounded_out,
    with_intervals,
)
from tawt.report.tones import tone

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 46, 8, 10, 34, 220
_TICKS = 4
MOST_POINTS = 80
"""That a line has; of more, every second or third is drawn."""

Point = tuple[float, float]
_Any = TypeVar("_Any")


@dataclass(frozen=True, kw_only=True)
class Line:
    """A value over time."""

    name: str
    points: Sequence[Point]
    band: Sequence[tuple[float, float, float]] = ()
    """Around it: where, the lower end and the upper."""
    mark: Point | None = None
    """One of its points that counts."""
    tone: str | None = None
    """One of `TONES`; by its place by default."""
    dashed: bool = False


@dataclass(frozen=True, kw_only=True)
class Upwards:
    """How values are placed, and what is written beside them; shares from zero by default."""

    factor: float = 100.0
    """What they are multiplied by."""
    suffix: str = "%"
    from_zero: bool = True
    by_ratio: bool = False
    """Whether equal ratios are equally far apart."""
    worse: Side | None = None
    """Where values that are far worse than the rest are left off the scale."""
    line: float | None = None
    """A value that all are seen beside."""


PLAIN = Upwards(factor=1.0, suffix="")
"""Numbers from zero."""
AROUND_ZERO = Upwards(factor=1.0, suffix="", from_zero=False, line=0.0)
"""Numbers above and below zero."""


def lines(
    series: Sequence[Line],
    *,
    label: str,
    across: str,
    up: Upwards | None = None,
    by_ratio: bool = False,
) -> str:
    """Lines from left to right.

    Args:
        series: The first are drawn on top.
        label: What is shown, for those who cannot see it.
        across: What stands from left to right.
        up: How values are placed; shares from zero by default.
        by_ratio: Whether equal ratios from left to right are equally far apart.
    """
    up = up or Upwards()
    x, y = _across(series, by_ratio=by_ratio), _up(series, up)
    drawn = [_line(line, number, x, y) for number, line in enumerate(series)]
    return whole(_HEIGHT, label, [*_grid(x, y, up, across), *reversed(drawn)])


def thinned(points: Sequence[_Any]) -> tuple[list[_Any], int]:
    """Every so many-th of the points, and the last; and how many that is.

    Example:
        >>> kept, every = thinned(range(500))
        >>> len(kept), every, kept[:2], kept[-1]
        (73, 7, [0, 7], 499)
    """
    every = -(-len(points) // MOST_POINTS) or 1
    kept = [*points[::every]]
    if points and (len(points) - 1) % every:
        kept.append(points[-1])
    return kept, every


def _across(series: Sequence[Line], *, by_ratio: bool) -> Scale:
    values = [x for line in series for x, _ in line.points] or [0.0]
    ends = {"start": float(_LEFT), "end": float(WIDTH - _RIGHT)}
    if by_ratio:
        return LogScale(low=min(values), high=max(values), **ends)
    return Scale(low=min(0.0, *values, 0.0), high=max(values) or 1.0, **ends)


def _up(series: Sequence[Line], up: Upwards) -> Scale:
    inside = [line for line in series if line.points]
    if up.worse is not None and inside:
        last = [line.points[-1][1] for line in inside]
        low, high = main_range(last, worse=up.worse)
        inside = [line for line in inside if low <= line.points[-1][1] <= high]
        # Nor does the beginning of training squeeze what comes of it.
        values = [y for line in inside for _, y in line.points[len(line.points) // 5 :]]
    else:
        values = [y for line in inside for _, y in line.points]
    low, high = min(values, default=0.0), max(values, default=1.0)
    bands = [(lower, upper) for line in series for _, lower, upper in line.band]
    if up.from_zero or up.by_ratio:
        low, high = min([low, *(end for end, _ in bands)]), max([high, *(end for _, end in bands)])
    else:  # which may be known badly at first
        low, high = with_intervals((low, high), bands)
    ends = {"start": float(_HEIGHT - _BOTTOM), "end": float(_TOP)}
    if up.by_ratio:
        low = max(low, high * 1e-6, 1e-300)
        return LogScale(low=low, high=max(high, 2 * low), **ends)
    if up.from_zero:
        low, high = min(0.0, low), max(high, 0.0) or 1.0
    low, high = rounded_out(low, high, most=_TICKS)
    return Scale(low=low, high=high, **ends)


def _grid(x: Scale, y: Scale, up: Upwards, across: str) -> list[str]:
    found = []
    for tick, said in y.labelled(_TICKS, factor=up.factor, suffix=up.suffix):
        at = y.at(tick)
        found.append(path(f"M{_LEFT} {at:.1f}H{WIDTH - _RIGHT}", "grid"))
        found.append(text(_LEFT - 5, round(at + 4, 1), said, anchor="end", kind="dim"))
    if up.line is not None and y.side(up.line) is None:
        found.append(path(f"M{_LEFT} {y.at(up.line):.1f}H{WIDTH - _RIGHT}", "mark"))
    for tick, said in x.labelled(_TICKS):
        at = round(x.at(tick), 1)
        anchor: Anchor = "end" if at > WIDTH - 30 else "middle"
        found.append(text(at, _HEIGHT - 20, said, anchor=anchor, kind="dim"))
    middle = _LEFT + (WIDTH - _LEFT - _RIGHT) / 2
    return [*found, text(middle, _HEIGHT - 4, across, anchor="middle", kind="dim")]


def _line(line: Line, number: int, x: Scale, y: Scale) -> str:
    own = line.tone or tone(number)
    parts = [_band(line, own, x, y)] if line.band else []
    for piece in _pieces(line.points, y):
        places = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in piece)
        kind = "line dashed" if line.dashed else "line"
        parts.append(
            f'<polyline class="{kind} {own}" points="{places}">'
            f"<title>{escape(line.name)}</title></polyline>"
        )
    points = [line.mark] if line.mark is not None else []
    if len(line.points) == 1:
        points += line.points
    parts += [
        f'<circle class="fill {own}" cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="4.5"/>'
        for a, b in points
        if y.side(b) is None
    ]
    return "".join(parts)


def _pieces(points: Sequence[Point], y: Scale) -> list[list[Point]]:
    """What of a line is on the scale: where it leaves it, it goes along its edge no further."""
    pieces: list[list[Point]] = []
    for before, after in pairwise(points):
        if y.side(before[1]) is not None and y.side(before[1]) == y.side(after[1]):
            continue
        if pieces and pieces[-1][-1] == before:
            pieces[-1].append(after)
        else:
            pieces.append([before, after])
    return pieces


def _band(line: Line, own: str, x: Scale, y: Scale) -> str:
    there = [f"{x.at(at):.1f} {y.at(low):.1f}" for at, low, _ in line.band]
    back = [f"{x.at(at):.1f} {y.at(high):.1f}" for at, _, high in reversed(line.band)]
    return path(f"M{'L'.join([*there, *back])}z", "band", tone=own)
