"""Tags of spans: B- begins one, I- goes on, O is outside (IOB2), and what is made of others.

IOB1, where a span begins with I- unless it touches another of its type, reads as IOB2 with
invalid sequences, and the repair below is exactly its conversion. BIOES (also written BILOU)
marks a span's last word (E-, L-) and spans of one word (S-, U-) too; it is converted.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from tawt.text.reading.examples import TaggedSentence
from tawt.text.reading.problems import problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Invalid: TypeAlias = Literal["repair", "refuse"]
"""What is done with tags that are not IOB2."""

_BEGINS = ("B-", "S-", "U-")
_GOES_ON = ("I-", "E-", "L-")
_STAYS_OPEN = ("B-", "I-")


@dataclass
class TagCounts:
    """How many sentences had tags that are not IOB2.

    Example:
        >>> TagCounts().repaired
        0
    """

    repaired: int = 0
    """Sentences with an invalid sequence that was repaired."""
    refused: int = 0
    """Sentences with an invalid sequence, or in BIOES, that were refused."""
    converted: int = 0
    """Sentences in BIOES, valid, that were converted."""


def is_iob(tags: Iterable[str]) -> bool:
    """Whether these are tags of spans, in IOB2, IOB1, BIOES or BILOU.

    Every tag must be O or a prefix with a type, and one must begin or go on with a span. Bare
    letters (B, I, O) are no such tags: they have no type.

    Example:
        >>> is_iob({"O", "B-NP", "I-NP"}), is_iob({"NOUN", "O"}), is_iob({"O"})
        (True, False, False)
    """
    spans = {tag for tag in tags if tag != "O"}
    return bool(spans) and all(len(tag) > 2 and tag.startswith(_BEGINS + _GOES_ON) for tag in spans)


def check_tags(
    sentence: TaggedSentence, *, path: Path, invalid: Invalid, counts: TagCounts
) -> TaggedSentence:
    """The sentence in IOB2; for tags of which `is_iob` holds.

    An I- that nothing of its type leads to (after O, after another type, at the start) becomes
    B-, as the CoNLL evaluation reads it.

    Args:
        sentence: Words and tags.
        path: Its file, for the error.
        invalid: `"repair"` such a sequence (and convert BIOES), or `"refuse"` it.
        counts: Counted here, either way.

    Raises:
        DataError: If the sequence is not IOB2 and is to be refused.

    Example:
        >>> from pathlib import Path
        >>> sentence = TaggedSentence(("a", "b", "c"), ("I-NP", "I-NP", "I-VP"), line=1)
        >>> counts = TagCounts()
        >>> check_tags(sentence, path=Path("a.tsv"), invalid="repair", counts=counts).tags
        ('B-NP', 'I-NP', 'B-VP')
        >>> counts.repaired
        1
    """
    tags, wrong = _iob2(sentence.tags)
    if tags == sentence.tags:
        return sentence
    if invalid == "refuse":
        counts.refused += 1
        raise _refusal(sentence, tags, path)
    if wrong:
        counts.repaired += 1
    else:
        counts.converted += 1
    return TaggedSentence(sentence.words, tags, sentence.line, sentence.group)


def _iob2(tags: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The tags in IOB2, and whether any was where it could not be."""
    result: list[str] = []
    wrong = False
    inside = ""  # the type of the span that the next word may go on with
    for tag in tags:
        prefix, name = tag[:2], tag[2:]
        if tag == "O":
            result.append(tag)
        elif prefix in _GOES_ON and name == inside:
            result.append(f"I-{name}")
        else:
            wrong = wrong or prefix in _GOES_ON
            result.append(f"B-{name}")
        inside = name if prefix in _STAYS_OPEN else ""
    return tuple(map(sys.intern, result)), wrong


def _refusal(sentence: TaggedSentence, tags: tuple[str, ...], path: Path) -> Exception:
    position = next(i for i, tag in enumerate(tags) if tag != sentence.tags[i])
    before = shown(sentence.tags[position - 1]) if position else "the start of the sentence"
    return problem(
        path,
        sentence.line,
        f"the tags of this sentence are not IOB2: {shown(sentence.tags[position])} (word "
        f"{position + 1}, {shown(sentence.words[position])}) after {before}; expected "
        f"{shown(tags[position])}. Mend it, or let it be repaired with `invalid: repair`.",
    )
