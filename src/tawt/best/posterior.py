"""What can be believed of gains that were measured on a few examples, after choosing among many.

The best of many candidates looks better than it is. Here all gains are estimated together: those of
candidates that use sources are drawn around a common mean, by as much as they seem to differ at
all. What stands out by chance is drawn back, and what all of them show is believed sooner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tawt.streams import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_DRAWS = 20_000
_COMMON = 1.0  # the common mean may well be as large as the typical size of an example's gain
_SPREADS = (0.05, 0.1, 0.2, 0.4, 0.8)  # between candidates, in the same unit
_TRAINING = 0.05  # by how much a mean gain differs from one seed of training to another, likewise


@dataclass(frozen=True)
class Posterior:
    """Draws of the mean gains of all candidates together, shape `(draws, candidates)`."""

    draws: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """Of each candidate."""
        means: NDArray[np.float64] = self.draws.mean(axis=0)
        return means

    def worse(self, candidate: int, than: int) -> float:
        """The probability that one candidate is worse than another.

        Args:
            candidate: By its place.
            than: The other.
        """
        return float((self.draws[:, candidate] < self.draws[:, than]).mean())

    def gain(self, candidate: int, over: int, *, level: float = 0.9) -> tuple[float, float, float]:
        """By how much one candidate is better than another: the mean, and an interval.

        Args:
            candidate: By its place.
            over: The other.
            level: Of the interval.
        """
        gains = self.draws[:, candidate] - self.draws[:, over]
        low, high = np.quantile(gains, [(1 - level) / 2, (1 + level) / 2])
        return float(gains.mean()), float(low), float(high)


def posterior(
    gains: NDArray[np.float64], uses_sources: Sequence[bool], *, parts: int, seed: int = 0
) -> Posterior:
    """What gains over the first candidate tell of all.

    Args:
        gains: Of each candidate on each example, shape `(candidates, examples)`; not a number where
            a candidate was not tried on an example. The first are zeros.
        uses_sources: Of each candidate; the others are the target alone, trained in other ways.
        parts: That the examples were cut into for cross-fitting.
        seed: Of the draws.

    Example:
        >>> gains = np.vstack([np.zeros(40), np.tile([0.5, 1.5], 20)])
        >>> found = posterior(gains, [False, True], parts=4)
        >>> found.worse(1, than=0) < 0.001
        True
    """
    scale = _typical(gains)
    means, covariance = with_errors(gains / scale, parts=parts)
    free = np.arange(1, len(means))  # the first is what all are compared with
    sources = np.asarray(uses_sources, dtype=float)[free]
    common = _COMMON**2 * np.outer(sources, sources)
    observed = means[free]
    noise = covariance[np.ix_(free, free)] + _TRAINING**2 * np.eye(len(free))
    draw = stream(seed, "posterior")
    fits = [_fit(observed, noise, common + spread**2 * np.eye(len(free))) for spread in _SPREADS]
    evidence = np.array([each.evidence for each in fits])
    shares = np.exp(evidence - evidence.max())
    counts = draw.multinomial(_DRAWS, shares / shares.sum())
    drawn = [
        draw.multivariate_normal(each.mean, each.covariance, size=count, method="eigh")
        for each, count in zip(fits, counts, strict=True)
        if count and len(free)
    ]
    found = np.zeros((_DRAWS, len(means)))
    if drawn:
        found[:, free] = np.vstack(drawn) * scale
    return Posterior(found)


@dataclass(frozen=True)
class _Fit:
    """Gains, given how far candidates differ."""

    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]
    evidence: float
    """The logarithm of how probable the observed means are."""


def _fit(
    observed: NDArray[np.float64], noise: NDArray[np.float64], prior: NDArray[np.float64]
) -> _Fit:
    """The normal posterior of gains whose prior has no mean."""
    total = prior + noise
    shrink = np.linalg.solve(total, prior).T
    _, size = np.linalg.slogdet(total)
    fit = float(observed @ np.linalg.solve(total, observed))
    return _Fit(shrink @ observed, prior - shrink @ prior, -0.5 * (float(size) + fit))


def with_errors(
    gains: NDArray[np.float64], *, parts: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean gains, and the covariance of their errors.

    Models of different parts share most of their training examples, so their errors are not
    independent: the variance is that of Nadeau and Bengio (2003).

    Args:
        gains: Of each candidate on each example; not a number where it was not tried.
        parts: That the examples were cut into.
    """
    known = np.isfinite(gains)
    counts = known.sum(axis=1)
    means = np.where(known, gains, 0.0).sum(axis=1) / counts
    pulls = np.where(known, gains - means[:, None], 0.0) / np.sqrt(counts * (counts - 1.0))[:, None]
    covariance = pulls @ pulls.T
    return means, covariance * (1.0 + parts / (parts - 1.0))


def _typical(gains: NDArray[np.float64]) -> float:
    """The size of an example's gain, over all that differ from the first."""
    sizes = np.nanstd(gains[1:], axis=1) if len(gains) > 1 else np.ones(1)
    return float(np.median(sizes)) or 1.0
