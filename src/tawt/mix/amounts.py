"""Budgets and numbers of tokens as people write them: 10m, 2h, 20M, 1B."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tawt.durations import seconds_in
from tawt.errors import ConfigError

_COUNTS = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12}
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")
_MOST_TOKENS = 10**16


@dataclass(frozen=True)
class MixBudget:
    """What all runs together may take: a time, or a number of tokens."""

    text: str
    """As it was given."""
    seconds: float | None = None
    tokens: int | None = None

    @classmethod
    def parsed(cls, text: str) -> MixBudget:
        """A time in seconds, minutes, hours or days; or a number of tokens.

        Args:
            text: A number and its unit.

        Raises:
            ConfigError: It is neither.

        Example:
            >>> MixBudget.parsed("10m").seconds, MixBudget.parsed("20M").tokens
            (600.0, 20000000)
        """
        seconds = seconds_in(text)
        if seconds is not None:
            return cls(text.strip(), seconds=seconds)
        number, unit = _split(text)
        if unit in _COUNTS and 1 <= number * _COUNTS[unit] <= _MOST_TOKENS:
            return cls(text.strip(), tokens=round(number * _COUNTS[unit]))
        raise ConfigError(
            "--budget is a time (90s, 10m, 2h, 1d) or a number of tokens (500K, 20M, 1B) for all "
            f"runs together; got {text!r}."
        )


def tokens_in(text: str) -> int:
    """A number of tokens.

    Args:
        text: A whole number, or a number and K, M, B or T.

    Raises:
        ConfigError: It is neither.

    Example:
        >>> tokens_in("1.5B"), tokens_in("4096")
        (1500000000, 4096)
    """
    number, unit = _split(text)
    factor = _COUNTS.get(unit) if unit else 1
    if factor is None or not 1 <= number * factor <= _MOST_TOKENS:
        raise ConfigError(f"--tokens is a number of tokens, such as 500K, 20M or 1B; got {text!r}.")
    return round(number * factor)


def short(count: float) -> str:
    """A number in three digits at most.

    Example:
        >>> short(950), short(4_915_200), short(44e6), short(1.25e9)
        ('950', '4.92M', '44M', '1.25B')
    """
    for unit in ("T", "B", "M", "K"):
        if count >= _COUNTS[unit]:
            return f"{count / _COUNTS[unit]:.3g}{unit}"
    return f"{count:.3g}"


def _split(text: str) -> tuple[float, str]:
    """Number and unit; an unit that there is not, where the text is neither."""
    found = _AMOUNT.fullmatch(text)
    return (float(found[1]), found[2]) if found else (0.0, "?")
