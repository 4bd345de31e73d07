"""How long a step takes where the runs will be made, measured for a few seconds."""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tawt import files
from tawt.config.rows import ROWS
from tawt.mix.study import EQUAL, LEARNED, proxy
from tawt.runs.timing import time_steps
from tawt.sweeps import RecordStore, Work
from tawt.sweeps.work import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from tawt.config.schema import RunConfig
    from tawt.mix.study import MixStudy
    from tawt.runs.timing import Timed
    from tawt.sweeps import Context, Executor, Sweep

_SECONDS = 2.0  # of each of two trainings
_EVERY = 5  # steps between updates while they are measured
_ENDLESS = 1_000_000_000  # steps; the clock ends them
_OF_A_STEP = 1 / 3  # what a forward pass takes of a step


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Seconds that the parts of a run take."""

    step: float
    update: float
    """Of learned weights."""
    around: float
    """Reading the data, making the model, scoring: once a run."""
    start: float = 0.0
    """Starting the processes: once."""

    def of_run(self, steps: int, *, updates: int) -> float:
        """Seconds of a whole run.

        Args:
            steps: That it takes.
            updates: Of its weights; none where they are fixed.

        Example:
            >>> Speed(step=0.01, update=0.1, around=2.0).of_run(100, updates=10)
            4.0
        """
        return self.around + steps * self.step + updates * self.update


@dataclass(frozen=True)
class MeasureSpeed:
    """Trains for a few seconds, without and with updates, and leaves how long a step took."""

    study: MixStudy
    path: Path
    device: str

    def __call__(self, context: Context) -> None:
        """Measure; as many at a time as runs will be."""
        began = time.perf_counter()
        base = timed_config(self.study.config)
        seed = base.seed
        plain = self._step(ROWS[EQUAL].applied(base, seed=seed), context.should_stop)
        updated = self._step(ROWS[LEARNED].applied(base, seed=seed), context.should_stop)
        held_out = self.study.held_out
        scored = held_out.get("test", 0) + 2 * held_out.get("dev", 0)  # dev after the epoch too
        built = time.perf_counter() - began - plain.spent - updated.spent
        speed = Speed(
            step=plain.step,
            update=_EVERY * max(0.0, updated.step - plain.step),
            around=built / 2 + scored / base.training.batch_size * plain.step * _OF_A_STEP,
        )
        files.write_json(self.path, asdict(speed))

    def _step(self, config: RunConfig, should_stop: Callable[[], bool]) -> Timed:
        return time_steps(
            config,
            device=self.device,
            seconds=_SECONDS,
            rounds_of=_EVERY,
            should_stop=should_stop,
        )


def timed_config(config: RunConfig) -> RunConfig:
    """What is trained while it is timed: without end, with an update after every few steps.

    An update takes what it takes in the runs: as many examples of each source and of the target.

    Args:
        config: Of a study.
    """
    base = proxy(config, steps=_ENDLESS, update_every=_EVERY)
    training = replace(base.training, most_passes=None, update_growth=0.0)
    return base.model_copy(update={"training": training})


def measured_speed(
    study: MixStudy, *, device: str, sweep: Sweep, executor: Executor | None, runs: int
) -> Speed:
    """The speed where the runs will be made, with as many at a time; nothing is left of it.

    Args:
        study: What is trained.
        device: Where.
        sweep: How runs will be made.
        executor: Where work is done; in worker processes by default.
        runs: How many there will be.
    """
    together = max(1, min(sweep.workers, runs))
    quiet = replace(sweep, on_progress=lambda progress: None)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        store = RecordStore(Path(folder), "{}.json")
        wanted = [
            Work(str(number), "the speed", MeasureSpeed(study, store.path(str(number)), device))
            for number in range(together)
        ]
        quiet.make(lambda: Plan(wanted), store, executor=executor)
        found = [Speed(**(store.find(work.key) or {})) for work in wanted]
    around = float(np.mean([speed.around for speed in found]))
    return Speed(
        step=float(np.mean([speed.step for speed in found])),
        update=float(np.mean([speed.update for speed in found])),
        around=around,
        start=max(0.0, time.perf_counter() - began - 2 * (_SECONDS + around)),
    )
