"""Passes of a model of which each process has a part (FSDP2), on examples of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.errors import TrainingError
from tawt.given import check_differentiable, counted_loss
from tawt.gradients import Gradient, dot, squared_norm
from tawt.hypergradient.tally import Product, Settled, Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.hypergradient.passes import LossOf
    from tawt.ranks import Calls, Shards


@dataclass(frozen=True)
class ShardedPasses:
    """Passes of a model of which each process has a part (FSDP2), on examples of its own.

    The model itself adds gradients up in its backward pass, if the loss is scaled by the examples
    of this process; numbers are then parts by parameters.
    """

    shards: Shards
    loss_of: LossOf
    calls: Calls
    tally: Tally

    def gradient(self, task: str) -> tuple[Tensor, Gradient]:
        """This process's part of the loss, and its part of the gradient of all processes."""
        ranks, tally = self.tally.ranks, self.tally
        nothing: tuple[Tensor, float | None] = torch.zeros(()), 0.0
        loss, count = ranks.attempt(lambda: self._own(task), nothing)
        own = tally.add(task, count, reached=int(loss.requires_grad))
        here = float(loss.requires_grad)
        # Before the backward pass, for which all processes wait.
        [graphs], [total] = tally.exchanged(
            torch.tensor([here], dtype=torch.float64), [], since=len(tally.counts) - 1
        )
        if int(graphs) not in (0, ranks.size):
            raise TrainingError(
                f"The loss of {task!r} has no graph in some processes; in a model that is sharded "
                "every process must run it, those without examples on any batch, returning "
                "`(loss, 0)`."
            )
        if not here:
            return loss.detach() * own, [None] * len(self.shards.parameters)
        scaled = loss * (own * ranks.size / float(total))
        return loss.detach() * own, self.shards.gradient(scaled, self.calls)

    def _own(self, task: str) -> tuple[Tensor, float | None]:
        loss, count = counted_loss(self.loss_of(task), task=task)
        if loss.requires_grad:
            check_differentiable(loss)
        return loss, count

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        """This process's parts of loss, inner product and squared norm."""
        loss, gradient = self.gradient(task)
        return loss, dot(direction, gradient), squared_norm(gradient)

    def settled(
        self,
        shared: tuple[Tensor, Tensor],
        products: Sequence[Product],
        losses: Sequence[Tensor],
        *,
        targets: Sequence[int],
    ) -> Settled:
        """The numbers of all processes; of several with the same part, each has its share of it."""
        copies = self.shards.copies
        shared = shared[0] / copies, shared[1] / copies
        parts = [Product(p.inner / copies, p.squared / copies, p.number) for p in products]
        return self.tally.settled(shared, parts, losses, divides=False, norms=True, targets=targets)
