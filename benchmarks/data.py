"""Tasks with random examples: what is learned does not matter to what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.arrays import Classification
from tawt.tasks import Batch, Examples, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.tasks.examples import Indices

_LABELS = ("a", "b", "c", "d", "e")
TARGET = "target"


@dataclass(frozen=True)
class Tensors(Examples):
    """Examples kept in memory, one per row: feature vectors or token ids."""

    inputs: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, indices: Indices) -> Batch:
        """The examples at these positions."""
        rows = torch.as_tensor(indices)
        return Batch(self.inputs[rows], self.labels[rows])


@dataclass(frozen=True)
class Shape:
    """What one example looks like: real features, or ids below `vocabulary`."""

    length: int
    vocabulary: int | None = None

    def drawn(self, count: int, generator: torch.Generator) -> Tensor:
        """Random examples, one per row."""
        if self.vocabulary is None:
            return torch.randn(count, self.length, generator=generator)
        return torch.randint(self.vocabulary, (count, self.length), generator=generator)


def random_tasks(sizes: Mapping[str, int], *, shape: Shape, seed: int = 0) -> list[Task]:
    """Five-way classification tasks of these sizes."""
    generator = torch.Generator().manual_seed(seed)
    return [
        Task(
            name,
            Classification(_LABELS),
            train=Tensors(
                shape.drawn(size, generator),
                torch.randint(len(_LABELS), (size,), generator=generator),
            ),
        )
        for name, size in sizes.items()
    ]


def source_names(count: int) -> list[str]:
    """Names for this many sources."""
    return [f"source {number}" for number in range(1, count + 1)]
