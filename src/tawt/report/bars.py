"""Horizontal bars from zero."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from tawt.report.drawing import WIDTH, name_and_words, path, whole
from tawt.report.tones import tone

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROW = 40


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
    tone: str | None = None
    """One of `TONES`; by its place by default."""


def bars(rows: Sequence[Bar], *, label: str) -> str:
    """Bars, each under its name.

    Args:
        rows: From the top.
        label: What is shown, for those who cannot see it.

    Example:
        >>> bars([Bar(name="a<b", value=0.5)], label="shares").count("a&lt;b")
        2
    """
    ends = [end for row in rows for end in (row.value, row.mark or 0, *(row.interval or ()))]
    scale = WIDTH / (max(ends, default=0.0) or 1.0)
    return whole(
        _ROW * len(rows), label, [_bar(row, place, scale) for place, row in enumerate(rows)]
    )


def _bar(row: Bar, number: int, scale: float) -> str:
    top = _ROW * number
    bar = top + 21
    parts = [
        name_and_words(top, row.name, row.said),
        f'<rect class="fill {row.tone or tone(number)}" x="0" y="{bar}" '
        f'width="{max(0.5, scale * row.value):.1f}" height="10" rx="2">'
        f"<title>{escape(row.name)}</title></rect>",
    ]
    if row.interval is not None:
        low, high = (min(WIDTH - 1.0, max(1.0, scale * end)) for end in row.interval)
        parts.append(path(f"M{low:.1f} {bar + 1}v8m0 -4H{high:.1f}m0 -4v8", "ends"))
    if row.mark is not None:
        x = min(WIDTH - 1.0, max(1.0, scale * row.mark))
        parts.append(path(f"M{x:.1f} {bar - 3}v16", "mark"))
    return "".join(parts)
