"""How many steps each run takes, so that all of them fit the budget."""

from __future__ import annotations

import heapq
from dataclasses import asdict, dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tawt.durations import duration
from tawt.errors import ConfigError
from tawt.mix.amounts import MixBudget, short
from tawt.mix.speed import Speed
from tawt.mix.study import proxy
from tawt.training.passes import most_passes, why_unlimited
from tawt.training.rounds import update_steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.config.schema import RunConfig
    from tawt.mix.study import MixStudy, Unit

FEWEST_STEPS = 50
"""A run of fewer says nothing about a mixture."""
_MOST = 10**9
_FIRST = 20
"""The first updates are no more than this part of a run apart: weights that were moved a handful of
times have not gone anywhere."""


@dataclass(frozen=True)
class Pace:
    """How far apart updates of weights are, as the configuration says."""

    every: int | None
    """Steps between the first of them; by default one update is due, at the end."""
    growth: float
    """How many steps there are between later ones, as a share of all steps so far."""

    def first(self, steps: int) -> int:
        """Steps between the first updates of a run: fewer, if it is short for what is given.

        Args:
            steps: Of the run.

        Example:
            >>> Pace(25, growth=0.25).first(1000), Pace(25, growth=0.25).first(100)
            (25, 5)
        """
        return min(self.every or steps, max(1, steps // _FIRST))

    def updates(self, steps: int) -> int:
        """How many updates a run has.

        Args:
            steps: Of the run.

        Example:
            >>> Pace(5, growth=0.0).updates(100), Pace(5, growth=0.25).updates(100)
            (20, 11)
        """
        every = self.first(steps)
        if not self.growth:  # of which there may be millions
            return steps // every
        due = update_steps(every, growth=self.growth)
        return sum(1 for _ in takewhile(lambda step: step <= steps, due))


@dataclass(frozen=True, kw_only=True)
class ProxyPlan:
    """The length of the runs, which is decided once and kept in the folder."""

    budget: str | None
    """As it was given; none where the configuration says how long runs are."""
    steps: int
    update_every: int
    unit: Unit
    per_step: float
    """How much a step trains on, in `unit`."""
    speed: Speed
    update_growth: float = 0.0

    @property
    def amount(self) -> float:
        """How much a run trains on, in `unit`."""
        return self.steps * self.per_step

    def applied(self, study: MixStudy) -> RunConfig:
        """The configuration that all runs share."""
        return proxy(study.config, steps=self.steps, update_every=self.update_every)

    def seconds(self, learns: Sequence[bool], *, workers: int) -> float:
        """How long runs take.

        Args:
            learns: Of each run, in the order in which they are begun: whether its weights move.
            workers: Runs at a time.
        """
        pace = Pace(self.update_every, self.update_growth)
        return _seconds(self.speed, self.steps, learns, workers, pace)

    def in_words(self, learns: Sequence[bool], *, workers: int) -> str:
        """What is about to be done.

        Args:
            learns: As for `seconds`.
            workers: Runs at a time.
        """
        runs, count = len(learns), f"{len(learns)} run{'s' if len(learns) > 1 else ''}"
        return (
            f"{count} of {self.steps:,} steps ({short(self.amount)} {self.unit} each, "
            f"{short(runs * self.amount)} in all): about "
            f"{duration(self.seconds(learns, workers=workers))}."
        )

    def remark(self, study: MixStudy) -> str | None:
        """A sentence, if the usual limit on passes cannot be kept in so many steps."""
        shared = self.applied(study).training
        return why_unlimited(study.examples, shared, batch_size=shared.batch_size)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> ProxyPlan:
        """Inverse of `to_json`."""
        return cls(**{**values, "speed": Speed(**values["speed"])})


def planned(
    study: MixStudy,
    *,
    budget: MixBudget | None,
    learns: Sequence[bool],
    workers: int,
    speed: Speed,
    spent: float = 0.0,
) -> ProxyPlan:
    """The longest runs that fit the budget.

    Args:
        study: What is trained.
        budget: For all runs; as long as the configuration says by default.
        learns: Of each run, in the order in which they are begun: whether its weights move.
        workers: Runs at a time.
        speed: Of this machine.
        spent: Seconds of the budget that are gone.

    Raises:
        ConfigError: They would be too short to say anything.
    """
    settings = study.config.training
    pace = Pace(settings.update_every, settings.update_growth)
    steps = counted_steps(study, budget=budget, runs=len(learns))
    if steps is None:
        assert budget is not None
        assert budget.seconds is not None
        left = budget.seconds - spent
        steps = _allowed(study, _fitting(left, speed, learns, workers, pace))
        needed = spent + _seconds(speed, FEWEST_STEPS, learns, workers, pace)
        remedy = f"give at least --budget {round(needed) + 1}s, or fewer --seeds"
        _check_length(steps, runs=len(learns), remedy=remedy)
    return ProxyPlan(
        budget=None if budget is None else budget.text,
        steps=steps,
        update_every=pace.first(steps),
        update_growth=pace.growth,
        unit=study.unit,
        per_step=study.per_step,
        speed=speed,
    )


def counted_steps(study: MixStudy, *, budget: MixBudget | None, runs: int) -> int | None:
    """Steps of a run, where no clock decides; otherwise none.

    Args:
        study: What is trained.
        budget: For all runs; as long as the configuration says by default.
        runs: How many there are.

    Raises:
        ConfigError: They would be too few to say anything.
    """
    if budget is None:
        steps = study.config.training.steps or study.config.epochs * study.epoch
        _check_passes(study, steps)
        remedy = "raise `training.steps`, or give a --budget"
    elif budget.tokens is None:
        return None
    elif study.unit == "tokens":
        steps = _allowed(study, int(budget.tokens / runs / study.per_step))
        needed = FEWEST_STEPS * study.per_step * runs
        remedy = f"give at least --budget {short(needed)}, or fewer --seeds"
    else:
        raise ConfigError(
            f"--budget {budget.text} is a number of tokens, and this data is not counted in "
            "tokens; give a time, such as 10m."
        )
    _check_length(steps, runs=runs, remedy=remedy)
    return steps


def makespan(durations: Sequence[float], *, workers: int) -> float:
    """How long work takes that is begun in this order, each piece by the first who is free.

    Args:
        durations: Of the pieces.
        workers: That work side by side.

    Example:
        >>> makespan([3.0, 2.0, 2.0, 2.0], workers=2)
        5.0
    """
    ends = [0.0] * max(1, workers)
    for each in durations:
        heapq.heapreplace(ends, ends[0] + each)
    return max(ends)


def _check_length(steps: int, *, runs: int, remedy: str) -> None:
    if steps < FEWEST_STEPS:
        raise ConfigError(
            f"The runs, {runs} in all, would have fewer than {FEWEST_STEPS} steps each, which say "
            f"nothing about a mixture; {remedy}."
        )


def _seconds(speed: Speed, steps: int, learns: Sequence[bool], workers: int, pace: Pace) -> float:
    updates = pace.updates(steps)
    durations = [speed.of_run(steps, updates=updates if each else 0) for each in learns]
    return speed.start + makespan(durations, workers=workers)


def _fitting(seconds: float, speed: Speed, learns: Sequence[bool], workers: int, pace: Pace) -> int:
    """The largest number of steps whose runs take no longer, by bisection; 0 if too few do."""
    fits, beyond = 0, FEWEST_STEPS
    while beyond < _MOST and _seconds(speed, beyond, learns, workers, pace) <= seconds:
        fits, beyond = beyond, 2 * beyond
    while beyond - fits > 1:
        middle = (fits + beyond) // 2
        if _seconds(speed, middle, learns, workers, pace) <= seconds:
            fits = middle
        else:
            beyond = middle
    return fits


def _allowed(study: MixStudy, steps: int) -> int:
    """No more than a given `most_passes` leaves text for: a budget need not be spent."""
    settings = study.config.training
    if settings.most_passes is None or settings.most_passes == "usual":
        return steps
    there = settings.most_passes * sum(study.examples.values())
    return min(steps, int(there / settings.batch_size))


def _check_passes(study: MixStudy, steps: int) -> None:
    shared = proxy(study.config, steps=steps, update_every=1).training
    most_passes(study.examples, shared, batch_size=shared.batch_size)
