"""How a score is read: which way is better, and in what it is shown."""

from __future__ import annotations

from dataclasses import dataclass

PERCENT = "percent"
"""The unit of scores between zero and one, which people read in hundredths."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How the score that counts is read.

    Args:
        lower_is_better: Whether a smaller score is a better one, as for losses.
        unit: What scores are in. Those in "percent" lie between zero and one, and differences of
            them are in points; others are shown as they are.

    Example:
        >>> accuracy, bits = Measure(), Measure(lower_is_better=True, unit="bits a byte")
        >>> accuracy.shown(0.6), accuracy.shown_gain(0.054), accuracy.in_words(0.054)
        ('60.0', '+5.4', '5.4 points')
        >>> bits.shown(2.431), bits.gain(2.4, over=2.5) > 0, bits.in_words(0.1)
        ('2.431', True, '0.100 bits a byte')
    """

    lower_is_better: bool = False
    unit: str = PERCENT

    @property
    def factor(self) -> float:
        """What scores are multiplied by to be shown."""
        return 100.0 if self.unit == PERCENT else 1.0

    @property
    def title(self) -> str:
        """The unit as it stands beside the name of the metric; empty where the name says it."""
        return "%" if self.unit == PERCENT else self.unit

    @property
    def sign(self) -> float:
        """1 where higher scores are better, −1 where lower ones are."""
        return -1.0 if self.lower_is_better else 1.0

    def gain(self, score: float, *, over: float) -> float:
        """By how much a score is better than another; negative if it is worse."""
        return self.sign * (score - over)

    def shown(self, score: float) -> str:
        """A score, or a spread of scores, as a table has it."""
        return f"{self.factor * score:.{self.digits}f}"

    def shown_gain(self, gain: float) -> str:
        """A gain, with its sign."""
        return f"{self.factor * gain:+.{self.digits}f}"

    def in_words(self, gain: float) -> str:
        """The size of a gain, whatever its sign."""
        unit = "points" if self.unit == PERCENT else self.unit
        return f"{self.shown(abs(gain))} {unit}"

    @property
    def digits(self) -> int:
        """Decimals that are shown."""
        return 1 if self.unit == PERCENT else 3
