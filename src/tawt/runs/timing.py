"""How long the steps of a run take: training that the clock ends, and of which nothing is left."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.errors import Interrupted
from tawt.runs.building import build_parts
from tawt.training import train
from tawt.training.devices import accelerator_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from tawt.config.schema import RunConfig


@dataclass(frozen=True)
class Timed:
    """Seconds of a training."""

    step: float
    """Of one step."""
    spent: float
    """Of all of them."""


def time_steps(
    config: RunConfig,
    *,
    device: str,
    seconds: float,
    rounds_of: int,
    should_stop: Callable[[], bool],
) -> Timed:
    """Train until whole rounds of steps have been timed for long enough.

    The first round is left out: it is always slow.

    Args:
        config: Of a run that would take longer.
        device: "auto", "cpu", "cuda" or "cuda:N".
        seconds: Long enough.
        rounds_of: Steps of a round, such as those from one update of weights to the next.
        should_stop: Asked after every step.

    Raises:
        Interrupted: It was asked to stop before.
    """
    parts = build_parts(config)
    clock = Clock(seconds=seconds, rounds_of=rounds_of, should_stop=should_stop)
    try:
        train(
            parts.model,
            tasks=parts.tasks,
            target=config.target,
            paradigm=parts.paradigm,
            weighting=parts.weighting,
            settings=config.training,
            seed=config.seed,
            accelerator=accelerator_for(config.training.precision, device=device),
            should_stop=clock,
        )
    except Interrupted:
        if not clock.enough:  # it was not the clock that ended it
            raise
    return clock.timed()


class Clock:
    """Asks a training to stop when it has been timed for long enough; arguments as `time_steps`."""

    def __init__(self, *, seconds: float, rounds_of: int, should_stop: Callable[[], bool]) -> None:
        self._seconds = seconds
        self._rounds_of = rounds_of
        self._asked = should_stop
        self._began = time.perf_counter()
        self._times: list[float] = []

    def __call__(self) -> bool:
        """Whether to stop, asked after a step."""
        self._times.append(time.perf_counter())
        return self.enough or self._asked()

    @property
    def enough(self) -> bool:
        """Whether whole rounds of steps were timed, after the first."""
        steps, size = len(self._times), self._rounds_of
        rounds = steps >= 2 * size and steps % size == 0
        return rounds and self._times[-1] - self._times[size - 1] >= self._seconds

    def timed(self) -> Timed:
        """What the steps took."""
        timed = self._times[-1] - self._times[self._rounds_of - 1]
        step = timed / (len(self._times) - self._rounds_of)
        return Timed(step, self._times[-1] - self._began)
