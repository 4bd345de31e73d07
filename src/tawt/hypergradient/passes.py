"""Forward and backward passes of each task: what is asked of them, and those of one process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from torch import Tensor

from tawt.errors import TrainingError
from tawt.given import counted_loss
from tawt.gradients import Gradient, dot, gradient_of, squared_norm
from tawt.hypergradient.tally import Product, Settled, no_examples

if TYPE_CHECKING:
    from tawt.ranks import Calls

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


@dataclass(frozen=True)
class AlonePasses:
    """Those of one process, the obvious way."""

    parameters: Sequence[Tensor]
    loss_of: LossOf
    calls: Calls

    def gradient(self, task: str) -> tuple[Tensor, Gradient]:
        """Loss and gradient."""
        loss, count = counted_loss(self.loss_of(task), task=task)
        check_unsharded(self.calls)
        if count == 0:
            raise no_examples(task)
        return loss.detach(), gradient_of(loss, self.parameters)

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        """Loss, inner product and squared norm."""
        loss, gradient = self.gradient(task)
        return loss, dot(direction, gradient), squared_norm(gradient)


def check_unsharded(calls: Calls) -> None:
    """Refuse a loss that went through a sharded model where parameters are thought to be whole."""
    if calls.sharded:
        raise TrainingError(
            "The loss goes through a model that is sharded by `fully_shard`, but the "
            "representation's parameters are not those that it manages; pass the sharded module, "
            "and name the whole model in `touching`."
        )
