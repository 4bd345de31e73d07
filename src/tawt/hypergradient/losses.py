"""Losses of tasks on fresh batches, without their gradients."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch

from tawt.given import counted_loss
from tawt.hypergradient.tally import Tally
from tawt.ranks import watched_calls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from tawt.hypergradient.passes import LossOf
    from tawt.ranks import Ranks


def fresh_losses(tasks: Sequence[str], *, loss_of: LossOf, ranks: Ranks) -> dict[str, float]:
    """The mean loss of each task, over the batches of all processes.

    Args:
        tasks: Names, in order.
        loss_of: A task's loss on a fresh batch; called once for each, and no graph is kept.
        ranks: The processes that measure together, each by its own `loss_of`.

    Raises:
        TrainingError: In all processes, if one of them fails or a task has no examples.

    Example:
        >>> from tawt.ranks import Ranks
        >>> losses = {"pos": torch.tensor(0.5), "chunk": torch.tensor(2.0)}
        >>> fresh_losses(["pos", "chunk"], loss_of=losses.__getitem__, ranks=Ranks.of(None))
        {'pos': 0.5, 'chunk': 2.0}
    """
    tally = Tally(ranks)
    sums: list[Tensor] = []
    with watched_calls(), torch.no_grad():
        for task in tasks:
            own = partial(_counted, loss_of, task)
            nothing: tuple[Tensor, float | None] = torch.zeros(()), 0.0
            loss, count = ranks.attempt(own, nothing)
            examples = tally.add(task, count, reached=0)
            # Of no examples the loss is NaN, or anything.
            sums.append(loss.double() * examples if examples else torch.zeros_like(loss).double())
    totals, counts = tally.exchanged(torch.stack([s.to(sums[0].device) for s in sums]), targets=())
    return dict(zip(tasks, (totals / counts).tolist(), strict=True))


def _counted(loss_of: LossOf, task: str) -> tuple[Tensor, float | None]:
    loss, count = counted_loss(loss_of(task), task=task)
    return loss.detach(), count
