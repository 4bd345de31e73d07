"""Which task, or tasks, and which examples each step trains on."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from tawt.mixture.draws import factor, raised
from tawt.mixture.orders import Order
from tawt.streams import stream
from tawt.training.passes import limited
from tawt.training.scaled import most_scaled
from tawt.training.steps import Step

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tawt.tasks.examples import Indices

_GROUP = 8  # examples of like length, at most
_RANKS = 4  # from short to long, at least, that a batch is of
_MIXED_TOGETHER = 32  # batches: enough that groups are alike
_FEWEST_MIXED = 8  # of fewer, groups would be alike in nothing but being the longest


@dataclass(frozen=True)
class Schedule:
    """The steps of an epoch.

    With `sampling="size"` every example of every task is seen once an epoch, in batches of one
    task, shuffled together. A step on batch b of task t is scaled by ω_t · B · |b| / n_t, B being
    the number of steps, so that the average over the epoch is Σ ω_t L_t exactly. With
    `sampling="weight"` each step draws task t with probability ω_t and is not scaled. With
    `sampling="mixed"` the examples of every step are divided among the tasks by ω_t: each has its
    share of them, rounded up or down at random.

    Where examples differ in length, those of a batch are of all lengths, in groups of like length
    that are computed together (see `Parts`): every batch is a fair sample, and little is padded.

    Either way a step depends on the seed, the epoch, its position and (by weight) the current
    weights alone, so that training can go on from the middle of an epoch.

    Args:
        sizes: Number of examples of each task in the objective.
        batch_size: Examples in a step.
        sampling: "size", "weight" or "mixed".
        seed: Of the run.
        phase: Name of the phase, so that two phases do not share an order.
        explored: Share of the steps on one task, or of the pieces of a step whose tasks are apart,
            that all tasks have alike.
        hold: Steps in a row that keep their task when sampling by weight.
        apart_every: With `sampling="mixed"`, every so many steps (or groups of `hold`) the tasks of
            one are kept apart, so that each can be looked at; none by default.
        pieces: How many pieces of one task each a step has, at least, whose tasks are apart; all
            have as many examples, so that a few may be left out. One is a step on a single task.
        steps_per_epoch: Instead of as many as see every example once.
        most_passes: Except when sampling by size: examples come in passes, and no task is passed
            over more often. What that leaves for a task is spread over the steps to come, so
            that one of large weight is not used up before the others have taught anything.
        epochs: How many of this length there are, for `most_passes`.
        too_often: Of sources, how many passes are too many; where there is no other limit.
        guarded: Whether no source is passed over too often, its share being held at what that
            leaves; and when sampling by size, whether tasks are drawn by weight instead while one
            counts far more than is seen of it.
        lengths: Of the examples of tasks where they differ.

    Example:
        >>> sizes = {"a": 64, "b": 32}
        >>> schedule = Schedule(sizes, batch_size=32, sampling="size", seed=0, phase="x")
        >>> [step.task for step in schedule.steps(0, 0, 3, shares={})].count("a")
        2
        >>> schedule.scale("b", 32, shares={"a": 0.5, "b": 0.5})
        1.5

        >>> schedule = Schedule(sizes, batch_size=4, sampling="mixed", seed=0, phase="x")
        >>> [step] = schedule.steps(0, 0, 1, shares={"a": 0.25, "b": 0.75})
        >>> {task: len(positions) for task, positions in step.examples.items()}
        {'a': 1, 'b': 3}
    """

    sizes: Mapping[str, int]
    batch_size: int
    sampling: Literal["size", "weight", "mixed"]
    seed: int
    phase: str
    explored: float = 0.0
    """Share of the steps on one task, or of the pieces of a step whose tasks are apart, that all
    tasks have alike; their losses are scaled to leave the objective as it is."""
    hold: int = 1
    """Steps in a row that keep their task when sampling by weight."""
    apart_every: int | None = None
    """When mixed, every so many steps (or groups of `hold`) the tasks of one are kept apart."""
    pieces: int = 1
    """How many pieces of one task each a step has, at least, whose tasks are apart."""
    steps_per_epoch: int | None = None
    """Instead of as many as see every example once."""
    most_passes: float | None = None
    """Except when sampling by size: examples come in passes, and no task is passed over more
    often."""
    epochs: int = 1
    """How many there are, for `most_passes`."""
    too_often: Mapping[str, float] = field(default_factory=dict)
    """Of sources, how many passes are too many; where there is no other limit."""
    guarded: bool = False
    """No source is passed over too often; and when sampling by size, tasks are drawn by weight
    while one counts far more than is seen of it."""
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
                matters where passes are limited.
        """
        if self._departs_from_size(shares):
            return self._by_weight.steps(epoch, first, last, shares=shares, taken=taken)
        if self.sampling != "size":
            counts = Counter(taken or {})
            planned = []
            for position in range(first, last):
                planned.append(self._drawn(epoch, position, shares, counts))
                counts.update({task: len(found) for task, found in planned[-1].examples.items()})
            return planned
        if epoch not in self._order:
            self._order.clear()
            self._order[epoch] = self._shuffled(epoch)
        return self._order[epoch][first:last]

    def scale(self, task: str, examples: int, *, shares: Mapping[str, float]) -> float:
        """What the mean loss of a batch of one task is multiplied by; of a mixed one, nothing.

        Args:
            task: Its name.
            examples: How many there are in the batch.
            shares: ω_t, or what the step was drawn by instead.
        """
        if self.draws_by_weight(shares):
            return factor(shares[task], floor=self._floor, tasks=len(self.sizes))
        return shares[task] * self.length * examples / self.sizes[task]

    def draws_by_weight(self, shares: Mapping[str, float]) -> bool:
        """Whether steps have as much of each task as it has of the weight."""
        return self.sampling != "size" or self._departs_from_size(shares)

    def _departs_from_size(self, shares: Mapping[str, float]) -> bool:
        """Whether the guard draws by weight: by the shares alone, so that nothing is to be kept."""
        if not (self.guarded and self.sampling == "size"):
            return False
        return most_scaled(self.sizes, shares).too_much

    @cached_property
    def _by_weight(self) -> Schedule:
        return replace(self, sampling="weight", most_passes=None)

    def _shuffled(self, epoch: int) -> list[Step]:
        draw = stream(self.seed, self.phase, "epoch", epoch)
        batches = [
            Step.of(task, order[start : start + self.batch_size])
            for task, size in self.sizes.items()
            for order in [self._mixed(task, draw.permutation(size), draw)]
            for start in range(0, size, self.batch_size)
        ]
        return [batches[position] for position in draw.permutation(len(batches))]

    def _drawn(
        self, epoch: int, position: int, shares: Mapping[str, float], taken: Mapping[str, int]
    ) -> Step:
        draw = stream(self.seed, self.phase, "epoch", epoch, "step", position)
        before = epoch * self.length + position
        spread = self._spread(shares, taken, before=before)
        shares = shares if spread is None else spread
        group = before // self.hold
        several = self.sampling == "mixed" and len(self.sizes) > 1
        apart = self.apart_every is not None and group % self.apart_every == 0
        pieces = min(self.pieces, self.batch_size)
        if several and (pieces > 1 or not apart):
            piece = self.batch_size // pieces if apart else None
            counts = self._counts(shares, taken, draw, piece=piece)
            if not counts:  # no task has room for a whole piece
                piece, counts = None, self._counts(shares, taken, draw, piece=None)
            found = {t: self._examples(t, taken, n, draw) for t, n in counts.items()}
            return Step(next(iter(self.sizes)), found, is_mixed=True, piece=piece, shares=spread)
        names = [name for name in self.sizes if self._room(name, taken) > 0]
        chances = self._chances(names, shares, floor=self._floor)
        chosen = stream(self.seed, self.phase, "group", group) if self.hold > 1 else draw
        task = names[int(chosen.choice(len(names), p=chances))]
        room = self._room(task, taken)
        count = int(min(self.sizes[task], self.batch_size, room))
        return Step(task, {task: self._examples(task, taken, count, draw)}, shares=spread)

    def _spread(
        self, shares: Mapping[str, float], taken: Mapping[str, int], *, before: int
    ) -> Mapping[str, float] | None:
        """Shares that leave each task examples for all steps to come, where its own would not."""
        if self.most_passes is None and not (self.guarded and self.too_often):
            return None
        ahead = self.epochs * self.length - before
        limits = {
            name: self._room(name, taken) / (ahead * self._at_once(name)) for name in self.sizes
        }
        if all(shares[name] <= limit for name, limit in limits.items()):
            return None
        return limited({name: shares[name] for name in self.sizes}, limits)

    def expected_examples(self, shares: Mapping[str, float], *, steps: int) -> dict[str, float]:
        """How many examples of each task so many steps would have by these weights, on average."""
        return {name: shares[name] * steps * self._at_once(name) for name in self.sizes}

    def _at_once(self, task: str) -> int:
        """How many examples of the task there are in a step that is on it alone, at most."""
        # Of a limit that was given, records are of runs that counted whole batches.
        whole = self.sampling == "mixed" or self.most_passes is not None
        return self.batch_size if whole else min(self.batch_size, self.sizes[task])

    def _chances(
        self, names: Sequence[str], shares: Mapping[str, float], *, floor: float = 0.0
    ) -> NDArray[np.float64]:
        """Of each task; where all that is left has no weight, all the same."""
        tasks = len(self.sizes)
        found: NDArray[np.float64] = np.array(
            [raised(shares[name], floor=floor, tasks=tasks) for name in names]
        )
        if not found.sum() > 0:
            found = np.ones(len(names))
        found /= found.sum()
        return found

    def _counts(
        self,
        shares: Mapping[str, float],
        taken: Mapping[str, int],
        draw: np.random.Generator,
        *,
        piece: int | None,
    ) -> dict[str, int]:
        """How many examples each task has in a mixed step: its share of them, rounded at random.

        What a task has no more room for is divided among the others. In pieces, all tasks have the
        floor, and their numbers are multiples of a piece's examples.
        """
        each, floor = (1, 0.0) if piece is None else (piece, self._floor)
        rooms = {name: self._room(name, taken) / each for name in self.sizes}
        counts = dict.fromkeys(self.sizes, 0)
        left = self.batch_size // each
        while left and (names := [name for name in rooms if rooms[name] >= counts[name] + 1]):
            edges = np.cumsum(self._chances(names, shares, floor=floor))
            points = (draw.random() + np.arange(left)) / left * edges[-1]
            places = np.searchsorted(edges, points, side="right").clip(max=len(names) - 1)
            for name, count in zip(names, np.bincount(places, minlength=len(names)), strict=True):
                given = int(min(count, rooms[name] - counts[name]))
                counts[name] += given
                left -= given
        return {name: count * each for name, count in counts.items() if count}

    def _examples(
        self, task: str, taken: Mapping[str, int], count: int, draw: np.random.Generator
    ) -> Indices:
        """The positions of so many of a task's examples."""
        if self.most_passes is not None:
            window = self._order_of(task).window(taken[task], count)
            return window.astype(np.int64, copy=False)
        size = self.sizes[task]
        return draw.choice(size, count, replace=count > size)

    def _room(self, task: str, taken: Mapping[str, int]) -> float:
        """How many more examples of a task there may be."""
        limit = self.most_passes
        if limit is None and self.guarded:
            limit = self.too_often.get(task)
        return math.inf if limit is None else math.ceil(limit * self.sizes[task]) - taken[task]

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
