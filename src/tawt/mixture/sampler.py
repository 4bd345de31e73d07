"""A batch sampler for loaders of one's own, by weights that may move."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from torch.utils.data import Sampler

from tawt.errors import DataError, TrainingError, is_whole
from tawt.given import names_of
from tawt.mixture.course import Course
from tawt.mixture.draws import Draw, TaskDraws, Weights, check_tasks, shares_of
from tawt.mixture.log import DrawLog
from tawt.mixture.orders import Order
from tawt.mixture.processes import Processes, check_alike, checked, group
from tawt.mixture.settings import check_count, check_settings
from tawt.mixture.states import (
    VERSION,
    check_counts,
    check_draw,
    check_list,
    check_parts,
    check_state,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tawt.mixture.orders import Indices
    from tawt.mixture.settings import Batches


class MixtureSampler(Sampler[list[int]]):
    """Batches of positions in several datasets laid end to end, drawn by weight.

    For `DataLoader(ConcatDataset(datasets), batch_sampler=…)` or a `TaggedExamples`, alone or
    prepared by Accelerate. All batches are full, and examples of a task come once in each pass.

    A loader with workers draws batches ahead, so a weight that moves counts from the first step
    that was not drawn yet. Pass the number of steps that were really trained to `state_dict`: it
    keeps what was drawn beyond them, and a loader that fetches equally far ahead goes on exactly.

    Args:
        sizes: Number of examples of each dataset, in the order in which they are laid end to end.
        weights: A weighting such as `TargetAware`, `SourceWeights`, or numbers by name; read for
            every step.
        batch_size: Examples in a batch.
        steps: Of one epoch; by default about a pass over all examples.
        batches: "one task" or "mixed": whether the task is drawn for a step or for each example.
        seed: Of tasks and orders.
        floor: Least probability of drawing a task; see `Mixture`.
        hold: How many steps in a row keep their task: the batches that one step of an optimiser
            accumulates, for its gradient to be that of one task.
        processes: How many share a step; by default those of torch's process group. Accelerate
            hands out a batch to each in turn, so that many in a row are of one task. With its
            `split_batches` pass 1, and the batch size of all together.
        process: Which of them this is, to yield its own batches only, as `DistributedSampler`
            does; by default it yields those of all, as Accelerate expects.

    Example:
        >>> sampler = MixtureSampler({"a": 4, "b": 2}, {"a": 0, "b": 1}, batch_size=2, seed=0)
        >>> [sorted(batch) for batch in sampler], sampler.task_of(5)
        ([[4, 5], [4, 5], [4, 5]], 'b')
    """

    drop_last = False

    def __init__(  # noqa: PLR0913 - one subject and its settings, all but two by name
        self,
        sizes: Mapping[str, int],
        weights: Weights,
        *,
        batch_size: int,
        steps: int | None = None,
        batches: Batches = "one task",
        seed: int = 0,
        floor: float = 0.0,
        hold: int = 1,
        processes: int | None = None,
        process: int | None = None,
    ) -> None:
        super().__init__()
        check_count(batch_size, what="batch_size")
        check_settings(batch_size=batch_size, steps=steps, batches=batches, seed=seed, hold=hold)
        self.sizes = _checked_sizes(sizes)
        self.batch_size = batch_size
        self.batches = batches
        self.seed = seed
        self.hold = hold
        self._own = process is not None
        self._given = checked(process, processes)
        self._steps = steps
        check_tasks(shares_of(weights), list(self.sizes))
        self._draws = TaskDraws(weights, names=list(self.sizes), seed=seed, floor=floor)
        self._orders = {
            name: Order(size, seed=seed, purpose=("mixture", "train", name))
            for name, size in self.sizes.items()
        }
        ends = accumulate(self.sizes.values())
        self.offsets = {
            name: end - self.sizes[name] for name, end in zip(self.sizes, ends, strict=True)
        }
        self._taken = dict.fromkeys(self.sizes, 0)
        self._course = Course()
        self._log = DrawLog()
        self._skipped = 0
        self._alike = False

    @property
    def step(self) -> int:
        """How many steps were drawn so far; a loader with workers is ahead of training."""
        return self._course.step

    @property
    def processes(self) -> Processes:
        """Which of the processes this is, and how many share a step."""
        return self._given or group()

    @property
    def steps(self) -> int:
        """Steps of one epoch."""
        if self._steps is not None:
            return self._steps
        whole = self.batch_size * self.processes.count
        return sum(-(-size // whole) for size in self.sizes.values())

    def __len__(self) -> int:
        """Batches of one epoch: those of all processes, or of this one if `process` was given."""
        return self.steps * (1 if self._own else self.processes.count)

    def task_of(self, index: int) -> str:
        """Whose example is at a position."""
        names = list(self.offsets)
        return names[bisect_right(list(self.offsets.values()), index) - 1]

    def probabilities(self) -> dict[str, float]:
        """With which each task would be drawn now."""
        return self._draws.probabilities()

    def drawn(self, step: int) -> Draw:
        """What was drawn for a step, counted from 0 over all epochs; of the recent ones."""
        return self._log[step]

    def __iter__(self) -> Iterator[list[int]]:
        """The batches that are left of an epoch, or those of a new one."""
        if not self._alike:
            self._check_alike()
        skipped, self._skipped = self._skipped, 0
        return self._yielded(skipped, self._course.loop(self.steps))

    def state_dict(self, step: int | None = None) -> dict[str, Any]:
        """Where it is, JSON-able.

        Args:
            step: How many steps were trained; by default all that were drawn. The tasks that a
                loader drew ahead of that are kept and drawn again.
        """
        last = self._course.step
        at = last if step is None else step
        if not (is_whole(at) and 0 <= at <= last):
            raise TrainingError(
                f"`step` must be between 0 and the {last} steps that were drawn; got {step!r}."
            )
        ahead = [self._log[number] for number in range(at, last)]
        taken = dict(self._taken)
        for draw in ahead:
            for name, count in self._counts(draw).items():
                taken[name] -= count
        begun = self._course.begun if self._course.begun <= at else self._course.begun - self.steps
        held = self._log.recorded(at - 1, 1) if at % self.hold else None
        return {
            **self._identity(),
            **({} if self.hold == 1 else {"held": None if held is None else _plain(held)}),
            "step": int(at),
            "begun": int(at) if at == begun + self.steps else begun,
            "taken": taken,
            "ahead": [_plain(draw) for draw in ahead],
        }

    def load_state_dict(self, state: Mapping[str, Any], *, skipped: int = 0) -> None:
        """Go on exactly from a saved state, with any number of processes.

        Args:
            state: From `state_dict`.
            skipped: How many batches of each process the caller will throw away first, as
                Accelerate's `skip_first_batches` does. So many are then yielded before those that
                come next, with positions that mean nothing.

        Raises:
            TrainingError: It is not a state of this mixture; nothing has changed then.
        """
        self._check_state(state)
        self._course.load(state["step"], state["begun"])
        self._alike = False
        self._taken = {name: state["taken"][name] for name in self.sizes}
        known = ([] if state.get("held") is None else [state["held"]]) + list(state["ahead"])
        draws = [Draw(tuple(draw["tasks"]), dict(draw["factors"])) for draw in known]
        self._log = DrawLog(ahead=draws, step=state["step"] + len(state["ahead"]) - len(draws))
        self._skipped = skipped

    def _yielded(self, skipped: int, steps: Iterator[int]) -> Iterator[list[int]]:
        for _ in range(skipped * (1 if self._own else self.processes.count)):
            yield [0] * self.batch_size
        for step in steps:
            batches = self._batches(step)
            yield from [batches[self.processes.index]] if self._own else batches

    def _batches(self, step: int) -> list[list[int]]:
        """One for each process."""
        whole = self.batch_size * self.processes.count
        count = 1 if self.batches == "one task" else whole
        draw = self._known(step, count) or self._draws.draw(step // self.hold, count=count)
        self._log.add(step, draw)
        windows = {name: iter(self._window(name, n)) for name, n in self._counts(draw).items()}
        tasks = draw.tasks * (whole // count)
        found = [self.offsets[task] + int(next(windows[task])) for task in tasks]
        return [
            found[start : start + self.batch_size] for start in range(0, whole, self.batch_size)
        ]

    def _known(self, step: int, count: int) -> Draw | None:
        """What was drawn for a step before, or for the group of steps that it goes on with."""
        known = self._log.recorded(step, count)
        if known is None and step % self.hold:
            return self._log.recorded(step - 1, count)
        return known

    def _window(self, name: str, count: int) -> Indices:
        self._taken[name] += count
        return self._orders[name].window(self._taken[name] - count, count)

    def _counts(self, draw: Draw) -> dict[str, int]:
        """How many examples of each task a step takes, all processes together."""
        if self.batches == "one task":
            return {draw.tasks[0]: self.batch_size * self.processes.count}
        return {name: draw.tasks.count(name) for name in dict.fromkeys(draw.tasks)}

    def _identity(self) -> dict[str, Any]:
        """What must be the same for a state to be loaded, and on every process."""
        seed, sizes = int(self.seed), dict(self.sizes)
        hold = {} if self.hold == 1 else {"hold": int(self.hold)}
        kind = {"version": VERSION, "seed": seed, "sizes": sizes, "batches": self.batches}
        return {**kind, **hold}

    def _check_state(self, state: Mapping[str, Any]) -> None:
        names = list(self.sizes)
        check_state(state, self._identity())
        check_parts(state, ["taken", "ahead"], what="the state")
        check_counts(state["taken"], names, what="`taken`")
        check_list(state["ahead"], what="`ahead`")
        for draw in state["ahead"]:
            check_draw(draw, names, what="`ahead`")
        if state.get("held") is not None:
            check_draw(state["held"], names, what="`held`")

    def _check_alike(self) -> None:
        """Once, and where the process group was not overruled."""
        if self._given is None:
            shares = {name: round(share, 9) for name, share in self._draws.shares().items()}
            settings = {"batch_size": self.batch_size, "steps": self.steps, "step": self.step}
            settings |= {"hold": self.hold}
            order = {"tasks": list(self.sizes), "floor": self._draws.floor, "weights": shares}
            check_alike({**order, **self._identity(), **settings})
        self._alike = True


def _plain(draw: Draw) -> dict[str, Any]:
    return {"tasks": list(draw.tasks), "factors": draw.factors}


def _checked_sizes(sizes: Mapping[str, int]) -> dict[str, int]:
    names = names_of(sizes, what="`sizes`")
    if not names:
        raise DataError("There must be at least one dataset; got none.")
    for name in names:
        if not is_whole(sizes[name]):
            raise DataError(
                f"`sizes` must be numbers of examples by name; {name!r} has {sizes[name]!r}. Pass "
                "{name: len(dataset), …}."
            )
        if sizes[name] < 1:
            raise DataError(
                f"The dataset {name!r} is empty; expected at least one example. Leave it out, and "
                "its weight."
            )
    return {name: int(sizes[name]) for name in names}
