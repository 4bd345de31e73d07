"""The losses of single examples, for weights on units finer than a task."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tawt.gradients import width
from tawt.training.devices import to_device
from tawt.training.evaluation import row_batches

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import torch
    from torch import Tensor

    from tawt.per_example import Losses
    from tawt.tasks import Batch, MultiTaskModel, Task
    from tawt.tasks.examples import Examples, Indices

_FEW = 64  # examples of a first batch: what they tell of step size and error holds for the rest


@dataclass(frozen=True)
class ExampleLosses:
    """`losses_of` for one weight update.

    The model is evaluated without dropout, and in the precision that measuring chooses.

    Args:
        model: The shared model.
        tasks: By name.
        examples: Training examples of each task.
        at_once: Rows of a batch.
        most: Examples of a source that are measured; all, if none is said.
        draw: Which those are.
        device: Where the model is.
        part: Which of those are measured here: each of several processes measures its own.
    """

    model: MultiTaskModel
    tasks: Mapping[str, Task]
    examples: Mapping[str, Examples]
    at_once: int
    most: int | None
    draw: np.random.Generator
    device: torch.device
    part: slice = field(default_factory=lambda: slice(None))

    def __call__(self, task: str) -> Iterator[tuple[Indices, Losses]]:
        """The task's examples in batches of like length, and what computes the loss of each.

        The first batch is a few examples of all lengths: on it differences find their step size and
        mixed precision its error, which takes some passes more. Examples of several rows come last,
        by themselves: layers no longer see an example as a row then, and norms take a backward pass
        for each (`ExampleNorms`).
        """
        examples = self.examples[task]
        order = np.arange(len(examples))
        if self.most is not None and self.most < len(examples):
            order = np.sort(self.draw.choice(len(examples), self.most, replace=False))
        lengths = examples.lengths
        if lengths is not None:
            order = order[np.argsort(lengths[order], kind="stable")]
        order = order[self.part]
        if len(order) == 0:
            return
        for part in _parts(order, examples.rows, few=min(_FEW, self.at_once)):
            for indices in row_batches(examples, part, self.at_once):
                batch = to_device(examples.batch(indices), self.device)
                yield indices, partial(self._losses, task, batch, len(indices))

    def _losses(self, task: str, batch: Batch, size: int) -> Tensor:
        self.model.eval()
        # Its parts, since Accelerate has put its own autocast into the model's forward.
        outputs = self.model.heads[task](self.model.representation(batch.inputs))
        # As in a step: what a kind is given is never narrower than float32.
        outputs = outputs.to(width(outputs))
        losses = self.tasks[task].kind.losses(outputs, batch.labels)
        if batch.owners is None:
            return losses
        return losses.new_zeros(size).index_add(0, batch.owners, losses)


def _parts(order: Indices, rows: Indices | None, *, few: int) -> list[Indices]:
    """A few examples from everywhere, the others of one row, and those of several.

    Example:
        >>> order = np.arange(100)
        >>> [len(part) for part in _parts(order, np.where(order < 90, 1, 2), few=64)]
        [64, 26, 10]
    """
    kinds = [order]
    if rows is not None:
        several = rows[order] > 1
        kinds = [order[~several], order[several]]
    first, *others = [kind for kind in kinds if len(kind)]
    places = np.unique(np.linspace(0, len(first) - 1, few, dtype=np.intp))
    return [part for part in (first[places], np.delete(first, places), *others) if len(part)]
