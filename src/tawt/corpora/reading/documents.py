"""Documents, and those too long to be held at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST = 2**20
"""Characters of a document that are held, and tokenised, at once."""
_NEAR = 1000  # characters before a cut in which a blank is looked for
_LAST_WORD = re.compile(r"\S(?=\s\S*\Z)")


class Document(NamedTuple):
    """A text of a corpus, or the next part of a long one."""

    text: str
    group: str | None = None
    """What it is weighted with."""
    ends: bool = True
    """Whether it ends here; else the next one goes on with it."""


def without_blank(documents: Iterable[Document]) -> Iterator[Document | None]:
    """The documents that hold text; None stands for each that is left out.

    Args:
        documents: A long one in parts.

    Example:
        >>> list(without_blank([Document("a"), Document(" ")]))
        [Document(text='a', group=None, ends=True), None]
    """
    begins = True
    for document in documents:
        text, _, ends = document
        is_blank = begins and ends and (not text or text.isspace())
        begins = ends
        yield None if is_blank else document


class Growing:
    r"""A document that is read bit by bit, and given on in parts once it is long.

    Where it is cut depends on its own text alone, not on the bits in which it came.

    Args:
        ending: What is taken off its end.

    Example:
        >>> document = Growing()
        >>> [*document.add("one "), *document.add("two"), *document.end()]
        [Document(text='one two', group=None, ends=True)]
    """

    def __init__(self, *, ending: str = "") -> None:
        self._ending = ending
        self._pieces: list[str] = []
        self._length = 0
        self._is_continued = False

    @property
    def has_begun(self) -> bool:
        """Whether there is anything of it."""
        return self._is_continued or self._length > 0

    def add(self, text: str) -> Iterator[Document]:
        """More of it; yields the parts that are complete."""
        self._pieces.append(text)
        self._length += len(text)
        if self._length <= LONGEST:
            return
        # Joined once a part is full, and cut by position: time is linear in the text.
        whole, start = "".join(self._pieces), 0
        while len(whole) - start > LONGEST:
            place = _cut(whole, start)
            yield Document(whole[start:place], ends=False)
            start = place
        self._pieces, self._length = [whole[start:]], len(whole) - start
        self._is_continued = True

    def end(self) -> Iterator[Document]:
        """Yields the last part; what is added then belongs to the next document."""
        text = "".join(self._pieces)
        self._pieces, self._length, self._is_continued = [], 0, False
        yield Document(text.removesuffix(self._ending))


def in_parts(text: str, group: str | None = None) -> Iterator[Document]:
    """A document in parts that are not too long.

    Args:
        text: All of it.
        group: What it is weighted with.
    """
    if len(text) <= LONGEST:
        yield Document(text, group)
        return
    document = Growing()
    for part in (*document.add(text), *document.end()):
        yield part._replace(group=group)


def _cut(text: str, start: int) -> int:
    """Where the part that starts here ends: before the last blank that is near its longest."""
    most = start + LONGEST
    found = _LAST_WORD.search(text, most - _NEAR, most)
    return found.end() if found else most
