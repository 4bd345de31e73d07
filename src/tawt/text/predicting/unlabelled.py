"""What is to be answered: examples without their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words that want tags.

    Example:
        >>> Sentence(("EU", "rejects")).filled, Sentence(()).filled
        (True, False)
    """

    words: tuple[str, ...]
    """None, for a blank line that keeps its place."""
    line: int = 0
    """Of the first word in its file, from 1; 0 where there is none."""

    @property
    def filled(self) -> bool:
        """Whether there is anything to be answered."""
        return bool(self.words)

    @property
    def size(self) -> int:
        """Characters, with one for the end of each word."""
        return sum(map(len, self.words)) + len(self.words)


@dataclass(frozen=True, slots=True)
class Text:
    """A text, or two, that want a label or a number.

    Example:
        >>> Text("Bring on the sequel.").filled, Text(" ").filled
        (True, False)
    """

    text: str
    """As in the file, blanks and all."""
    second: str | None = None
    """The second text of a pair."""
    line: int = 0
    """In its file, from 1; 0 where there is none."""

    @property
    def filled(self) -> bool:
        """Whether there is anything to be answered."""
        return bool(self.text.strip() or (self.second or "").strip())

    @property
    def size(self) -> int:
        """Characters."""
        return len(self.text) + len(self.second or "")


Unlabelled: TypeAlias = Sentence | Text
"""Tagging asks about sentences, every other kind of task about texts."""
