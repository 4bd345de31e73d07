"""Updates that see the two halves of the target's examples in turn."""

from __future__ import annotations

from tawt.errors import WeightsError, is_whole

_ALL_KEPT = 128  # updates, after whose every pair intervals are written down
_KEPT = 8  # pairs, of which one is after that


def check_half(target_half: object) -> None:
    """Refuse what is no half.

    Raises:
        WeightsError: It is not 0, 1 or none.

    Example:
        >>> check_half(2)
        Traceback (most recent call last):
        ...
        tawt.errors.WeightsError: `target_half` must be 0 or 1, the half of the target's examples \
that the update sees, or None if it may see all; got 2.
    """
    if target_half is not None and not (is_whole(target_half) and target_half in (0, 1)):
        raise WeightsError(
            "`target_half` must be 0 or 1, the half of the target's examples that the update sees, "
            f"or None if it may see all; got {target_half!r}."
        )


def way_of(target_half: int | None) -> str:
    """What processes that update together must have in common.

    Example:
        >>> way_of(None), way_of(1)
        ('fresh batches', 'fresh batches, half 1')
    """
    return "fresh batches" if target_half is None else f"fresh batches, half {target_half}"


def intervals_are_due(updates: int, *, half: int | None) -> bool:
    """Whether the history keeps the intervals of weights: when a pair of halves is complete.

    Of long runs it keeps those of every eighth pair. They change little from one to the next, and
    are the longest part of a line.

    Args:
        updates: How many there were before.
        half: That the update saw.

    Example:
        >>> [intervals_are_due(updates, half=updates % 2) for updates in (2, 3, 1001, 1009)]
        [False, True, False, True]
    """
    return half == 1 and (updates < _ALL_KEPT or updates // 2 % _KEPT == 0)
