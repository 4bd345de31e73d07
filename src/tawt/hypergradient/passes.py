"""Passes of each task: of one process, of several, or of a model that several have cut up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import torch
from torch import Tensor

from tawt.errors import TrainingError
from tawt.given import counted_loss
from tawt.gradients import Gradient, dot, gradient_of, squared_norm
from tawt.hypergradient.tally import Product, Settled, Tally, no_examples
from tawt.ranks import Buckets, Calls, Ranks, Shards

if TYPE_CHECKING:
    from tawt.hypergradient.alignments import Alignment

LossOf = Callable[[str], Tensor | tuple[Tensor, float]]
"""A task's scalar loss on a fresh batch of its examples, graph attached; or a pair of it and how
many examples it is the mean of, by which several processes are averaged."""


@runtime_checkable
class Passes(Protocol):
    """Forward and backward passes of each task, on a fresh batch each.

    A `loss_of` that is one too is asked for gradients instead of losses: it may know a faster way
    to them than autograd's. (In one process; several ask it for losses.)
    """

    def gradient(self, task: str) -> tuple[Tensor, Gradient]:
        """Loss and gradient; the gradient may be overwritten by the next call."""
        ...

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        """Loss, ⟨direction, gradient⟩ and ‖gradient‖², the gradient itself dropped."""
        ...


@runtime_checkable
class JointPasses(Passes, Protocol):
    """Passes of several processes: numbers are parts of numbers, until they are settled."""

    def settled(
        self,
        shared: tuple[Tensor, Tensor],
        products: Sequence[Product],
        losses: Sequence[Tensor],
        *,
        targets: Sequence[int],
    ) -> Settled:
        """The numbers of all processes together; see `Tally.settled`."""
        ...


def passes_for(
    parameters: Sequence[Tensor],
    *,
    loss_of: LossOf,
    alignment: Alignment,
    ranks: Ranks,
    calls: Calls,
) -> Passes:
    """The passes of an update.

    Args:
        parameters: Of the representation.
        loss_of: As for `hypergradient`.
        alignment: What is asked for.
        ranks: The processes that measure together.
        calls: Where wrapped models that `loss_of` calls are noted.
    """
    shards = Shards.of(parameters, processes=ranks.size)
    if shards is not None:
        if alignment.curvature.needs_hessian:
            raise TrainingError(
                f"{type(alignment.curvature).__name__} cannot be computed for a model that is "
                "sharded by `fully_shard`; use Cosine, or the curvature Identity."
            )
        return ShardedPasses(shards, loss_of, calls, Tally(ranks))
    if ranks.several:
        return TogetherPasses(parameters, loss_of, calls, Tally(ranks), alignment.needs_norms)
    return loss_of if isinstance(loss_of, Passes) else _Alone(parameters, loss_of, calls)


@dataclass(frozen=True)
class _Alone:
    """The obvious way."""

    parameters: Sequence[Tensor]
    loss_of: LossOf
    calls: Calls

    def gradient(self, task: str) -> tuple[Tensor, Gradient]:
        loss, count = counted_loss(self.loss_of(task), task=task)
        _check_unsharded(self.calls)
        if count == 0:
            raise no_examples(task)
        return loss.detach(), gradient_of(loss, self.parameters)

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        loss, gradient = self.gradient(task)
        return loss, dot(direction, gradient), squared_norm(gradient)


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
            _check_unsharded(self.calls)
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
        loss, count = ranks.attempt(lambda: counted_loss(self.loss_of(task), task=task), nothing)
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


def _check_unsharded(calls: Calls) -> None:
    if calls.sharded:
        raise TrainingError(
            "The loss goes through a model that is sharded by `fully_shard`, but the "
            "representation's parameters are not those that it manages; pass the sharded module, "
            "and name the whole model in `touching`."
        )
