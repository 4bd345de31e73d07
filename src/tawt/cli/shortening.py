"""Which of many tasks a terminal shows; pages and JSON have all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping

T = TypeVar("T", bound="Hashable")

MOST = 12
"""Tasks that are shown of more."""


def largest(sizes: Mapping[T, float], *, always: Collection[T] = ()) -> list[T]:
    """What is shown of many, in the order that it is given in.

    Args:
        sizes: Of all of them: how much there is to be seen of each.
        always: What is shown whatever its size.

    Example:
        >>> sizes = {f"corpus {number}": number for number in range(200)}
        >>> shown = largest(sizes, always=["corpus 0"])
        >>> shown[:2], shown[-1], len(shown)
        (['corpus 0', 'corpus 189'], 'corpus 199', 12)
    """
    ranked = sorted(sizes, key=lambda name: (name not in always, -sizes[name]))
    kept = {*ranked[: max(MOST, len([name for name in sizes if name in always]))]}
    return [name for name in sizes if name in kept]


def more(count: int) -> str:
    """What stands for those that are not shown.

    Example:
        >>> more(188)
        'and 188 more'
    """
    return f"and {count:,} more"
