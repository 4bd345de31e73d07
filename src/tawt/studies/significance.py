"""Whether a difference between two ways of training is more than luck."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike


def paired_t_test(ours: ArrayLike, theirs: ArrayLike) -> float:
    """p-value of a two-sided paired t-test on per-example scores, as in the paper.

    Several seeds are averaged for each example first: the same test example seen five times is
    one example, not five.

    Args:
        ours: Scores of one way, shape `(examples,)` or `(seeds, examples)`.
        theirs: Of the other, same shape.

    Example:
        >>> paired_t_test([1, 1, 0, 1, 1, 1], [0, 1, 0, 0, 1, 0]) < 0.1
        True
        >>> paired_t_test([1, 0], [1, 0])
        1.0
    """
    differences = np.asarray(ours, dtype=float) - np.asarray(theirs, dtype=float)
    if differences.ndim == 2:
        differences = differences.mean(axis=0)
    if np.ptp(differences) == 0:  # no variance to test against: the sign test then
        return 1.0 if differences[0] == 0 else min(1.0, 2.0 ** (1 - len(differences)))
    return float(stats.ttest_1samp(differences, 0.0).pvalue)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's correction for making several comparisons at once.

    Example:
        >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
        {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    corrected: dict[str, float] = {}
    largest = 0.0
    ranked: Sequence[tuple[str, float]] = sorted(p_values.items(), key=lambda item: item[1])
    for rank, (name, value) in enumerate(ranked):
        largest = max(largest, min(1.0, value * (len(ranked) - rank)))
        corrected[name] = largest
    return {name: corrected[name] for name in p_values}
