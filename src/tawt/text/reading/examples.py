"""What a labelled text file holds, once read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

TaskKind: TypeAlias = Literal["tagging", "classification", "pair", "regression"]
"""What files hold: a tag for each word, a label for a text, a label for two texts, a number."""

KINDS: tuple[TaskKind, ...] = ("tagging", "classification", "pair", "regression")


@dataclass(frozen=True, slots=True)
class TaggedSentence:
    """Words, and a tag for each.

    The readers intern words and tags: a word that occurs a thousand times is held once.

    Example:
        >>> TaggedSentence(("EU", "rejects"), ("B-ORG", "O"), line=3).tags
        ('B-ORG', 'O')
    """

    words: tuple[str, ...]
    """At least one, unless the file has an empty sentence (`load` skips and counts those)."""
    tags: tuple[str, ...]
    """One for each word."""
    line: int
    """Line of the first word in its file, from 1; the row, where the source has no lines."""
    group: str | None = None
    """What it is weighted with: its document, where the file marks documents, or what the field
    says that was named as `group`. Interned."""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """One text or two, and what is to be said of them.

    Example:
        >>> LabelledText("Bring on the sequel.", None, "pos", line=1).label
        'pos'
    """

    text: str
    """As in the file, blanks and all."""
    second: str | None
    """The second text of a pair."""
    label: str | float
    """A name; for regression a finite number."""
    line: int
    """First line of the example in its file, from 1; the row, where the source has no lines."""
    group: str | None = None
    """What it is weighted with: what the field says that was named as `group`. Interned."""


Example: TypeAlias = TaggedSentence | LabelledText
"""Tagging has tagged sentences, every other kind labelled texts."""
