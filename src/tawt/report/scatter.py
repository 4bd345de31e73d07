"""Points by two values."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from tawt.report.drawing import WIDTH, Anchor, path, text, whole
from tawt.report.scales import Scale, rounded_out

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
    for tick, said in y.labelled(4):
        grid.append(path(f"M{_LEFT} {y.at(tick):.1f}H{WIDTH - _RIGHT}", "grid"))
        grid.append(text(_LEFT - 6, round(y.at(tick) + 4, 1), said, anchor="end", kind="dim"))
    for tick, said in x.labelled(4):
        at = round(x.at(tick), 1)
        anchor: Anchor = "end" if at > WIDTH - 30 else "middle"
        grid.append(text(at, _HEIGHT - 20, said, anchor=anchor, kind="dim"))
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
