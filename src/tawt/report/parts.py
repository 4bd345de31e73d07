"""What a page consists of: parts with figures, tables and code, and parts inside these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence


_Row = TypeVar("_Row")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What stands in a table where that is more than a short text."""

    text: str = ""
    marked: str = ""
    """After the text, and set off from it."""
    after: str = ""
    """After that."""
    image: str = ""
    """A PNG in base64."""
    share: float | None = None
    """Of one, drawn as a bar behind the text."""
    shade: float | None = None
    """From 0 to 1, as the colour of the cell."""
    verdict: str = ""
    """A tone: a dot of it stands before the text."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A drawing of this package, all text in it escaped, and what is said of it."""

    drawing: str
    title: str = ""
    note: str = ""
    legend: Sequence[tuple[str, str]] = ()
    """Tone and name of each series."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows under headings."""

    headings: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    title: str = ""
    note: str = ""
    is_prose: bool = False
    """Whether cells hold sentences, which are broken into lines."""


@dataclass(frozen=True, kw_only=True)
class Quotes:
    """Texts under what they are examples of."""

    title: str
    texts: Sequence[Cell]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A heading and what is under it, in this order."""

    title: str
    note: str = ""
    figures: Sequence[Figure] = ()
    legend: Sequence[tuple[str, str]] = ()
    """Of all figures."""
    tables: Sequence[Table] = ()
    quotes: Sequence[Quotes] = ()
    code: Sequence[tuple[str, str]] = ()
    """What it does, and its lines."""
    parts: Sequence[Part] = ()
    is_folded: bool = False
    """Whether a reader has to open it."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A number that a page says in large letters."""

    value: str
    said: str
    """What it is."""
    verdict: str = ""
    """A tone."""


def shortened(rows: Sequence[_Row], *, most: int) -> tuple[Sequence[_Row], int]:
    """The first rows, and how many there are besides; one more than asked for is none to leave out.

    Example:
        >>> shortened(["a", "b", "c"], most=2), shortened(["a", "b", "c", "d"], most=2)
        ((['a', 'b', 'c'], 0), (['a', 'b'], 2))
    """
    if len(rows) <= most + 1:
        return rows, 0
    return rows[:most], len(rows) - most
