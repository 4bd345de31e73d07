"""How well weights are in the order of what they are put on is worth."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def area(weights: Mapping[str, float], worth: Mapping[str, float]) -> float | None:
    """How often the better of two sources has the larger weight; equal weights count a half.

    Where worth is one or nothing it is the area under the curve of useful against useless sources.

    Args:
        weights: Of the sources, and of others that do not matter.
        worth: Of every source.

    Example:
        >>> area({"near": 0.6, "far": 0.2, "noise": 0.2}, {"near": 1.0, "far": 1.0, "noise": 0.0})
        0.75
    """
    if not worth.keys() <= weights.keys():
        return None
    pairs = [
        (weights[first] - weights[second]) * (worth[first] - worth[second])
        for first, second in combinations(worth, 2)
        if worth[first] != worth[second]
    ]
    return sum(0.5 if pair == 0 else float(pair > 0) for pair in pairs) / len(pairs)
