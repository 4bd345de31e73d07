"""Batches of several datasets, by weights that may move while they are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from torch.utils.data import DataLoader, default_collate

from tawt.errors import ConfigError, DataError, WeightsError, suggestion
from tawt.given import names_of
from tawt.mixture.course import Course
from tawt.mixture.draws import TaskDraws, Weights, check_tasks, shares_of
from tawt.mixture.feeds import Collate, ExampleFeed, HalvedFeed, feed_of
from tawt.mixture.fresh import FreshBatches
from tawt.mixture.halves import Half
from tawt.mixture.processes import check_alike, checked, group
from tawt.mixture.settings import check_settings
from tawt.mixture.states import VERSION, check_parts, check_state, check_task
from tawt.mixture.streamed import Batched
from tawt.mixture.targets import check_target
from tawt.weighting import Weighting
from tawt.weighting.halves import check_half

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from torch import Tensor

    from tawt.mixture.processes import Processes
    from tawt.mixture.settings import Batches


class Mixture:
    """Draws the task of each step by weight, and gives its next batch.

    Task t is drawn with probability ω_t, read when the step is drawn: weights that an update moved
    count from the next step on. Train on its plain loss, without `combine`: the weight is in how
    often a task comes.

    In a process group all processes draw the same task, and each takes its own part of the
    examples: together, those that one process with as many times the batch size would take. A
    dataset of the target that has no weight is there for `fresh` alone.

    A loop over it ends after `steps`, and the next goes on from there. `state_dict` holds where it
    is; weights have their own.

    Args:
        datasets: By name: map-style datasets, whose examples come once in each pass in an order
            that is new every time; iterable ones, read again when they end; or `DataLoader`s. A
            plain loader is taken apart and its examples drawn like those of a dataset, by its
            workers; one with a sampler of its own gives its batches as they come.
        weights: A weighting such as `TargetAware`, `SourceWeights`, or numbers by name.
        batch_size: Examples of one process in a step; loaders have their own.
        steps: Of one loop; a pass over all examples that are trained on, where their number is
            known.
        batches: "one task", which yields `(task, batch)`, or "mixed", where the task of each
            example is drawn and `(tasks, batch)` yields a list of names, one for each.
        collate: Makes a batch of a list of examples; torch's `default_collate`, or the loader's.
        seed: Of tasks and orders.
        floor: Least probability of drawing a task. Multiply losses by `factor(task)` to keep the
            objective Σ ω_t L_t; otherwise the floor changes it.
        hold: How many steps in a row keep their task: the batches that one step of an optimiser
            accumulates, for its gradient to be that of one task.
        process: Which of the processes this is; by default as in torch's process group.
        processes: How many there are.

    Example:
        >>> mixture = Mixture({"a": [1, 2, 3], "b": [4]}, {"a": 1, "b": 0}, batch_size=3, seed=0)
        >>> [(task, sorted(batch.tolist())) for task, batch in mixture]
        [('a', [1, 2, 3]), ('a', [1, 2, 3])]
    """

    def __init__(  # noqa: PLR0913 - one subject and its settings, all but two by name
        self,
        datasets: Mapping[str, Any],
        weights: Weights,
        *,
        batch_size: int | None = None,
        steps: int | None = None,
        batches: Batches = "one task",
        collate: Collate | None = None,
        seed: int = 0,
        floor: float = 0.0,
        hold: int = 1,
        process: int | None = None,
        processes: int | None = None,
    ) -> None:
        self.batches = batches
        self.seed = seed
        self.hold = hold
        self._given = checked(process, processes)
        self._steps = steps
        self._weights = weights
        self._collate = collate or default_collate
        self._course = Course()
        self._held: str | None = None  # the task that was drawn last
        self._alike = False
        check_settings(batch_size=batch_size, steps=steps, batches=batches, seed=seed, hold=hold)
        names = _names(datasets)
        trained = _trained(names, weights)
        _check_targets(datasets, weights)
        self._draws = TaskDraws(weights, names=trained, seed=seed, floor=floor)
        self._feeds = {
            name: feed_of(
                datasets[name], name=name, seed=seed, batch_size=batch_size, collate=collate
            )
            for name in names
        }
        self._check_feeds(datasets, batch_size)

    @property
    def step(self) -> int:
        """How many steps were drawn so far, over all loops."""
        return self._course.step

    @property
    def processes(self) -> Processes:
        """Which of the processes this is, and how many there are."""
        return self._given or group()

    def probabilities(self) -> dict[str, float]:
        """With which each task would be drawn now."""
        return self._draws.probabilities()

    def factor(self, task: str) -> float:
        """ω_t / p_t now: what the task's loss is multiplied by where there is a floor."""
        factors = self._draws.factors()
        if task not in factors:
            raise WeightsError(f"{task!r} is not drawn here; {suggestion(str(task), factors)}")
        return factors[task]

    def __len__(self) -> int:
        """Steps of one loop."""
        if self._steps is not None:
            return self._steps
        count = self.processes.count
        return sum(self._feeds[name].steps(count) or 0 for name in self._draws.names)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """The steps that are left of a loop: the task, or a list of tasks, and the batch."""
        if not self._alike:
            self._check_alike()
        drawn = self._course.loop(len(self))
        return (self._drawn(step) for step in drawn)

    def fresh(
        self, loss_on: Callable[[Any, Any], Tensor], *, target_half: int | None = None
    ) -> FreshBatches:
        """The `loss_of` that one `update` of the weights needs, on batches that are not training's.

        Examples have an order of their own, pass over those that training took last, and are
        others at a second call. Call it for every update.

        Args:
            loss_on: From a task and a batch, as in the loop, to the mean loss, a scalar tensor.
            target_half: Which half of the targets' examples is drawn from, 0 and then 1; pass the
                same to `update`. They are cut anew for every second update.

        Returns:
            From a task to its loss on a fresh batch; of several processes, to the loss and the
            number of examples on this one.
        """
        return FreshBatches(
            self._feeds,
            loss_on,
            processes=self.processes,
            listed=self.batches == "mixed",
            halves={} if target_half is None else self._halves(target_half),
        )

    def _halves(self, target_half: int) -> dict[str, Half]:
        """Of each target, the half that the next update sees.

        Raises:
            WeightsError: There is no such half.
            ConfigError: There is no target, or it is not known how many examples it has.
        """
        check_half(target_half)
        weights = self._weights
        if not isinstance(weights, Weighting) or not weights.target:
            raise ConfigError("`target_half` is of a target, and these weights are not learned.")
        for name in weights.target:
            if not isinstance(self._feeds.get(name), HalvedFeed):
                raise ConfigError(
                    f"The examples of {name!r} cannot be halved: they are not a map-style dataset "
                    "of this mixture. Leave `target_half` out."
                )
        cut = weights.history.updates // 2
        twice = weights.asked_twice
        return {n: Half(target_half, cut, parts=1 + (n in twice)) for n in weights.target}

    def state_dict(self) -> dict[str, Any]:
        """Where it is, JSON-able, the same on every process."""
        feeds = {name: feed.state() for name, feed in self._feeds.items()}
        course = {"step": self._course.step, "begun": self._course.begun}
        held = {} if self.hold == 1 else {"held": self._held if self.step % self.hold else None}
        return {**self._identity(), **course, **held, "feeds": feeds}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly from a saved state, with any number of processes.

        Raises:
            TrainingError: It is not a state of this mixture; nothing has changed then.
        """
        self._check_state(state)
        for name, feed in self._feeds.items():
            feed.load(state["feeds"][name])
        self._held = state.get("held")
        self._course.load(state["step"], state["begun"])
        self._alike = False

    def _drawn(self, step: int) -> tuple[Any, Any]:
        processes = self.processes
        if self.batches == "one task":
            task = self._task(step)
            return task, self._feeds[task].batch(processes)
        size = next(iter(self._feeds.values())).batch_size
        tasks = self._draws.draw(step, count=size * processes.count).tasks
        return self._mixed(tasks, processes.part(len(tasks)))

    def _task(self, step: int) -> str:
        """Drawn for the first step of a group, and kept to its end, also where weights move."""
        if self._held is None or step % self.hold == 0:
            (self._held,) = self._draws.draw(step // self.hold).tasks
        return self._held

    def _mixed(self, tasks: tuple[str, ...], part: slice) -> tuple[list[str], Any]:
        """This process's part of a batch whose examples are of these tasks."""
        places = np.arange(part.start, part.stop)
        found: dict[int, Any] = {}
        for task in dict.fromkeys(tasks):
            owned = np.flatnonzero([name == task for name in tasks])
            mine = np.flatnonzero(np.isin(owned, places))
            feed = self._feeds[task]
            assert isinstance(feed, ExampleFeed)  # loaders were refused
            examples = feed.examples(len(owned), mine)
            found |= zip(owned[mine].tolist(), examples, strict=True)
        return list(tasks[part]), self._collate([found[place] for place in places.tolist()])

    def _identity(self) -> dict[str, Any]:
        """What must be the same for a state to be loaded, and on every process."""
        sizes = {name: feed.size for name, feed in self._feeds.items()}
        hold = {} if self.hold == 1 else {"hold": int(self.hold)}
        kind = {"version": VERSION, "seed": int(self.seed), "sizes": sizes, "batches": self.batches}
        return {**kind, **hold}

    def _check_state(self, state: Mapping[str, Any]) -> None:
        check_state(state, self._identity())
        check_parts(state, ["feeds"], what="the state")
        if state.get("held") is not None:
            check_task(state["held"], self._draws.names, what="`held`")
        check_parts(state["feeds"], list(self._feeds), what="`feeds`")
        for name, feed in self._feeds.items():
            feed.check_state(state["feeds"][name])

    def _check_alike(self) -> None:
        """Once, and where the process group was not overruled."""
        if self._given is None:
            sizes = {name: feed.batch_size for name, feed in self._feeds.items()}
            shares = {name: round(share, 9) for name, share in self._draws.shares().items()}
            settings = {"batch_size": sizes, "floor": self._draws.floor, "weights": shares}
            tasks = {"tasks": list(self._feeds), "hold": self.hold}
            check_alike({**tasks, **self._identity(), **settings, "step": self.step})
        self._alike = True

    def _check_feeds(self, datasets: Mapping[str, Any], batch_size: int | None) -> None:
        loaders = [name for name in datasets if isinstance(datasets[name], DataLoader)]
        if loaders and self.batches == "mixed":
            raise ConfigError(
                f"Mixed batches are made of single examples, and {loaders[0]!r} is a `DataLoader`. "
                f"Pass its dataset, and batch_size."
            )
        if len(loaders) == len(datasets) and batch_size is not None:
            raise ConfigError(
                "`batch_size` has no effect on `DataLoader`s, which have their own; leave it out."
            )
        for name in self._draws.names:
            if self._steps is None and self._feeds[name].steps(1) is None:
                raise ConfigError(
                    f"`steps` is missing: how many examples {name!r} has is not known, so a loop "
                    "would not know where to end. Pass steps=1000, say."
                )
        for name, feed in self._feeds.items():
            if isinstance(feed, Batched):
                feed.check(self.processes, name=name)


def _names(datasets: Mapping[str, Any]) -> list[str]:
    if not hasattr(datasets, "keys"):
        raise DataError(
            f"`datasets` must be datasets by name; got {type(datasets).__name__}. Pass "
            '{"task": dataset, …}.'
        )
    names = names_of(list(datasets.keys()), what="`datasets`")
    if not names:
        raise DataError("There must be at least one dataset; got none.")
    return names


def _check_targets(datasets: Mapping[str, Any], weights: Weights) -> None:
    targets = list(weights.target) if isinstance(weights, Weighting) else []
    sources = {name: datasets[name] for name in datasets if name not in targets}
    for name in targets:
        if name in datasets:
            check_target(datasets[name], name=name, sources=sources)


def _trained(names: list[str], weights: Weights) -> list[str]:
    """Those that are drawn: all but a target that has no weight, which is only measured."""
    shares = shares_of(weights)
    target = weights.target if isinstance(weights, Weighting) else {}
    trained = [name for name in names if name in shares or name not in target]
    check_tasks(shares, trained)
    return trained
