"""Where rounds begin and end: the stretches of training between weight updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def rounds(length: int, every: int | None, *, start: int, before: int) -> Iterable[tuple[int, int]]:
    """The stretches of an epoch between weight updates, from step `start` on.

    Args:
        length: Steps in the epoch.
        every: Steps between updates; an epoch by default.
        start: First step still to take.
        before: Steps of earlier epochs, since updates are counted across epochs.

    Yields:
        First and last (exclusive) step of each.

    Example:
        >>> list(rounds(10, 4, start=0, before=10)), list(rounds(10, None, start=3, before=0))
        ([(0, 2), (2, 6), (6, 10)], [(3, 10)])
    """
    while start < length:
        size = length if every is None else every
        position = start if every is None else before + start
        end = min(length, start + size - position % size)
        yield start, end
        start = end


def ends_round(end: int, length: int, every: int | None, *, before: int) -> bool:
    """Whether a weight update is due after `end` steps of an epoch.

    Example:
        >>> ends_round(10, 10, None, before=0), ends_round(10, 10, 4, before=0)
        (True, False)
    """
    return end == length if every is None else (before + end) % every == 0
