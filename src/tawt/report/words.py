"""Small words that follow from numbers."""

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


def times(count: float) -> str:
    """How often something comes.

    Example:
        >>> times(0.0512), times(2.62), times(8519.6)
        ('0.05', '2.6', '8,520')
    """
    if count >= 10:
        return f"{count:,.0f}"
    return f"{count:.1f}" if count >= 1 else f"{count:.2f}"
