"""The batches of planned steps, fetched ahead of time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils.operations import concatenate
from torch.utils.data import DataLoader, Dataset

from tawt.tasks import Batch, Examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from torch import Tensor

    from tawt.training.parts import Parts
    from tawt.training.steps import Step


def with_factors(batch: Batch, factors: Tensor) -> Batch:
    """The batch, with what the loss of each of its examples counts."""
    return replace(batch, factors=factors if batch.owners is None else factors[batch.owners])


def joined(batches: Sequence[Batch]) -> Batch:
    """One batch of several whose tensors have the same shapes but for the number of rows.

    Example:
        >>> zeros = Batch(torch.zeros(2, 3), torch.zeros(2))
        >>> ones = Batch(torch.ones(1, 3), torch.ones(1))
        >>> joined([zeros, ones]).labels
        tensor([0., 0., 1.])
    """
    inputs, labels = concatenate([(batch.inputs, batch.labels) for batch in batches])
    return Batch(inputs, labels)


class Loader:
    """Fetches the batches of planned steps, ahead of time when it has workers.

    Args:
        examples: Training examples of each task.
        parts: How batches are taken apart.
        workers: Processes that fetch; none fetches in this one.
        pin_memory: Page-locked batches, for a GPU.
        process: Which of several training processes this is.
        processes: How many there are; each fetches its part of every batch.
    """

    def __init__(
        self,
        examples: Mapping[str, Examples],
        *,
        parts: Parts,
        workers: int = 0,
        pin_memory: bool = False,
        process: int = 0,
        processes: int = 1,
    ) -> None:
        self.processes = processes
        self._process = process
        self._plan: list[Step] = []
        self._loader: DataLoader[list[Batch]] = DataLoader(
            _Fetched(examples, parts),
            batch_size=None,  # a plan's entry is a whole batch already
            sampler=self._plan,
            num_workers=workers,
            persistent_workers=workers > 0,
            pin_memory=pin_memory,
            collate_fn=_as_it_is,
            generator=torch.Generator(),  # it draws a seed for its workers; not from ours
        )

    def fetch(self, plan: list[Step]) -> Iterator[tuple[Step, list[Batch]]]:
        """The batches of these steps in their parts, in order; of several processes, its own."""
        mine = (step.share(self._process, self.processes) for step in plan)
        self._plan[:] = plan if self.processes == 1 else mine
        return zip(plan, self._loader, strict=True)


class _Fetched(Dataset[list[Batch]]):
    def __init__(self, examples: Mapping[str, Examples], parts: Parts) -> None:
        self._examples = examples
        self._parts = parts

    def __getitem__(self, step: Step) -> list[Batch]:
        if step.piece is not None:
            return [self._examples[task].batch(indices) for task, indices in step.pieces]
        if len(step.examples) > 1:
            whole = joined([self._examples[t].batch(found) for t, found in step.examples.items()])
            return [whole if step.factors is None else with_factors(whole, step.factors)]
        [(task, indices)] = step.examples.items()
        examples, found = self._examples[task], []
        for places in self._parts.of(examples, indices):
            batch = examples.batch(indices[places])
            if step.factors is not None:
                batch = with_factors(batch, step.factors[places])
            found.append(batch)
        return found


def _as_it_is(parts: Any) -> Any:
    return parts
