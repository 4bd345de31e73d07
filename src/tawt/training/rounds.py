"""Where rounds begin and end: the stretches of training between weight updates."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Round(NamedTuple):
    """A stretch of an epoch."""

    first: int
    """Its first step."""
    last: int
    """The step after its last."""
    closes: bool
    """Whether a weight update is due after it; if not, it goes on in the next epoch."""


def rounds(
    length: int, every: int | None, *, start: int, before: int, growth: float = 0.0
) -> Iterator[Round]:
    """The stretches of an epoch between weight updates, from step `start` on.

    Args:
        length: Steps in the epoch.
        every: Steps between updates; an epoch by default.
        start: First step still to take.
        before: Steps of earlier epochs, since updates are counted across epochs.
        growth: As for `update_steps`.

    Example:
        >>> [tuple(found) for found in rounds(10, 4, start=0, before=10)]
        [(0, 2, True), (2, 6, True), (6, 10, True)]
        >>> [tuple(found) for found in rounds(10, None, start=3, before=0)]
        [(3, 10, True)]
    """
    if every is None:
        if start < length:
            yield Round(start, length, closes=True)
        return
    for due in update_steps(every, growth=growth):
        end = due - before
        if end > start:
            yield Round(start, min(length, end), closes=end <= length)
            start = end
        if end >= length:
            return


def update_steps(every: int, *, growth: float = 0.0) -> Iterator[int]:
    """The steps after which weights are updated, without end.

    Args:
        every: Fewest steps between two updates.
        growth: How many steps there are between two, as a share of all steps so far, where that is
            more.

    Example:
        >>> from itertools import islice
        >>> list(islice(update_steps(10), 4)), list(islice(update_steps(10, growth=0.5), 6))
        ([10, 20, 30, 40], [10, 20, 30, 45, 67, 100])
    """
    step = every
    while True:
        yield step
        step += max(every, int(growth * step))
