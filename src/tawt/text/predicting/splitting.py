"""Words of a raw sentence, by a rule that fits in a sentence or two."""

from __future__ import annotations

import functools
import itertools
import re
import sys
import unicodedata

_JOINERS = "\u00ad\u200c\u200d"  # soft hyphen, zero-width non-joiner and joiner


def split_words(sentence: str) -> tuple[str, ...]:
    """Words and signs of a sentence.

    A word is a run of letters, digits and underscores; an apostrophe or hyphen between two of
    them, and a point or comma between two digits, belong to it. Any other sign is a word by
    itself. Marks (accents and vowel signs that are characters of their own) belong to what they
    stand on. Blanks separate.

    This is no treebank's tokenization: where the training words were cut otherwise (do n't), cut
    the text the same way and give the words. So too for languages written without blanks.

    Example:
        >>> split_words("Don't pay $1,000.50 (well-known)!")
        ("Don't", 'pay', '$', '1,000.50', '(', 'well-known', ')', '!')
        >>> split_words("  ")
        ()
    """
    return tuple(_pattern().findall(sentence))


@functools.cache
def _pattern() -> re.Pattern[str]:
    """Python's expressions have no class for marks, so it is written out."""
    marks = rf"{_marks()}{_JOINERS}"
    run = rf"\w[\w{marks}]*"
    return re.compile(rf"{run}(?:['’\u2011-]{run}|(?<=\d)[.,](?=\d){run})*|\S[{marks}]*")


def _marks() -> str:
    """The ranges of all combining marks."""
    points = [c for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) in ("Mn", "Mc")]
    ranges = []
    for _, group in itertools.groupby(enumerate(points), lambda pair: pair[1] - pair[0]):
        members = [point for _, point in group]
        ranges.append(f"{chr(members[0])}-{chr(members[-1])}")
    return "".join(ranges)
