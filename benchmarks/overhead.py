"""What learning the weights costs, over the same joint training with fixed weights.

Both sides are whole calls of `tawt.training.train`, taken in turns, and every step is timed. They
differ only in the steps after which an update falls due, so

    overhead = Σ over steps with an update (learned - fixed) / Σ over all steps fixed,

each term the median over the repeats. The ratio of whole runs is reported beside it as a check;
on a busy machine it is the noisier of the two. On a GPU steps are timed fifty at a time, since
waiting for the device after each would hide what an update costs.

A run is an epoch: 862 steps, 1 or 17 updates, with all that is set up once. For the encoder on a
CPU an epoch takes too long, and 25 steps with one update stand for it.
"""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.data import TARGET, Shape, random_tasks, source_names
from benchmarks.finding import Finding
from benchmarks.networks import Encoder, dense
from benchmarks.timing import in_turns, medians, now
from tawt.tasks import MultiTaskModel, Task
from tawt.training import JointTraining, Settings, train
from tawt.weighting import Fixed, TargetAware, UpdateRule, Weighting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import torch

    from tawt.training.progress import Progress

_SOURCES = source_names(3)
_WHOLE = {**dict.fromkeys(_SOURCES, 9000), TARGET: 500}
_SHORT = {**dict.fromkeys(_SOURCES, 256), TARGET: 32}  # 25 steps
_BATCH = 32


@dataclass(frozen=True, kw_only=True)
class Regime:
    """How often weights are updated, from how many examples, and what it may cost."""

    name: str
    update_every: int | None
    gradient_examples: int
    goal: float

    def updates(self, steps: int) -> int:
        """Updates in an epoch of this many steps."""
        return 1 if self.update_every is None else steps // self.update_every


