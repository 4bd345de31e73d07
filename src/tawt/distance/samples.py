"""What estimates look at: samples of tasks, their starting vectors, and heads fitted on those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tawt.distance.items import batches, gathered
from tawt.distance.tangent import Sample
from tawt.distance.trained import held_out
from tawt.probes import LinearHead, OnPass, Probe, uncounted
from tawt.streams import stream

if TYPE_CHECKING:
    from tawt.probes import Items
    from tawt.tasks import Batch, Examples, Task


@dataclass(frozen=True, kw_only=True)
class SampleSizes:
    """How many examples are looked at."""

    head: int = 100
    """Of every source, to fit its head on."""
    step: int = 256
    """Of every task, to find its gradient and its step on: the mean over several batches."""
    target: int = 100
    """Of the target's training examples."""
    held_out: int = 100
    """Of the target's held-out examples."""


@dataclass(frozen=True)
class Looked:
    """Some examples, in batches, and their starting vectors."""

    batches: list[Batch]
    items: Items


class Samples:
    """Samples from one starting encoder; what is drawn depends on the seed and the task's name.

    Nothing of a task is kept but its head: memory does not grow with their number.

    Args:
        representation: φ at its start.
        sizes: Of the samples.
        seed: By which they are drawn.
        on_pass: Told of every pass; may raise to stop.
    """

    def __init__(
        self,
        representation: nn.Module,
        *,
        sizes: SampleSizes,
        seed: int,
        on_pass: OnPass = uncounted,
    ) -> None:
        self._representation = representation
        self._sizes = sizes
        self._seed = seed
        self._on_pass = on_pass
        self._like = next(representation.parameters()).detach()
        self._heads: dict[int, Probe] = {}  # by task, since two may have one name

    def head(self, task: Task) -> Probe:
        """Fitted on a sample of the task's starting vectors."""
        if id(task) not in self._heads:
            seen = self._gathered(task, task.train, self._sizes.head, "train")
            self._heads[id(task)] = Probe.fitted(seen, on_pass=self._on_pass)
        return self._heads[id(task)]

    def sample(self, task: Task, weight: float = 1.0) -> Sample:
        """The examples that a gradient and a step are found on."""
        some = self._batches(task.train, self._sizes.step, task.name, "step")
        return Sample(task.kind, some, LinearHead.of(self.head(task), like=self._like), weight)

    def seen(self, task: Task) -> Looked:
        """Training examples, for a target's head."""
        return self._looked(task, task.train, self._sizes.target, "train")

    def unseen(self, task: Task) -> Looked:
        """Held-out examples, for its risk."""
        return self._looked(task, held_out(task), self._sizes.held_out, "held out")

    def _looked(self, task: Task, examples: Examples, most: int, what: str) -> Looked:
        some = self._batches(examples, most, task.name, what)
        return Looked(some, self._gathered(task, examples, most, what))

    def _gathered(self, task: Task, examples: Examples, most: int, what: str) -> Items:
        return gathered(
            self._representation,
            task.kind,
            examples,
            device=self._like.device,
            positions=self._positions(examples, most, task.name, what),
            on_pass=self._on_pass,
        )

    def _batches(self, examples: Examples, most: int, name: str, what: str) -> list[Batch]:
        positions = self._positions(examples, most, name, what)
        return list(batches(examples, device=self._like.device, positions=positions))

    def _positions(self, examples: Examples, most: int, name: str, what: str) -> Tensor:
        order = stream(self._seed, "distance", name, what).permutation(len(examples))
        return torch.from_numpy(order[:most])
