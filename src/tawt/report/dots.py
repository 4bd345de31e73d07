"""Values with intervals, one row each; what is off the scale is drawn as an arrow at its edge."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from tawt.report.drawing import WIDTH, Anchor, name_and_words, path, text, whole
from tawt.report.scales import Scale, Side, main_range, rounded_out, with_intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROW, _BOTTOM, _EDGE = 42, 22, 8


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A value, and what is known of it."""

    name: str
    value: float
    interval: tuple[float, float] | None = None
    singles: Sequence[float] = ()
    """What it is the mean of."""
    mark: float | None = None
    """Another value to see it beside, drawn as a diamond."""
    said: str = ""
    """Written at the right."""
    tone: str = "c0"


def dots(
    rows: Sequence[Dot], *, label: str, scale: Scale, suffix: str = "", line: float | None = None
) -> str:
    """A row for each, under its name.

    Args:
        rows: From the top.
        label: What is shown, for those who cannot see it.
        scale: From `scale_for`.
        suffix: After numbers at the edge.
        line: A value that all are seen beside, drawn through all rows.

    Example:
        >>> rows = [Dot(name="a", value=0.2), Dot(name="b", value=0.4)]
        >>> drawn = dots(rows, label="shares", scale=scale_for(rows))
        >>> drawn.count("<circle"), ">0.40</text>" in drawn
        (2, True)
    """
    bottom = _ROW * len(rows)
    grid = []
    for tick, said in scale.labelled(4, suffix=suffix):
        x = scale.at(tick)
        grid.append(path(f"M{x:.1f} 0V{bottom + 4}", "grid"))
        anchor: Anchor = "middle" if 20 < x < WIDTH - 20 else "start" if x <= 20 else "end"
        grid.append(text(x, bottom + 18, said, anchor=anchor, kind="dim"))
    if line is not None and scale.side(line) is None:
        grid.append(path(f"M{scale.at(line):.1f} 0V{bottom + 4}", "mark"))
    drawn = [_row(row, _ROW * place, scale) for place, row in enumerate(rows)]
    return whole(bottom + _BOTTOM, label, [*grid, *drawn])


def scale_for(
    rows: Sequence[Dot], *, worse: Side = "low", holds: Sequence[float] = (), whole: bool = False
) -> Scale:
    """A scale on which rows can be told apart.

    Args:
        rows: Of which those that are far worse than the rest are left off it.
        worse: Which side that is.
        holds: Values that are on it in any case.
        whole: Whether all values and intervals are.
    """
    values = [row.value for row in rows] or [0.0]
    low, high = (min(values), max(values)) if whole else main_range(values, worse=worse)
    inside = [row for row in rows if low <= row.value <= high]
    more = [*holds, *(value for row in inside for value in row.singles)]
    more += [row.mark for row in inside if row.mark is not None]
    low, high = min([low, *more]), max([high, *more])
    intervals = [row.interval for row in inside if row.interval is not None]
    if whole:
        ends = [end for interval in intervals for end in interval]
        low, high = min([low, *ends]), max([high, *ends])
    low, high = rounded_out(*with_intervals((low, high), intervals))
    return Scale(low=low, high=high, start=_EDGE, end=WIDTH - _EDGE)


def off_scale(rows: Sequence[Dot], scale: Scale) -> list[str]:
    """Names of the rows whose values are off the scale."""
    return [row.name for row in rows if scale.side(row.value) is not None]


def _row(row: Dot, top: float, scale: Scale) -> str:
    middle = top + 28
    parts = [name_and_words(top, row.name, row.said)]
    parts += [
        f'<circle class="single" cx="{scale.at(value):.1f}" cy="{middle:g}" r="3"/>'
        for value in row.singles
        if scale.side(value) is None
    ]
    side = scale.side(row.value)
    if side is not None:
        return "".join([*parts, _arrow(scale.at(row.value), middle, side, row.tone, row.said)])
    if row.interval is not None:
        parts.append(_interval(row.interval, middle, scale, row.tone))
    if row.mark is not None:
        x = scale.at(row.mark)
        parts.append(path(f"M{x:.1f} {middle - 6}l6 6l-6 6l-6 -6z", "mark"))
    parts.append(
        f'<circle class="fill {row.tone}" cx="{scale.at(row.value):.1f}" cy="{middle:g}" r="5.5">'
        f"<title>{escape(row.said)}</title></circle>"
    )
    return "".join(parts)


def _interval(ends: tuple[float, float], middle: float, scale: Scale, tone: str) -> str:
    low, high = (scale.at(end) for end in ends)
    parts = [path(f"M{low:.1f} {middle:g}H{high:.1f}", "span", tone=tone)]
    for end, x in zip(ends, (low, high), strict=True):
        side = scale.side(end)
        if side is None:
            parts.append(path(f"M{x:.1f} {middle - 4:g}v8", "span", tone=tone))
        else:
            parts.append(_head(x, middle, side, tone))
    return "".join(parts)


def _arrow(x: float, middle: float, side: Side, tone: str, said: str) -> str:
    way = 1 if side == "low" else -1
    return (
        path(f"M{x:.1f} {middle:g}h{22 * way}", "span dashed", tone=tone)
        + _head(x, middle, side, tone)
        + text(
            x + 28 * way,
            middle + 4,
            f"off the scale: {said.partition(' ')[0]}" if said else "off the scale",
            anchor="start" if side == "low" else "end",
            kind="dim",
        )
    )


def _head(x: float, middle: float, side: Side, tone: str) -> str:
    way = 1 if side == "low" else -1
    return path(f"M{x - 4 * way:.1f} {middle:g}l{8 * way} -4.5v9z", "fill", tone=tone)
