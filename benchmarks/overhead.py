"""What learning the weights costs, over the same joint training with fixed weights.

Both sides are whole calls of `tawt.training.train`, taken in turns, and every step is timed. They
differ only in the steps after which an update falls due, so

    overhead = Σ over steps with an update (learned - fixed) / Σ over all steps fixed

in each repeat, and the median over the repeats is reported. The ratio of whole runs is reported
beside it as a check; on a busy machine it is the noisier of the two. On a GPU steps are timed fifty
at a time, since waiting for the device after each would hide what an update costs.

An epoch has 862 steps, and 1 or 17 updates. On a GPU a run is the paper's four epochs, with all
that is set up once; on a CPU, where nothing is, it is one epoch. For the encoder on a CPU that
takes too long, and 25 steps with one update stand for it.

Rules are the presets of a configuration: `paper` compares the target with itself, `robust` holds
its share. Two things are shown but held to no goal. Where `robust` lets the share be learned, the
target is drawn twice: the goal is for one draw a task. And an MLP on a GPU: four epochs of it take
less than a second, of which recording the passes of its updates is a large part.
"""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass, replace
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

    from tawt.training.progress import TrainingProgress
    from tawt.weighting.rule import TargetShare

_SOURCES = source_names(3)
_WHOLE = {**dict.fromkeys(_SOURCES, 9000), TARGET: 500}
_SHORT = {**dict.fromkeys(_SOURCES, 256), TARGET: 32}  # 25 steps
_BATCH = 32
_DRAWN_TWICE = "robust, share learned"


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
    epochs: int = 1
    warm_up: int = 1
    is_unbound: bool = False
    """Whether it is held to no goal."""

    @property
    def epoch(self) -> int:
        """Steps of an epoch."""
        return _steps([len(task.train) for task in self.tasks])

    @property
    def steps(self) -> int:
        """Of a run."""
        return self.epochs * self.epoch

    @property
    def is_whole(self) -> bool:
        """Whether a run has whole epochs, rather than a stretch that stands for one."""
        return self.epoch == _steps(_WHOLE.values())

    def update_every(self, regime: Regime) -> int | None:
        """Steps between updates in a run; the shortest has a single update, at its end."""
        return None if self.epoch < 50 else regime.update_every

    def updates_after(self, regime: Regime) -> list[int]:
        """The steps of a run that an update follows."""
        every = self.update_every(regime) or self.epoch
        return list(range(every, self.steps + 1, every))


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
    return Case(
        name="MLP 3 x 256",
        model=model,
        tasks=tasks,
        repeats=1 if quick else 5,
        epochs=_epochs(device, quick=quick),
        is_unbound=device.type == "cuda",
    )


def _epochs(device: torch.device, *, quick: bool) -> int:
    return 4 if device.type == "cuda" and not quick else 1


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
        repeats=1 if quick else 3,
        epochs=_epochs(device, quick=quick),
        warm_up=0 if short and device.type == "cpu" else 1,
    )


def _findings(case: Case, regime: Regime, *, device: torch.device) -> list[Finding]:
    rules: dict[str, tuple[UpdateRule, TargetShare]] = {
        "paper": (UpdateRule.paper(), "learned"),
        "robust": (UpdateRule.robust(), 0.3),
        _DRAWN_TWICE: (UpdateRule.robust(), "learned"),
    }
    weightings: dict[str, Callable[[], Weighting]] = {
        "fixed": lambda: Fixed([*_SOURCES, TARGET], initial="uniform"),
        **{name: partial(_learned, *rule) for name, rule in rules.items()},
    }
    sides = {
        name: partial(_step_times, case, regime, weighting, device)
        for name, weighting in weightings.items()
    }
    times = in_turns(sides, repeats=case.repeats, warm_up=case.warm_up)
    stamped = _stamped(case, device)
    return [
        replace(found, goal=None) if case.is_unbound or rule == _DRAWN_TWICE else found
        for rule in rules
        for found in [_compared(case, regime, rule, stamped, times["fixed"], times[rule])]
    ]


def _learned(rule: UpdateRule, share: TargetShare) -> Weighting:
    return TargetAware(
        sources=_SOURCES, target=TARGET, initial="uniform", target_share=share, rule=rule
    )


def _step_times(
    case: Case, regime: Regime, weighting: Callable[[], Weighting], device: torch.device
) -> list[float]:
    """Seconds of each stretch of `_stamped` steps."""
    stamped = set(_stamped(case, device))
    stamps: list[float] = []

    def stamp(progress: TrainingProgress) -> None:
        if progress.step in stamped:
            stamps.append(now(device))

    train(
        copy.deepcopy(case.model),
        tasks=case.tasks,
        target=TARGET,
        paradigm=JointTraining(epochs=case.epochs),
        weighting=weighting(),
        settings=Settings(
            batch_size=_BATCH,
            update_every=case.update_every(regime),
            gradient_examples=regime.gradient_examples,
        ),
        on_progress=stamp,
    )
    return [end - start for start, end in itertools.pairwise(stamps)]


def _stamped(case: Case, device: torch.device) -> list[int]:
    """The steps after which the clock is read: all, or every fiftieth on a GPU."""
    every = 1 if device.type == "cpu" else 50
    return sorted({1, *range(every, case.steps + 1, every), case.steps})


def _steps(sizes: Iterable[int]) -> int:
    return sum(-(-size // _BATCH) for size in sizes)


def _compared(
    case: Case,
    regime: Regime,
    rule: str,
    stamped: list[int],
    fixed: list[list[float]],
    learned: list[list[float]],
) -> Finding:
    measured, whole = case.steps, case.epochs * _steps(_WHOLE.values())
    updates = case.updates_after(regime)
    closing = _closing(stamped, updates)
    # The first step is not timed: it holds the set-up of the run.
    fixed_scale = whole / (measured - 1)
    update_scale = case.epochs * regime.updates(whole // case.epochs) / len(updates)

    def overhead(without: list[float], with_updates: list[float]) -> float:
        extra = sum(with_updates[place] - without[place] for place in closing)
        return 100 * extra * update_scale / (sum(without) * fixed_scale)

    typical, typical_learned = medians(fixed), medians(learned)
    extra = sum(typical_learned[place] - typical[place] for place in closing) / len(updates)
    each = [overhead(*pair) for pair in zip(fixed, learned, strict=True)]
    runs = [sum(b) / sum(a) - 1 for a, b in zip(fixed, learned, strict=True)]
    scope = f"epochs: {case.epochs}" if case.is_whole else f"{measured} steps for {whole}"
    step = sum(typical) / (measured - 1)
    note = f"step {1e3 * step:.2f} ms, update {1e3 * extra:.1f} ms; {scope}"
    if case.is_whole:
        note += f"; whole runs {100 * median(runs):+.1f}%"
    return Finding(
        benchmark="overhead",
        what=f"{case.name}: {regime.name}, rule {rule}",
        value=median(each),
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


def _closing(stamped: list[int], updates: list[int]) -> list[int]:
    """Which of the timed stretches hold an update."""
    return [
        place
        for place, (start, end) in enumerate(itertools.pairwise(stamped))
        if any(start < step <= end for step in updates)
    ]
