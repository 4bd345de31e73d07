"""One batch to come: which examples of which tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from tawt.tasks.examples import Indices
    from tawt.weights import SourceWeights


@dataclass(frozen=True)
class Step:
    """The examples of one batch.

    Args:
        task: Whose kind and head they go through; the tasks of a mixed step share these.
        examples: The positions of each task's examples.
        factors: What each example counts beside the average one of its task, in the order of
            `examples`; all the same by default.
        is_mixed: Whether its examples may be of several tasks.
        piece: Of how many examples of one task the gradient is taken at a time, where each is to
            be looked at; by default that of all examples is taken at once.
        shares: What the tasks were drawn by, where a limit on passes has made it other than their
            weights.

    Example:
        >>> step = Step.of("web", np.array([3, 1, 4, 1]))
        >>> step.size, step.share(0, 2).indices.tolist(), step.share(1, 2).indices.tolist()
        (4, [3, 4], [1, 1])
    """

    task: str
    examples: Mapping[str, Indices]
    factors: Tensor | None = None
    is_mixed: bool = False
    piece: int | None = None
    shares: Mapping[str, float] | None = None

    @classmethod
    def of(cls, task: str, indices: Indices) -> Step:
        """A step on one task."""
        return cls(task, {task: indices})

    @property
    def indices(self) -> Indices:
        """The positions of all examples, task after task."""
        return np.concatenate(list(self.examples.values()))

    @property
    def size(self) -> int:
        """How many examples it has."""
        return sum(map(len, self.examples.values()))

    @property
    def pieces(self) -> list[tuple[str, Indices]]:
        """The task and the examples of each piece; none where the gradient is taken at once."""
        if self.piece is None:
            return []
        return [
            (task, indices[start : start + self.piece])
            for task, indices in self.examples.items()
            for start in range(0, len(indices), self.piece)
        ]

    def share(self, process: int, processes: int) -> Step:
        """One process's part of the step; where there is nothing for it, an example of no weight.

        Of pieces, whole ones, or none.

        Args:
            process: Which one.
            processes: How many there are.
        """
        begin = 0
        kept: dict[str, Indices] = {}
        if self.piece is not None:
            for task, indices in self.pieces[process::processes]:
                kept[task] = np.concatenate([kept[task], indices]) if task in kept else indices
            return replace(self, examples=kept)
        for task, indices in self.examples.items():
            mine = indices[(process - begin) % processes :: processes]
            if len(mine):
                kept[task] = mine
            begin += len(indices)
        if not kept:  # all must take part in a step; one that has nothing adds nothing
            task, indices = next(iter(self.examples.items()))
            return replace(self, examples={task: indices[:1]}, factors=torch.zeros(1))
        factors = None if self.factors is None else self.factors[process::processes]
        return replace(self, examples=kept, factors=factors)


def weighed(plan: Sequence[Step], weights: SourceWeights) -> list[Step]:
    """The same steps, with what each of their examples counts."""
    return [replace(step, factors=_factors(step, weights)) for step in plan]


def _factors(step: Step, weights: SourceWeights) -> Tensor | None:
    found = [weights.relative(task, indices) for task, indices in step.examples.items()]
    if all(factors is None for factors in found):
        return None
    sizes = map(len, step.examples.values())
    pairs = zip(found, sizes, strict=True)
    return torch.cat([torch.ones(size) if some is None else some for some, size in pairs])
