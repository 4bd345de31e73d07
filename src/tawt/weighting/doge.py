"""Weights that follow inner products of gradients: DoGE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt import simplex
from tawt.curvature import Identity
from tawt.errors import ConfigError, is_number
from tawt.hypergradient import CurvatureWeighted, Hypergradient, hypergradient
from tawt.weighting.held_target import HeldTarget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from tawt.hypergradient import LossOf
    from tawt.ranks import Ranks
    from tawt.weighting.rule import TargetShare
    from tawt.weights import Initial


class DoGE(HeldTarget):
    """Raise the weights of sources whose gradient has a large inner product with the target's.

        W_t = ⟨∇L_t, ∇L_target⟩
        α ← α exp(η W / μ) / Σ α exp(η W / μ)

    This is the update of DoGE (Fan et al. 2024, "Domain Reweighting with Generalization
    Estimation") for a target that is not among the sources. Unlike a cosine, W_t grows with the
    gradients, so weights move fast early in training and slowly later. What differs: η is a
    constant, where the paper takes the learning rate of the step; the paper updates at every step,
    so multiply η by the steps between two updates; and the authors' program divides W by the mean
    norm of the sources' gradients and clips it to 0 … 5, which the equation does not. `average()`
    are the weights that the paper hands to a larger model.

    Args:
        sources: Names of the source tasks, in a list.
        target: Name of the target, or several targets with the share each has of what is wanted.
        target_share: The share the target is held at in joint training, or `None`.
        initial: "uniform" as in the paper, "proportional" (needs `sizes`), or a mapping.
        sizes: Number of training examples of each task that is weighed.
        step_size: η; by default the largest learning rate of the paper's experiments.
        mu: μ, how much weights are held back; by default as in the authors' program.

    Example:
        >>> import torch
        >>> x = torch.zeros(2, requires_grad=True)
        >>> ways = {"near": [2.0, 0.0], "far": [0.0, 3.0], "goal": [1.0, 0.0]}
        >>> weights = DoGE(
        ...     sources=["near", "far"], target="goal", target_share=None, step_size=0.05
        ... )
        >>> update = weights.update([x], loss_of=lambda task: x @ torch.tensor(ways[task]))
        >>> update.alignments, weights
        ({'near': 2.0, 'far': 0.0}, DoGE(near=0.881, far=0.119))
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        target: str | Mapping[str, float],
        target_share: TargetShare | None,
        initial: Initial = "uniform",
        sizes: Mapping[str, int] | None = None,
        step_size: float = 5e-4,
        mu: float = 0.05,
    ) -> None:
        super().__init__(
            sources=sources, target=target, target_share=target_share, initial=initial, sizes=sizes
        )
        for name, value in (("step_size` (η)", step_size), ("mu` (μ)", mu)):
            if not (is_number(value) and value > 0):
                raise ConfigError(f"`{name} must be positive and finite; got {value!r}.")
        self.step_size = float(step_size)
        self.mu = float(mu)

    @property
    def rule(self) -> object:
        """η and μ."""
        return self.step_size, self.mu

    def _measured(
        self, parameters: Sequence[Tensor], *, loss_of: LossOf, ranks: Ranks
    ) -> Hypergradient:
        return hypergradient(
            parameters,
            weights=self.weights,
            targets=self.target,
            loss_of=loss_of,
            alignment=CurvatureWeighted(Identity()),
            ranks=ranks,
        )

    def _moved(self, logs: Tensor, measured: Hypergradient) -> Tensor:
        gradient = measured.values[: len(logs)]
        return simplex.mirror_step(logs, gradient, step_size=self.step_size / self.mu)
