"""Weights that do not move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.given import names_of
from tawt.weighting.base import Weighting
from tawt.weights import History, Initial, SourceWeights, WeightUpdate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torch import Tensor, nn
    from torch.distributed import ProcessGroup

    from tawt.hypergradient import LossesOf, LossOf


class Fixed(Weighting):
    """Plain multi-task training: weights given at the start and held.

    Args:
        tasks: Those that are trained on; in joint training the target is one of them.
        initial: "uniform", "proportional" (needs `sizes`), or a mapping, such as the final
            weights of a target-aware run.
        sizes: Number of training examples of each task.

    Example:
        >>> import torch
        >>> weights = Fixed(["pos", "chunk"], initial={"pos": 0.75, "chunk": 0.25})
        >>> weights.combine({"pos": torch.tensor(2.0), "chunk": torch.tensor(4.0)})
        tensor(2.5000)
        >>> weights
        Fixed(pos=0.750, chunk=0.250)
    """

    def __init__(
        self,
        tasks: Sequence[str],
        *,
        initial: Initial = "uniform",
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        names = names_of(tasks, what="`tasks`")
        self.weights = SourceWeights.initial(initial, names, sizes=sizes)
        self.history = History()
        self.target = {}

    def update(
        self,
        representation: nn.Module | Iterable[Tensor] | None = None,
        *,
        loss_of: LossOf | None = None,
        losses_of: LossesOf | None = None,
        step: int | None = None,
        touching: Iterable[nn.Module] = (),
        group: ProcessGroup | None = None,
        target_half: int | None = None,
    ) -> WeightUpdate | None:
        """Do nothing: no batch is drawn and no gradient is taken."""
        return None
