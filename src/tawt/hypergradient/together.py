"""Passes of several processes that each have the whole model, on examples of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.given import counted_loss
from tawt.gradients import Gradient, dot, gradient_of, squared_norm
from tawt.hypergradient.passes import LossOf, check_unsharded
from tawt.hypergradient.tally import Product, Settled, Tally
from tawt.ranks import Buckets, Calls

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class TogetherPasses:
    """Passes of several processes that each have the whole model, on examples of their own.

        ∇L = Σ_r n_r ∇L_r / Σ_r n_r

    A gradient is added up where it is needed itself: the direction, and where norms are asked
    for, since the norm of a sum is no sum of norms. Otherwise only numbers travel.
    """

    parameters: Sequence[Tensor]
    loss_of: LossOf
    calls: Calls
    tally: Tally
    needs_norms: bool

    @cached_property
    def buckets(self) -> Buckets:
        """How gradients travel."""
        return Buckets(self.parameters, self.tally.ranks)

    def gradient(self, task: str) -> tuple[Tensor, Gradient]:
        """This process's part of the loss, and the gradient of all processes."""
        loss, gradient, count = self._own(task)
        return loss * count, self.buckets.mean(gradient, count)

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        """This process's parts of loss, inner product and squared norm."""
        loss, gradient, count = self._own(task)
        if self.needs_norms:
            return loss * count, *self.buckets.along(gradient, direction, count)
        return loss * count, dot(direction, gradient) * count, squared_norm(gradient) * count

    def _own(self, task: str) -> tuple[Tensor, Gradient, float]:
        """Loss, gradient and number of examples here; zeros where there is no example."""
        nothing: Gradient = [None] * len(self.parameters)

        def measured() -> tuple[Tensor, Gradient, float | None]:
            loss, count = counted_loss(self.loss_of(task), task=task)
            check_unsharded(self.calls)
            if count == 0:  # its mean may be NaN
                return torch.zeros_like(loss).detach(), nothing, count
            return loss.detach(), gradient_of(loss, self.parameters), count

        device = self.parameters[0].device
        failed: tuple[Tensor, Gradient, float | None] = torch.zeros((), device=device), nothing, 0
        loss, gradient, count = self.tally.ranks.attempt(measured, failed)
        reached = sum(entry is not None for entry in gradient)
        return loss, gradient, self.tally.add(task, count, reached=reached)

    def settled(
        self,
        shared: tuple[Tensor, Tensor],
        products: Sequence[Product],
        losses: Sequence[Tensor],
        *,
        targets: Sequence[int],
    ) -> Settled:
        """The numbers of all processes; those that all of them have are taken from the first."""
        if self.tally.ranks.rank > 0:
            shared = torch.zeros_like(shared[0]), torch.zeros_like(shared[1])
            products = [
                Product(torch.zeros_like(p.inner), torch.zeros_like(p.squared), None)
                if p.number is None
                else p
                for p in products
            ]
        return self.tally.settled(
            shared, products, losses, divides=True, norms=self.needs_norms, targets=targets
        )
