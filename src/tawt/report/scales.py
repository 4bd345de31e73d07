"""From values to places in a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Side = Literal["low", "high"]
Tick = tuple[float, str]

_FAR = 2.0  # times the span of all others: a value this far from them is off the scale
_SOME = 0.1  # of their size: nearer ones stay, however close to each other the others are
_BEYOND = 0.4  # of the span of values: as far do intervals stretch the scale, on either side
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Values from `low` to `high`, at places from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a value; of one that is off the scale, its nearer end.

        Example:
            >>> scale = Scale(low=0.0, high=2.0, start=100.0, end=0.0)
            >>> scale.at(0.5), scale.at(7.0)
            (75.0, 0.0)
        """
        span = self._measure(self.high) - self._measure(self.low)
        held = min(max(value, self.low), self.high)
        share = (self._measure(held) - self._measure(self.low)) / span if span else 0.5
        return self.start + share * (self.end - self.start)

    def step(self, most: int) -> float:
        """Between two ticks."""
        return step_of(self.high - self.low, most=most)

    def labelled(self, most: int, *, factor: float = 1.0, suffix: str = "") -> list[Tick]:
        """Ticks, and what is written beside them.

        Args:
            most: How many.
            factor: What values are multiplied by to be written.
            suffix: After numbers.

        Example:
            >>> Scale(low=0.0, high=0.5, start=0, end=1).labelled(2, factor=100, suffix="%")
            [(0.0, '0%'), (0.25, '25%'), (0.5, '50%')]
        """
        step = factor * self.step(most)
        return [(tick, written(factor * tick, step=step) + suffix) for tick in self.ticks(most)]

    def side(self, value: float) -> Side | None:
        """On which side a value is off the scale, if it is."""
        slack = 1e-9 * (self.high - self.low)
        if value < self.low - slack:
            return "low"
        return "high" if value > self.high + slack else None

    def ticks(self, most: int = 5) -> list[float]:
        """Round values, evenly apart.

        Example:
            >>> Scale(low=0.0, high=0.31, start=0, end=1).ticks()
            [0.0, 0.1, 0.2, 0.3]
        """
        step = self.step(most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(k * step, 12) for k in range(first, last + 1)]

    def _measure(self, value: float) -> float:
        return value


class LogScale(Scale):
    """The same by ratios; values are above zero."""

    def ticks(self, most: int = 5) -> list[float]:
        """Powers of ten; where these are fewer than two, what lies between.

        Example:
            >>> LogScale(low=0.3, high=200.0, start=0, end=1).ticks()
            [1.0, 10.0, 100.0]
            >>> LogScale(low=0.3, high=2.0, start=0, end=1).ticks()
            [0.5, 1.0, 2.0]
        """
        low, high = (math.log10(end) for end in (self.low, self.high))
        tens = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
        every = max(1, math.ceil(len(tens) / most))
        if len(tens) > 1:
            return [float(10.0**k) for k in tens][::every]
        near = range(math.floor(low), math.ceil(high) + 1)
        found = [float(f"{part}e{k}") for k in near for part in (1, 2, 5)]
        return [value for value in found if self.side(value) is None]

    def labelled(self, most: int, *, factor: float = 1.0, suffix: str = "") -> list[Tick]:
        """Ticks, and what is written beside them."""
        return [(tick, f"{factor * tick:g}{suffix}") for tick in self.ticks(most)]

    def _measure(self, value: float) -> float:
        return math.log(max(value, 1e-300))


def step_of(span: float, *, most: int) -> float:
    """The least round step of which a span has no more than so many.

    Example:
        >>> step_of(0.31, most=5), step_of(40.0, most=4)
        (0.1, 10.0)
    """
    if not span > 1e-200:  # nothing to be told apart
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(part * power for part in _STEPS if part * power >= span / most * (1 - 1e-9))
    return float(f"{step:.6g}")


def written(value: float, *, step: float) -> str:
    """A value at the edge of a picture, with the decimals that its neighbours need.

    Args:
        value: To be written.
        step: To the next one.

    Example:
        >>> written(0.5, step=0.25), written(2000.0, step=500.0)
        ('0.50', '2,000')
    """
    digits = next((k for k in range(9) if math.isclose(round(step, k), step)), 9)
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


def rounded_out(low: float, high: float, *, most: int = 4) -> tuple[float, float]:
    """Ends of a scale that are round, and hold all from `low` to `high`.

    Example:
        >>> rounded_out(0.0, 0.31), rounded_out(3.0, 3.0)
        ((0.0, 0.4), (2.0, 4.0))
    """
    if not high > low:
        reach = abs(high) / 3 or 1.0
        low, high = low - reach, high + reach
    step = step_of(high - low, most=most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return round(first * step, 12), round(last * step, 12)


def main_range(values: Sequence[float], *, worse: Side) -> tuple[float, float]:
    """From the least to the greatest value, without a few that are far worse than the rest.

    A row that failed would squeeze all others; so fewer than half of the values, on the worse
    side, are left off the scale where the rest is far from them beside its own span.

    Args:
        values: One at least.
        worse: Which side that is.

    Example:
        >>> main_range([72.2, 73.8, 80.6, 9.9, 84.9], worse="low")
        (72.2, 84.9)
        >>> main_range([12.6, 12.5, 40.8], worse="low")
        (12.5, 40.8)
    """
    sign = 1.0 if worse == "low" else -1.0
    ordered = sorted(sign * value for value in values)  # the worst first
    for cut in range((len(ordered) - 1) // 2, 0, -1):
        rest = ordered[cut:]
        size = max(abs(rest[0]), abs(rest[-1]))
        if rest[0] - ordered[cut - 1] > max(_FAR * (rest[-1] - rest[0]), _SOME * size):
            ordered = rest
            break
    low, high = sorted((sign * ordered[0], sign * ordered[-1]))
    return low, high


def with_intervals(
    ends: tuple[float, float], intervals: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    """A range stretched to hold intervals, but not so far that they squeeze the values.

    Example:
        >>> with_intervals((70.0, 80.0), [(68.0, 75.0), (20.0, 140.0)])
        (66.0, 84.0)
    """
    low, high = ends
    reach = _BEYOND * (high - low) or 0.1 * abs(high) or 1.0
    lows = [max(first, low - reach) for first, _ in intervals]
    highs = [min(last, high + reach) for _, last in intervals]
    return min([low, *lows]), max([high, *highs])
