"""The evidence of targets under a Bayesian linear model, and its largest value.

Targets y are a linear function of the features F plus noise, y = F w + e, with w ~ N(0, I/α) and
e ~ N(0, I/β). With the weights integrated out, y ~ N(0, I/β + F Fᵀ/α), whose logarithm is the
evidence. With t = α/β, singular values s of F, and U its left singular vectors,

    log p = n/2 log(β/2π) − 1/2 Σ log(1 + s²/t) − β/2 (Σ t/(t+s²) (uᵀy)² + what F cannot reach)

The best β for a t is n over the bracket, and the evidence is left to be maximised over t alone.

The papers iterate α ← d/|m|², β ← (n − d)/|y − F m|² with d = Σ s²/(t+s²) and m the mean of w.
These steps always go where the evidence rises, but may be slow, or end at the lower of two maxima.
Here the highest point of a grid over t is taken, and the fixed point beside it is found by halving
an interval in the direction of those steps: it converges in a known number of halvings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

NOISE = 1e-8
"""Smallest variance of the noise, 1/β, as a share of the target's mean square."""
_GRID = 0.5  # between grid points of log t; each term of the evidence takes a few units to rise
_HALVINGS = 40  # of an interval of log t of length 1; the evidence is flat to rounding long before
_FAR = 1e10  # t at which features count for nothing, in units of the largest s² and of n


@dataclass(frozen=True)
class Targets:
    """All that the evidence of some targets depends on, each scaled to a mean square of one."""

    examples: int
    """n."""
    spectrum: Tensor
    """s², in descending order, shape `(rank,)`."""
    reached: Tensor
    """(uᵀy)², shape `(targets, rank)`."""
    sizes: Tensor
    """Root mean square of each target before it was scaled, shape `(targets,)`."""

    def evidence(self, ratio: Tensor, precision: Tensor) -> Tensor:
        """Of each target as it was before scaling, per example, shape `(targets,)`.

        Args:
            ratio: t, shape `(targets,)`.
            precision: β of the scaled targets, shape `(targets,)`.
        """
        volume = torch.log1p(self.spectrum / ratio[:, None]).sum(dim=1)
        spread = (volume + precision * self._misfit(ratio)) / self.examples
        return (precision.log() - math.log(2 * math.pi) - spread) / 2 - self.sizes.log()

    def best_precision(self, ratio: Tensor) -> Tensor:
        """β of the largest evidence at each target's t."""
        return (self.examples / self._misfit(ratio)).clamp(max=1 / NOISE)

    def rises(self, ratio: Tensor) -> Tensor:
        """Whether the evidence grows with t, which is where the papers' step goes: d > α|m|²."""
        kept = self.spectrum / (self.spectrum + ratio[:, None])
        bent = (self.reached * kept * (1 - kept)).sum(dim=1)
        return kept.sum(dim=1) > self.best_precision(ratio) * bent

    def _misfit(self, ratio: Tensor) -> Tensor:
        shrunk = ratio[:, None] / (self.spectrum + ratio[:, None])
        rest = (self.examples - self.reached.sum(dim=1)).clamp(min=0)
        return (self.reached * shrunk).sum(dim=1) + rest


def largest_evidence(targets: Targets) -> Tensor:
    """Of each target, per example, over α and β; shape `(targets,)`.

    Example:
        >>> one = torch.ones(1, dtype=torch.float64)
        >>> alone = Targets(4, spectrum=one[:0], reached=one[:0, None].T, sizes=one)
        >>> largest_evidence(alone)  # without features, the density of N(0, 1) at 1
        tensor([-1.4189], dtype=torch.float64)
    """

    def evidence(log_ratio: Tensor) -> Tensor:
        return targets.evidence(log_ratio.exp(), targets.best_precision(log_ratio.exp()))

    grid = _grid(targets)
    values = torch.stack([evidence(point.expand(len(targets.sizes))) for point in grid])
    highest, best = values.max(dim=0)
    low, high = grid[best] - _GRID, grid[best] + _GRID
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        rises = targets.rises(middle.exp())
        low, high = torch.where(rises, middle, low), torch.where(rises, high, middle)
    return torch.maximum(evidence((low + high) / 2), highest)


def _grid(targets: Targets) -> Tensor:
    """Of log t, from where the evidence rises for sure to where features count for nothing."""
    largest = smallest = 1.0
    if len(targets.spectrum):
        largest, smallest = float(targets.spectrum[0]), float(targets.spectrum[-1])
    start = math.log(smallest * NOISE / (4 * targets.examples))
    end = math.log(largest * _FAR * targets.examples)
    return torch.arange(start, end + _GRID, _GRID).to(targets.sizes)
