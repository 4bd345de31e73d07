"""How long the rest takes, at the pace of all that was done so far."""

from __future__ import annotations


def time_left(elapsed: float | None, *, done: float, total: float | None) -> int | None:
    """In seconds, if it can be told.

    Args:
        elapsed: Seconds since the work began.
        done: Of the work.
        total: All of it.

    Example:
        >>> time_left(30.0, done=10, total=40)
        90
        >>> time_left(5.0, done=0, total=40) is None
        True
    """
    if elapsed is None or total is None or done <= 0:
        return None
    return round(elapsed * max(0.0, total - done) / done)
