"""Which task and which examples each step trains on, and how much the step counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from tawt.mixture.draws import factor, raised
from tawt.mixture.orders import Order
from tawt.streams import stream
from tawt.tasks import Batch, Examples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch import Tensor

    from tawt.tasks.examples import Indices
    from tawt.training.parts import Parts
    from tawt.weights import SourceWeights


_GROUP = 8  # examples of like length, at most
_RANKS = 4  # from short to long, at least, that a batch is of
_MIXED_TOGETHER = 32  # batches: enough that groups are alike
_FEWEST_MIXED = 8  # of fewer, groups would be alike in nothing but being the longest


@dataclass(frozen=True)
class Step:
    """One batch to come: the task and the positions of its examples."""

    task: str
    indices: Indices
    factors: Tensor | None = None
    """What each example counts beside the average one of its task; all the same by default."""


def weighed(plan: list[Step], weights: SourceWeights) -> list[Step]:
    """The same steps, with what each of their examples counts."""
    return [replace(step, factors=weights.relative(step.task, step.indices)) for step in plan]


@dataclass(frozen=True)
class Schedule:
    """The steps of an epoch.

    With `sampling="size"` every example of every task is seen once an epoch, in batches of one
    task, shuffled together. A step on batch b of task t is scaled by ω_t · B · |b| / n_t, B being
    the number of steps, so that the average over the epoch is Σ ω_t L_t exactly. With
    `sampling="weight"` each step draws task t with probability ω_t and is not scaled.

    Where examples differ in length, those of a batch are of all lengths, in groups of like length
    that are computed together (see `Parts`): every batch is a fair sample, and little is padded.

    Either way a step depends on the seed, the epoch, its position and (by weight) the current
    weights alone, so that training can go on from the middle of an epoch.

    Args:
        sizes: Number of examples of each task in the objective.
        batch_size: Examples in a step.
        sampling: "size" or "weight".
        seed: Of the run.
        phase: Name of the phase, so that two phases do not share an order.
        explored: Share of the steps that all tasks have alike when sampling by weight.
        hold: Steps in a row that keep their task when sampling by weight.
        steps_per_epoch: Instead of as many as see every example once.
        most_passes: When sampling by weight: examples come in passes, and no task is passed over
            more often.
        lengths: Of the examples of tasks where they differ.

    Example:
        >>> sizes = {"a": 64, "b": 32}
        >>> schedule = Schedule(sizes, batch_size=32, sampling="size", seed=0, phase="x")
        >>> [step.task for step in schedule.steps(0, 0, 3, shares={})].count("a")
        2
        >>> schedule.scale("b", 32, shares={"a": 0.5, "b": 0.5})
        1.5
    """

    sizes: Mapping[str, int]
    batch_size: int
    sampling: Literal["size", "weight"]
    seed: int
    phase: str
    explored: float = 0.0
    """Share of the steps that all tasks have alike when sampling by weight; their losses are scaled
    to leave the objective as it is."""
    hold: int = 1
    """Steps in a row that keep their task when sampling by weight."""
    steps_per_epoch: int | None = None
    """Instead of as many as see every example once."""
    most_passes: float | None = None
    """When sampling by weight: examples come in passes, and no task is passed over more often."""
    lengths: Mapping[str, Indices] = field(default_factory=dict)
    _order: dict[int, list[Step]] = field(default_factory=dict, compare=False, repr=False)
    """The steps of the epoch under way, which rounds would otherwise shuffle again."""
    _passes: dict[str, Order] = field(default_factory=dict, compare=False, repr=False)
    """The order of each task's examples, where they come in passes."""

    @property
    def length(self) -> int:
        """Steps in an epoch: enough to see every example once when sampling by size."""
        if self.steps_per_epoch is not None:
            return self.steps_per_epoch
        return sum(-(-size // self.batch_size) for size in self.sizes.values())

    def steps(
        self,
        epoch: int,
        first: int,
        last: int,
        *,
        shares: Mapping[str, float],
        taken: Mapping[str, int] | None = None,
    ) -> list[Step]:
        """Steps `first` to `last` (exclusive) of an epoch.

        Args:
            epoch: Its number.
            first: Position of the first step.
            last: Position after the last.
            shares: ω_t, where tasks are drawn by weight.
            taken: How many examples of each task the steps before have had; none by default. It
                matters where examples come in passes.
        """
        if self.sampling == "weight":
            counts = Counter(taken or {})
            planned = []
            for position in range(first, last):
                planned.append(self._drawn(epoch, position, shares, counts))
                counts[planned[-1].task] += len(planned[-1].indices)
            return planned
        if epoch not in self._order:
            self._order.clear()
            self._order[epoch] = self._shuffled(epoch)
        return self._order[epoch][first:last]

    def scale(self, task: str, examples: int, *, shares: Mapping[str, float]) -> float:
        """What the mean loss of a batch is multiplied by."""
        if self.sampling == "weight":
            return factor(shares[task], floor=self._floor, tasks=len(self.sizes))
        return shares[task] * self.length * examples / self.sizes[task]

    def _shuffled(self, epoch: int) -> list[Step]:
        draw = stream(self.seed, self.phase, "epoch", epoch)
        batches = [
            Step(task, order[start : start + self.batch_size])
            for task, size in self.sizes.items()
            for order in [self._mixed(task, draw.permutation(size), draw)]
            for start in range(0, size, self.batch_size)
        ]
        return [batches[position] for position in draw.permutation(len(batches))]

    def _drawn(
        self, epoch: int, position: int, shares: Mapping[str, float], taken: Mapping[str, int]
    ) -> Step:
        draw = stream(self.seed, self.phase, "epoch", epoch, "step", position)
        names = [name for name in self.sizes if self._may_come(name, taken)]
        tasks = len(self.sizes)
        chances = np.array([raised(shares[n], floor=self._floor, tasks=tasks) for n in names])
        if not chances.sum() > 0:  # all that is left has no weight
            chances = np.ones(len(names))
        chosen = draw
        if self.hold > 1:
            group = (epoch * self.length + position) // self.hold
            chosen = stream(self.seed, self.phase, "group", group)
        task = names[int(chosen.choice(len(names), p=chances / chances.sum()))]
        size = self.sizes[task]
        count = min(size, self.batch_size)
        if self.most_passes is not None:
            window = self._order_of(task).window(taken[task], count)
            return Step(task, window.astype(np.int64, copy=False))
        return Step(task, draw.choice(size, count, replace=False))

    def _may_come(self, task: str, taken: Mapping[str, int]) -> bool:
        return self.most_passes is None or taken[task] < self.most_passes * self.sizes[task]

    def _order_of(self, task: str) -> Order:
        if task not in self._passes:
            purpose = (self.phase, "examples", task)
            self._passes[task] = Order(self.sizes[task], seed=self.seed, purpose=purpose)
        return self._passes[task]

    @property
    def _floor(self) -> float:
        return self.explored / len(self.sizes)

    def _mixed(self, task: str, order: Indices, draw: np.random.Generator) -> Indices:
        """The same examples, those of every batch in groups of like length, one of each rank.

        Some dozen batches' worth are sorted and cut into ranks, from short to long, of as many
        groups as there are batches; each batch gets a group of every rank, at random.
        """
        group = max(1, min(_GROUP, self.batch_size // _RANKS))
        if task not in self.lengths or self.batch_size % group:
            return order
        mixed = order.copy()
        span = _MIXED_TOGETHER * self.batch_size
        for start in range(0, len(order), span):
            batches = len(order[start : start + span]) // self.batch_size
            if batches < _FEWEST_MIXED:
                break
            some = slice(start, start + batches * self.batch_size)
            # Not quite by length, or the same examples would be together in every epoch.
            lengths = self.lengths[task][order[some]] * draw.uniform(0.9, 1.1, len(order[some]))
            groups = order[some][np.argsort(lengths)].reshape(-1, batches, group)
            given = draw.permuted(np.tile(np.arange(batches), (len(groups), 1)), axis=1)
            groups = np.take_along_axis(groups, given[:, :, None], axis=1)
            mixed[some] = groups.transpose(1, 0, 2).reshape(-1)
        return mixed


def with_factors(batch: Batch, factors: Tensor) -> Batch:
    """The batch, with what the loss of each of its examples counts."""
    return replace(batch, factors=factors if batch.owners is None else factors[batch.owners])


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
        self._plan[:] = plan if self.processes == 1 else [self._share(step) for step in plan]
        return zip(plan, self._loader, strict=True)

    def _share(self, step: Step) -> Step:
        """This process's part of a step."""
        mine = slice(self._process, None, self.processes)
        indices = step.indices[mine]
        if len(indices) == 0:  # all must take part in a step; one that has nothing adds nothing
            return Step(step.task, step.indices[:1], torch.zeros(1))
        return Step(step.task, indices, None if step.factors is None else step.factors[mine])


class _Fetched(Dataset[list[Batch]]):
    def __init__(self, examples: Mapping[str, Examples], parts: Parts) -> None:
        self._examples = examples
        self._parts = parts

    def __getitem__(self, step: Step) -> list[Batch]:
        examples = self._examples[step.task]
        found = []
        for places in self._parts.of(examples, step.indices):
            batch = examples.batch(step.indices[places])
            if step.factors is not None:
                batch = with_factors(batch, step.factors[places])
            found.append(batch)
        return found


def _as_it_is(parts: Any) -> Any:
    return parts
