"""Sources that count only while their gradient agrees with the target's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from tawt.hypergradient import Cosine, Hypergradient, hypergradient
from tawt.weighting.held_target import HeldTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from tawt.hypergradient import LossOf
    from tawt.ranks import Ranks
    from tawt.weighting.rule import TargetShare


class GradientSimilarity(HeldTarget):
    """Train on those sources alone whose cosine with the target is positive, all of them alike.

    This is the gate of Du et al. (2018), "Adapting auxiliary losses using gradient similarity",
    which leaves a source's gradient out of a step where its cosine with the target's is negative.
    What differs: a source is measured at updates, and counts or does not until the next one; and
    as weights sum to one, those that count share what the others leave. Where none agrees, all
    stay as they are.

    Args:
        sources: Names of the source tasks, in a list.
        target: Name of the target.
        target_share: The share the target is held at in joint training, or `None`.

    Example:
        >>> x = torch.zeros(2, requires_grad=True)
        >>> ways = {"near": [2.0, 0.0], "far": [-1.0, 3.0], "goal": [1.0, 0.0]}
        >>> weights = GradientSimilarity(sources=["near", "far"], target="goal", target_share=None)
        >>> update = weights.update([x], loss_of=lambda task: x @ torch.tensor(ways[task]))
        >>> weights
        GradientSimilarity(near=1.000, far=0.000)
    """

    def __init__(
        self, *, sources: Sequence[str], target: str, target_share: TargetShare | None
    ) -> None:
        super().__init__(sources=sources, target=target, target_share=target_share)

    @property
    def rule(self) -> object:
        """There is nothing to set."""
        return "cosine above zero"

    def _measured(
        self, parameters: Sequence[Tensor], *, loss_of: LossOf, ranks: Ranks
    ) -> Hypergradient:
        return hypergradient(
            parameters,
            weights=self.weights,
            targets=self.target,
            loss_of=loss_of,
            alignment=Cosine(),
            ranks=ranks,
        )

    def _moved(self, logs: Tensor, measured: Hypergradient) -> Tensor:
        agrees = measured.alignments[: len(logs)] > 0
        if not bool(agrees.any()):
            return logs
        count = float(agrees.sum())
        return torch.full_like(logs, -math.inf).masked_fill(agrees, -math.log(count))
