"""Points by two values."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from tawt.report.drawing import WIDTH, path, text, whole
from tawt.report.scales import Scale, rounded_out, written

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 46, 10, 12, 34, 260


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A point, and whose it is."""

    name: str
    x: float
    y: float
    tone: str = "c0"


def scatter(spots: Sequence[Spot], *, label: str, across: str) -> str:
    """Points, each with its name to be pointed at.

    Args:
        spots: In any order.
        label: What is shown, for those who cannot see it.
        across: What stands from left to right.

    Example:
        >>> scatter([Spot(name="a", x=1.0, y=2.0)], label="x", across="y").count("<circle")
        1
    """
    x = _scale([spot.x for spot in spots], start=_LEFT, end=WIDTH - _RIGHT)
    y = _scale([spot.y for spot in spots], start=_HEIGHT - _BOTTOM, end=_TOP)
    grid = []
    for tick in y.ticks(4):
        grid.append(path(f"M{_LEFT} {y.at(tick):.1f}H{WIDTH - _RIGHT}", "grid"))
        said = written(tick, span=y.high - y.low)
        grid.append(text(_LEFT - 6, round(y.at(tick) + 4, 1), said, anchor="end", kind="dim"))
    for tick in x.ticks(4):
        said = written(tick, span=x.high - x.low)
        grid.append(text(round(x.at(tick), 1), _HEIGHT - 20, said, anchor="middle", kind="dim"))
    middle = _LEFT + (WIDTH - _LEFT - _RIGHT) / 2
    grid.append(text(middle, _HEIGHT - 4, across, anchor="middle", kind="dim"))
    drawn = [
        f'<circle class="fill {spot.tone}" cx="{x.at(spot.x):.1f}" cy="{y.at(spot.y):.1f}" r="5">'
        f"<title>{escape(spot.name)}</title></circle>"
        for spot in spots
    ]
    return whole(_HEIGHT, label, [*grid, *drawn])


def _scale(values: Sequence[float], *, start: float, end: float) -> Scale:
    low, high = rounded_out(min(values, default=0.0), max(values, default=1.0))
    return Scale(low=low, high=high, start=start, end=end)
