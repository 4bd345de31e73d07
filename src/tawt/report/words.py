"""Small words of sentences that follow from numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def listed(names: Iterable[str]) -> str:
    """Names as a sentence has them.

    Args:
        names: One at least.

    Example:
        >>> listed(["pos"]), listed(["pos", "chunk", "ner"])
        ('pos', 'pos, chunk and ner')
    """
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