_REGIMES = (
    Regime(name="1 update an epoch, 64 examples", update_every=None, gradient_examples=64, goal=3),
    Regime(name="1 update in 50 steps, 16 examples", update_every=50, gradient_examples=16, goal=8),
)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model with its tasks, and how often it is measured."""

    name: str
    model: MultiTaskModel
    tasks: list[Task]
    repeats: int
    warm_up: int = 1

    @property
    def steps(self) -> int:
        """Of a run."""
        return _steps([len(task.train) for task in self.tasks])

    @property
    def is_whole(self) -> bool:
        """Whether a run is a whole epoch, rather than a stretch that stands for one."""
        return self.steps == _steps(_WHOLE.values())

    def update_every(self, regime: Regime) -> int | None:
        """Steps between updates in a run; the shortest has a single update, at its end."""
        return None if self.steps < 50 else regime.update_every

    def updates(self, regime: Regime) -> int:
        """Updates in a run."""
        every = self.update_every(regime)
        return 1 if every is None else self.steps // every


def run(*, device: torch.device, quick: bool) -> list[Finding]:
    """Every model, regime and rule."""
    return [
        finding
        for case in (
            _dense_case(device=device, quick=quick),
            _encoder_case(device=device, quick=quick),
        )
        for regime in _REGIMES
        for finding in _findings(case, regime, device=device)
    ]


def _dense_case(*, device: torch.device, quick: bool) -> Case:
    sizes = _SHORT if quick else _WHOLE
    tasks = random_tasks(sizes, shape=Shape(64))
    model = MultiTaskModel.for_tasks(dense(features=64, width=256, depth=3), tasks, width=256)
    return Case(name="MLP 3 x 256", model=model, tasks=tasks, repeats=1 if quick else 5)


def _encoder_case(*, device: torch.device, quick: bool) -> Case:
    short = quick or device.type == "cpu"
    tasks = random_tasks(_SHORT if short else _WHOLE, shape=Shape(32, vocabulary=8000))
    width, layers = (32, 1) if quick else (256, 4)
    encoder = Encoder(vocabulary=8000, width=width, layers=layers, heads=4)
    model = MultiTaskModel.for_tasks(encoder, tasks, width=width)
    return Case(
        name=f"encoder {layers} x {width}, 32 tokens",
        model=model,
        tasks=tasks,
        repeats=1 if quick else 3 if short else 5,
        warm_up=0 if short and device.type == "cpu" else 1,
    )


def _findings(case: Case, regime: Regime, *, device: torch.device) -> list[Finding]:
    rules = {"paper": UpdateRule.paper(), "robust": UpdateRule.robust()}
    weightings: dict[str, Callable[[], Weighting]] = {
        "fixed": lambda: Fixed([*_SOURCES, TARGET], initial="uniform"),
        **{name: partial(_learned, rule) for name, rule in rules.items()},
    }
    sides = {
        name: partial(_step_times, case, regime, weighting, device)
        for name, weighting in weightings.items()
    }
    times = in_turns(sides, repeats=case.repeats, warm_up=case.warm_up)
    return [_compared(case, regime, rule, times["fixed"], times[rule]) for rule in rules]


def _learned(rule: UpdateRule) -> Weighting:
    return TargetAware(
        sources=_SOURCES, target=TARGET, initial="uniform", target_share="learned", rule=rule
    )


def _step_times(
    case: Case, regime: Regime, weighting: Callable[[], Weighting], device: torch.device
) -> list[float]:
    """Seconds of each step after the first, or of each fifty on a GPU, through one epoch."""
    every = 1 if device.type == "cpu" else 50
    stamps: list[float] = []

    def stamp(progress: Progress) -> None:
        if progress.step in (1, progress.total) or progress.step % every == 0:
            stamps.append(now(device))

    train(
        copy.deepcopy(case.model),
        tasks=case.tasks,
        target=TARGET,
        paradigm=JointTraining(epochs=1),
        weighting=weighting(),
        settings=Settings(
            batch_size=_BATCH,
            update_every=case.update_every(regime),
            gradient_examples=regime.gradient_examples,
        ),
        on_progress=stamp,
    )
    return [end - start for start, end in itertools.pairwise(stamps)]


def _steps(sizes: Iterable[int]) -> int:
    return sum(-(-size // _BATCH) for size in sizes)


def _compared(
    case: Case,
    regime: Regime,
    rule: str,
    fixed: list[list[float]],
    learned: list[list[float]],
) -> Finding:
    measured, whole = case.steps, _steps(_WHOLE.values())
    every = case.update_every(regime)
    closing = _closing(len(fixed[0]), every, steps=measured)
    # The first step is not timed: it holds the set-up of the run.
    fixed_scale = whole / (measured - 1)
    update_scale = regime.updates(whole) / case.updates(regime)

    def overhead(without: list[float], with_updates: list[float]) -> float:
        extra = sum(with_updates[place] - without[place] for place in closing)
        return 100 * extra * update_scale / (sum(without) * fixed_scale)

    typical, typical_learned = medians(fixed), medians(learned)
    extra = sum(typical_learned[place] - typical[place] for place in closing) / len(closing)
    each = [overhead(*pair) for pair in zip(fixed, learned, strict=True)]
    runs = [sum(b) / sum(a) - 1 for a, b in zip(fixed, learned, strict=True)]
    scope = "a whole epoch" if case.is_whole else f"{measured} steps for {whole}"
    step = sum(typical) / (measured - 1)
    note = f"step {1e3 * step:.2f} ms, update {1e3 * extra:.1f} ms; {scope}"
    if case.is_whole:
        note += f"; whole runs {100 * median(runs):+.1f}%"
    return Finding(
        benchmark="overhead",
        what=f"{case.name}: {regime.name}, rule {rule}",
        value=overhead(typical, typical_learned),
        unit="%",
        goal=regime.goal,
        spread=(min(each), max(each)),
        note=note,
        numbers={
            "step_seconds": step,
            "update_seconds": extra,
            "steps_measured": measured - 1,
            "steps_of_an_epoch": whole,
            "overhead_percent_by_repeat": each,
            "whole_run_overhead_percent_by_repeat": [100 * ratio for ratio in runs],
            "fixed_seconds_by_repeat": [sum(times) for times in fixed],
            "learned_seconds_by_repeat": [sum(times) for times in learned],
        },
    )


def _closing(stretches: int, every: int | None, *, steps: int) -> list[int]:
    """Which of the timed stretches hold an update."""
    if every is None:
        return [stretches - 1]
    if stretches < steps - 1:  # timed fifty at a time, each with its update, and a rest without
        return list(range(steps // every))
    return [step - 2 for step in range(every, steps + 1, every)]
