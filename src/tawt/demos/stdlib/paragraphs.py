"""Text in paragraphs, each on a line of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST, _LONGEST = 40, 2000  # characters
_BREAK = re.compile(r"\n\s*\n")


def folded(text: str) -> Iterator[str]:
    r"""The paragraphs of a text, each as one line.

    Titles, rules and other short ones are left out, and so are examples for doctest.

    Args:
        text: With blank lines between paragraphs.

    Example:
        >>> list(folded("Title\n\nA paragraph whose text goes on\nfrom line to line.\n\n>>> 1 + 1"))
        ['A paragraph whose text goes on from line to line.']
    """
    for paragraph in _BREAK.split(text):
        line = " ".join(paragraph.split())
        is_prose = 2 * sum(map(str.isalpha, line)) > len(line) and not line.startswith(">>>")
        if is_prose and _SHORTEST <= len(line) <= _LONGEST:
            yield line
