"""Pieces of SVG inside a page, in the page's own colours; all text in them is escaped.

Pictures are drawn 400 wide and scaled to their place, so that their text can be read on a phone.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 400
NAME = 250
"""How wide a name may be beside what is said of it; the rest of it is cut off."""
_SEEN = 100  # letters, more than there is room for
_LETTER = 6.6  # of what is said, at 13 pixels

Anchor = Literal["start", "middle", "end"]


def text(x: float, y: float, said: str, *, anchor: Anchor = "start", kind: str = "") -> str:
    """A line of text.

    Args:
        x: Where it is anchored.
        y: Its base line.
        said: Its words.
        anchor: Which part of it is there.
        kind: Its class, where it has one.

    Example:
        >>> text(0, 14, "a<b")
        '<text x="0" y="14">a&lt;b</text>'
    """
    placed = "" if anchor == "start" else f' text-anchor="{anchor}"'
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text{of_kind} x="{x:g}" y="{y:g}"{placed}>{escape(said)}</text>'


def name_and_words(top: float, name: str, said: str) -> str:
    """A name, cut off where what is said at the right begins."""
    wide = max(NAME / 2, min(WIDTH - 8.0, WIDTH - 12 - _LETTER * len(said)))
    # An inner picture cuts off what is outside of it; the whole name is there to be pointed at.
    title = f"<title>{escape(name)}</title>" if _LETTER * len(name) > wide else ""
    seen = text(0, 14, name[:_SEEN])
    return (
        f'<svg x="0" y="{top:g}" width="{wide:.0f}" height="18">{seen}{title}</svg>'
        f"{text(WIDTH, top + 14, said, anchor='end')}"
    )


def path(d: str, kind: str, *, tone: str = "") -> str:
    """A path of a class, in a tone."""
    return f'<path class="{kind}{" " + tone if tone else ""}" d="{d}"/>'


def whole(height: float, label: str, parts: Sequence[str]) -> str:
    """A picture.

    Args:
        height: Of it.
        label: What is shown, for those who cannot see it.
        parts: What is in it, the first below the others.
    """
    return (
        f'<svg class="figure" viewBox="0 0 {WIDTH} {height:g}" role="img" '
        f'aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
