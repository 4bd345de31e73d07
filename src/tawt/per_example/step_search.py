"""The step size at which differences of a batch's losses are least wrong.

Too large a step bends or goes over kinks, too small a one drowns in rounding. The quotients at ε
and at 8ε would be the same if none of it mattered, so how far they are apart says how far off they
are (Richardson), and ε is moved to where that is least. Eight, not two: few losses have a kink
within a small ε, and the error that kinks make falls with its root alone, so a few examples show
them only at a much larger step than is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tawt.gradients import width

Sides = Callable[[float], tuple[Tensor, Tensor]]
"""Losses at θ + step · v and at θ − step · v."""

APART = 8.0
"""Between the step size that is used and the one it is compared with; and from try to try."""

_TRIES = 6
_NEAR = 0.01  # of the change that is wanted: one that drowns in rounding
_FAR = 0.1  # of the losses: a change that is no longer to be taken for a straight line
_FAIR = 5e-3  # of the quotients' norm: what losses with kinks allow in float32


@dataclass(frozen=True)
class ChosenStep:
    """The step size that was chosen."""

    step: float | None
    """None where losses do not move at all, of which nothing is to be learned."""
    error: float
    """Of the quotients by their norm; infinite where no two agreed in anything."""
    quotients: Tensor
    """At that step size."""


class StepSearch:
    """Tries step sizes on one batch, each beside an eighth of it.

    Args:
        sides: The batch's losses on both sides.
        precision: Of the numbers it computes with.
        most: The largest step size that may be tried.

    Example:
        >>> cubes = StepSearch(
        ...     lambda step: tuple((1 + side * torch.ones(1)) ** 3 for side in (step, -step)),
        ...     precision=torch.finfo(torch.float32).eps,
        ...     most=1.0,
        ... )
        >>> found = cubes(0.01)
        >>> round(float(found.quotients), 2), found.error < 2e-3
        (3.0, True)
    """

    def __init__(self, sides: Sides, *, precision: float, most: float) -> None:
        self._sides = sides
        self._precision = precision
        self._most = most
        self._wanted = wanted_change(precision)
        self._quotients: dict[float, Tensor] = {}
        self._errors: dict[float, float] = {}  # of pairs, by the larger step size
        self._slope = 0.0  # by which share of themselves losses change, by step size
        self._still: Tensor | None = None  # quotients of losses that do not move

    def __call__(self, first: float) -> ChosenStep:
        """The best that a few tries find, beginning with one size; that one if none is any good."""
        size = first
        for _ in range(_TRIES):
            following = self._after(size)
            if following is None:
                break
            size = following
        if self._still is not None:
            return ChosenStep(None, math.inf, self._still)
        least = min(self._errors.values(), default=math.inf)
        step = first
        if math.isfinite(least):
            step = min(self._errors, key=lambda tried: self._errors[tried]) / APART
        return ChosenStep(step, least, self._at(step))

    def _after(self, size: float) -> float | None:
        """Look at a size; where to look next, or None where there is no need."""
        if size not in self._quotients:
            above, below = self._sides(size)
            change = _change(above, below)
            if change == 0 and size >= self._most:
                self._still = quotient(above, below, size)
                return None
            if not self._errors and change < _NEAR * self._wanted and size < self._most:
                return min(self._most, size * self._wanted / max(change, self._precision))
            if change > _FAR:
                return self._nearer(size, change)
            self._quotients[size] = quotient(above, below, size)
            self._slope = self._slope or change / size
        self._errors[size] = self._error(size)
        if _is_enough(self._errors, good=5 * math.sqrt(self._precision)):
            return None
        return _next_size(self._errors)

    def _nearer(self, size: float, change: float) -> float:
        """Where to look after a size that is far too large."""
        self._errors[size] = math.inf
        if all(map(math.isinf, self._errors.values())):
            return size * max(self._wanted / change, APART**-2)
        return _next_size(self._errors)

    def _error(self, size: float) -> float:
        """Of the quotients at an eighth of the size, by those at the size itself."""
        fine = self._at(size / APART)
        if not fine.any():  # two quotients of zero agree, and say nothing
            return math.inf
        # Few examples may agree by luck, but no loss is known beyond its last digit.
        rounding = self._precision * APART / (self._slope * size) if self._slope else math.inf
        return max(_ratio(self._at(size) - fine, fine), rounding)

    def _at(self, step: float) -> Tensor:
        if step not in self._quotients:
            self._quotients[step] = quotient(*self._sides(step), step)
        return self._quotients[step]


def wanted_change(precision: float) -> float:
    """By which share of themselves losses should change: where bending and rounding are balanced.

    Example:
        >>> wanted_change(1e-6)
        0.01
    """
    return math.cbrt(precision)


def quotient(above: Tensor, below: Tensor, step: float) -> Tensor:
    """(ℓ(θ + step · v) − ℓ(θ − step · v)) / 2 step."""
    # No float64: the difference of two numbers that are close to each other is exact.
    return (above.to(width(above)) - below) / (2 * step)


def _change(above: Tensor, below: Tensor) -> float:
    """By which share of themselves losses change between the two."""
    high, low = above.double(), below.double()
    return _ratio(high - low, (high + low) / 2)


def _ratio(part: Tensor, whole: Tensor) -> float:
    """‖part‖ over ‖whole‖; infinite where that is no number.

    Example:
        >>> _ratio(torch.tensor([3.0, 4.0]), torch.ones(1)), _ratio(torch.ones(1), torch.zeros(1))
        (5.0, inf)
    """
    over, under = (float(torch.linalg.vector_norm(values.double())) for values in (part, whole))
    if over == 0:
        return 0.0
    return over / under if under > 0 and math.isfinite(over / under) else math.inf


def _is_enough(errors: Mapping[float, float], *, good: float) -> bool:
    """Whether the best is good, or fair and no longer an end of what was tried."""
    sizes = sorted(errors, key=lambda size: errors[size])
    least = errors[sizes[0]]
    inside = min(errors) < sizes[0] < max(errors)
    return least <= good or (inside and least <= _FAIR)


def _next_size(errors: Mapping[float, float]) -> float:
    """Beyond the best if it is an end, else between it and the better of its neighbours.

    Example:
        >>> _next_size({8.0: 0.3, 1.0: 0.2}), _next_size({8.0: 0.1, 1.0: 0.2})
        (0.125, 64.0)
        >>> _next_size({16.0: 0.3, 4.0: 0.1, 1.0: 0.2})
        2.0
    """
    sizes = sorted(errors)
    best = min(sizes, key=lambda size: (errors[size], size))
    if best == sizes[0]:
        return best / APART
    if best == sizes[-1]:
        return best * APART
    place = sizes.index(best)
    neighbour = min(sizes[place - 1], sizes[place + 1], key=lambda size: errors[size])
    return math.sqrt(best * neighbour)
