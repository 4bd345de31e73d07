"""Whether a difference between two ways of training is more than luck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.extras import need

need("cli", by=__name__)

import numpy as np
import scipy  # whose parts are imported when they are first used

from tawt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

RESAMPLES = 10_000
_SEED = 0  # of the bootstrap: the same scores give the same table every time
_AT_ONCE = 1_000_000  # examples drawn at a time, about 16 MB whatever the number of examples


@dataclass(frozen=True)
class Bootstrap:
    """What a paired bootstrap says of a difference."""

    p_value: float
    interval: tuple[float, float]
    """95% percentile interval of the difference in mean score."""


@dataclass(frozen=True)
class Verdict:
    """What the tests say of one of a table's differences."""

    p_value: float
    """Of the paired t-test, Holm-corrected."""
    p_bootstrap: float
    """Of the paired bootstrap, Holm-corrected."""
    interval: tuple[float, float]
    """The paired bootstrap's, for this difference alone."""


def verdicts(pairs: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> dict[str, Verdict]:
    """Both tests of all differences of a table, corrected for their number.

    Args:
        pairs: By name, the per-example scores of a row and of the row it is compared with.

    Example:
        >>> found = verdicts({"better": ([1] * 20, [0] * 20), "alike": ([1, 0], [1, 0])})
        >>> found["better"].p_bootstrap < 0.001, found["alike"].p_bootstrap
        (True, 1.0)
    """
    bootstraps = {name: paired_bootstrap(*pair) for name, pair in pairs.items()}
    p_values = holm({name: paired_t_test(*pair) for name, pair in pairs.items()})
    p_bootstraps = holm({name: found.p_value for name, found in bootstraps.items()})
    return {
        name: Verdict(p_values[name], p_bootstraps[name], found.interval)
        for name, found in bootstraps.items()
    }


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
    differences = _differences(ours, theirs)
    if np.ptp(differences) == 0:  # no variance to test against: the sign test then
        return 1.0 if differences[0] == 0 else _all_agree(len(differences))
    return float(scipy.stats.ttest_1samp(differences, 0.0).pvalue)


def paired_bootstrap(ours: ArrayLike, theirs: ArrayLike) -> Bootstrap:
    """Two-sided paired bootstrap of the difference in mean score, over test examples.

    Examples are drawn with replacement, the same for both ways, `RESAMPLES` times. The p-value is
    twice the share of draws on the rarer side of no difference, where ties count for both sides
    and one draw is added, so that it is never 0. Nor is it below what a sign test could say with
    so few examples: a handful that agrees, drawn again, always agrees with itself.

    As the paper's t-test, this is a test on per-example scores, averaged over seeds. Where the
    metric is their mean, as accuracy is, the interval is the metric's; that of a corpus metric,
    such as F1 over all sentences, would be another.

    Args:
        ours: Scores of one way, shape `(examples,)` or `(seeds, examples)`.
        theirs: Of the other, same shape.

    Example:
        >>> found = paired_bootstrap([1, 1, 0, 1, 1, 1] * 10, [0, 1, 0, 0, 1, 0] * 10)
        >>> found.p_value < 0.001, [round(end, 1) for end in found.interval]
        (True, [0.4, 0.6])
        >>> paired_bootstrap([1, 0], [1, 0])
        Bootstrap(p_value=1.0, interval=(0.0, 0.0))
    """
    differences = _differences(ours, theirs)
    means = _resampled_means(differences)
    slack = 1e-9 * np.abs(differences).max()  # no difference is none, however it was rounded
    against = min(int((means <= slack).sum()), int((means >= -slack).sum()))
    p_value = min(1.0, 2 * (1 + against) / (1 + RESAMPLES))
    low, high = np.quantile(means, (0.025, 0.975))
    return Bootstrap(max(p_value, _all_agree(len(differences))), (float(low), float(high)))


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


def _differences(ours: ArrayLike, theirs: ArrayLike) -> NDArray[np.float64]:
    """Of each example, averaged over seeds; shape `(examples,)`."""
    first, second = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if first.shape != second.shape or first.ndim not in (1, 2) or first.size == 0:
        raise DataError(
            "A paired test needs a score of the same examples from both ways; got shapes "
            f"{first.shape} and {second.shape}."
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise DataError("A paired test needs finite scores; got some that are not.")
    differences: NDArray[np.float64] = np.atleast_2d(first - second).mean(axis=0)
    rounding = 1e-12 * max(np.abs(first).max(), np.abs(second).max())
    return np.where(np.abs(differences) > rounding, differences, 0.0)


def _resampled_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    generator = np.random.default_rng(_SEED)
    size, means = len(values), np.empty(RESAMPLES)
    rows = max(1, _AT_ONCE // size)
    for start in range(0, RESAMPLES, rows):
        part = means[start : start + rows]
        part[:] = values[generator.integers(size, size=(len(part), size))].mean(axis=1)
    return means


def _all_agree(examples: int) -> float:
    """p-value of a sign test on examples that all differ the same way."""
    return float(min(1.0, 2.0 ** (1 - examples)))


def interval(values: Sequence[float], *, level: float = 0.95) -> tuple[float, float] | None:
    """Of the mean, by Student's t; none for fewer than two values.

    Example:
        >>> [round(end, 3) for end in interval([1.0, 2.0, 3.0])]
        [-0.484, 4.484]
    """
    if len(values) < 2:
        return None
    mean, error = float(np.mean(values)), float(np.std(values, ddof=1)) / len(values) ** 0.5
    reach = float(scipy.stats.t.ppf((1 + level) / 2, len(values) - 1)) * error
    return mean - reach, mean + reach
