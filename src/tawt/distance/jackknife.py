"""How much single held-out examples have to say about a score, whatever the score is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_GROUPS = 200


def pseudo_values(
    score: Callable[[Sequence[Any], Sequence[Any]], float | None],
    gold: Sequence[Any],
    predicted: Sequence[Any],
) -> list[float]:
    """One value for each example, whose mean is the score and whose spread is that of its estimate.

    For a score that is a mean over examples they are the examples' scores; for any other (F1, a
    correlation) the jackknife's: G S − (G − 1) S without the example. Many examples are taken in
    groups.

    Args:
        score: From gold and predicted answers to a number; none, or no number, where there is none.
        gold: Answers.
        predicted: Answers.

    Example:
        >>> right = lambda gold, predicted: sum(map(int.__eq__, gold, predicted)) / len(gold)
        >>> [round(value, 6) for value in pseudo_values(right, [1, 2, 3], [1, 2, 0])]
        [1.0, 1.0, 0.0]
    """
    groups = np.array_split(np.arange(len(gold)), min(_GROUPS, len(gold)))
    whole = score(gold, predicted)
    if whole is None or not math.isfinite(whole) or len(groups) < 2:
        return [whole if whole is not None else math.nan]
    left_out = []
    for group in groups:
        kept = np.setdiff1d(np.arange(len(gold)), group)
        found = score([gold[k] for k in kept], [predicted[k] for k in kept])
        left_out.append(whole if found is None or not math.isfinite(found) else found)
    return [len(groups) * whole - (len(groups) - 1) * found for found in left_out]
