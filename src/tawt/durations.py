"""Times as people write them: 90s, 10m, 2h."""

from __future__ import annotations

import re

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
_TIME = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(s|m|min|h|d)\s*")
_MOST = 365 * 86_400


def seconds_in(text: str) -> float | None:
    """The seconds of a time; nothing where it is none.

    Args:
        text: A number and its unit.

    Example:
        >>> seconds_in("10m"), seconds_in("1.5 h"), seconds_in("12")
        (600.0, 5400.0, None)
    """
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    seconds = float(found[1]) * _SECONDS[found[2]]
    return seconds if 0 < seconds <= _MOST else None


def duration(seconds: float) -> str:
    """How long something takes, roughly.

    Args:
        seconds: As many.

    Example:
        >>> duration(20), duration(90), duration(540), duration(3 * 3600)
        ('20 seconds', '90 seconds', '9 minutes', '3 hours')
    """
    if seconds < 100:
        return f"{max(1, round(seconds))} seconds" if seconds >= 1.5 else "a second"
    if seconds < 100 * 60:
        return f"{round(seconds / 60)} minutes"
    return f"{round(seconds / 3600)} hours"
