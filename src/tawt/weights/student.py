"""Student's t, where a standard error is known from few differences."""

from __future__ import annotations

import math


def normal_score(value: float, freedom: float) -> float:
    """The point of a standard normal below which as much lies as below `value` of Student's t.

    Wallace's approximation (1959); probabilities are right to 0.01.

    Args:
        value: In units of its standard error.
        freedom: Degrees of freedom of that error.

    Example:
        >>> round(normal_score(2.0, 3), 2), round(normal_score(2.0, 1e9), 2)
        (1.48, 2.0)
    """
    size = math.sqrt(freedom * math.log1p(value * value / freedom))
    return math.copysign(size * (8 * freedom + 1) / (8 * freedom + 3), value)


def probability_below(value: float, freedom: float) -> float:
    """How much of Student's t lies below `value`.

    Example:
        >>> round(probability_below(0.0, 5), 2), round(probability_below(2.0, 5), 2)
        (0.5, 0.95)
    """
    return 0.5 * (1 + math.erf(normal_score(value, freedom) / math.sqrt(2)))
