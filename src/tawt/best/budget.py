"""How much may be tried: a time, or a number of candidates."""

from __future__ import annotations

from dataclasses import dataclass

from tawt.durations import duration, seconds_in
from tawt.errors import ConfigError

_MOST = 10_000  # candidates
HALVED = 2
"""Candidates that take about as long as the runs on half of the examples."""


@dataclass(frozen=True)
class Budget:
    """What the search may take."""

    text: str
    """As it was given."""
    seconds: float | None = None
    """By the clock."""
    candidates: int | None = None

    @classmethod
    def parsed(cls, text: str) -> Budget:
        """A time, or a number of candidates.

        Args:
            text: Such as "30m", "2h" or "12".

        Raises:
            ConfigError: It is neither, or too small for anything.

        Example:
            >>> Budget.parsed("30m").seconds, Budget.parsed("12").candidates
            (1800.0, 12)
        """
        seconds = seconds_in(text)
        if seconds is not None:
            return cls(text.strip(), seconds=seconds)
        number = text.strip().removesuffix("runs").strip()
        if number.isdecimal() and int(number) <= _MOST:
            if int(number) < 2:
                raise ConfigError(
                    f"--budget {text} is too small: the target alone and one candidate beside it "
                    "are two; give 12, say."
                )
            return cls(text.strip(), candidates=int(number))
        raise ConfigError(
            f"--budget is a time (90s, 30m, 2h) or a number of candidates (12); got {text!r}."
        )

    def allows_another(self, *, begun: int, spent: float) -> bool:
        """Whether another candidate may be begun.

        Args:
            begun: How many were.
            spent: Seconds that they took.
        """
        if self.candidates is not None:
            return begun < self.candidates
        return begun < 2 or self._holds(begun + 1 + HALVED, begun=begun, spent=spent)

    def leaves_room(self, *, begun: int, spent: float) -> bool:
        """Whether there is time to train on half of the examples as well, at the end.

        Args:
            begun: Candidates that were tried.
            spent: Seconds that they took.
        """
        return self.seconds is None or self._holds(begun + HALVED, begun=begun, spent=spent)

    def _holds(self, candidates: int, *, begun: int, spent: float) -> bool:
        """Whether so many candidates can be tried, if others take as long as those before."""
        assert self.seconds is not None
        return spent * candidates / begun < self.seconds

    def left(self, *, begun: int, spent: float) -> str:
        """What is left of it, in words."""
        if self.candidates is not None:
            return f"{max(0, self.candidates - begun)} candidates left"
        assert self.seconds is not None
        return f"{duration(max(0.0, self.seconds - spent))} left"
