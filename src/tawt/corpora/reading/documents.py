"""Documents, and those too long to be held at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        self._text = ""
        self._is_continued = False

    @property
    def has_begun(self) -> bool:
        """Whether there is anything of it."""
        return self._is_continued or bool(self._text)

    def add(self, text: str) -> Iterator[Document]:
        """More of it; yields the parts that are complete."""
        self._text = self._text + text if self._text else text
        while len(self._text) > LONGEST:
            place = _cut(self._text)
            yield Document(self._text[:place], ends=False)
            self._text = self._text[place:]
            self._is_continued = True

    def end(self) -> Iterator[Document]:
        """Yields the last part; what is added then belongs to the next document."""
        text, self._text, self._is_continued = self._text, "", False
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


def _cut(text: str) -> int:
    """Where the first part ends: before the last blank that is near, where there is one."""
    found = _LAST_WORD.search(text, LONGEST - _NEAR, LONGEST)
    return found.end() if found else LONGEST
