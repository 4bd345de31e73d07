"""What a source is worth to the target, in held-out scores, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import scipy  # whose parts are imported when they are first used

from tawt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

Verdict = Literal["helps", "neutral", "hurts"]
Recommendation = Literal["use", "skip", "not enough evidence"]
MARGIN = 0.01
"""A gain that nobody would train longer for."""


@dataclass(frozen=True)
class Gain:
    """The target's score with a source, over its score without, seed by seed.

    Example:
        >>> gain = Gain([0.05, 0.06, 0.07], (0.03, 0.09))
        >>> gain.verdict, gain.recommendation
        ('helps', 'use')
        >>> Gain([0.05, -0.03], (-0.4, 0.5)).recommendation
        'not enough evidence'
        >>> Gain([0.001, -0.001], (-0.004, 0.004)).recommendation
        'skip'
    """

    values: list[float]
    """Of each seed."""
    interval: tuple[float, float]
    """95%, for other seeds and other held-out examples."""

    @property
    def mean(self) -> float:
        """Over seeds."""
        return float(np.mean(self.values))

    @property
    def verdict(self) -> Verdict:
        """What the interval lets one say."""
        low, high = self.interval
        if low > 0:
            return "helps"
        return "hurts" if high < 0 else "neutral"

    @property
    def recommendation(self) -> Recommendation:
        """Neutral sources are not worth their training time, once that is sure.

        One seed is never enough.
        """
        low, high = self.interval
        if len(self.values) < 2:  # another seed may say otherwise
            return "not enough evidence"
        if self.verdict == "helps":
            return "use"
        sure = self.verdict == "hurts" or (low >= -MARGIN and high <= MARGIN)
        return "skip" if sure else "not enough evidence"


def gain_of(
    scores: Sequence[float],
    without: Sequence[float],
    examples: ArrayLike,
    examples_without: ArrayLike,
) -> Gain:
    """A gain and its interval, from scores with a source and without.

    Two things would be otherwise another time: the seed, and the held-out examples. Their
    variances add up, and the interval has the degrees of freedom that Welch and Satterthwaite
    give their sum. Of one seed, only the examples can be told. Examples that all agree are still
    only so many: the mean over n of them is taken to be uncertain by 1/(n + 1) at least.

    Args:
        scores: With the source, of each seed.
        without: Without it.
        examples: With the source, what single held-out examples (or groups of them) say of each
            seed's score: `pseudo_values`, shape `(seeds, examples)`.
        examples_without: Without it.

    Example:
        >>> found = gain_of([0.9, 0.8], [0.5, 0.5], [[1, 1, 1], [1, 1, 0]], [[0, 1, 0], [0, 1, 0]])
        >>> round(found.mean, 2), found.verdict
        (0.35, 'neutral')
    """
    ours, theirs = np.asarray(examples, dtype=float), np.asarray(examples_without, dtype=float)
    if ours.shape != theirs.shape or ours.ndim != 2 or len(ours) != len(scores):
        raise DataError(
            "A gain needs scores of the same held-out examples, with the source and without; got "
            f"shapes {ours.shape} and {theirs.shape}."
        )
    gains = [a - b for a, b in zip(scores, without, strict=True)]
    parts = [_mean_variance((ours - theirs).mean(0)), _mean_variance(np.array(gains))]
    total, examples_seen = sum(variance for variance, _ in parts), ours.shape[1]
    least = float(scipy.stats.t.ppf(0.975, max(1, examples_seen - 1))) / (1 + examples_seen)
    reach = least
    if total > 0:
        freedom = total**2 / sum(variance**2 / left for variance, left in parts if left)
        reach = max(least, float(scipy.stats.t.ppf(0.975, freedom)) * total**0.5)
    mean = float(np.mean(gains))
    return Gain(gains, (mean - reach, mean + reach))


def _mean_variance(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, int]:
    """Variance of the mean, and its degrees of freedom."""
    if len(values) < 2:
        return 0.0, 0
    return float(values.var(ddof=1)) / len(values), len(values) - 1
