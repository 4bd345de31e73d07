"""The trainings that a task distance asks for, one by one, each with a result of plain values."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tawt.distance.jackknife import pseudo_values
from tawt.distance.trained import frozen_risk
from tawt.errors import Interrupted
from tawt.streams import stream
from tawt.tasks import Task
from tawt.tasks.examples import Subset
from tawt.training import (
    JointTraining,
    Paradigm,
    PreTraining,
    Settings,
    SingleTask,
    SourcesOnly,
    train,
)
from tawt.training.devices import accelerator_for
from tawt.weighting import Fixed, UpdateRule, make_weighting

if TYPE_CHECKING:
    from tawt.distance.budgets import TrainingBudget
    from tawt.tasks import MultiTaskModel
    from tawt.training import TrainingResult
    from tawt.weighting import Weighting

What = Literal["own", "sources", "learned", "half", "alone", "with"]
ModelFor = Callable[[Sequence[Task], int], "MultiTaskModel"]
"""A new model for these tasks and this seed; the representation must not depend on the tasks."""


@dataclass(frozen=True)
class Job:
    """One training.

    | what | trains | measures |
    | --- | --- | --- |
    | `own` | φ0* on all there is of a target | frozen risk |
    | `sources` | φ̄_ω on weighted sources | frozen risk |
    | `learned` | the weights, then φ̄_ω with them | frozen risk |
    | `half` | φ̄_ω on half of each source's examples | frozen risk |
    | `alone` | the target by itself | score |
    | `with` | the target with one source | score |
    """

    what: What
    name: str
    """Of the mixture, the target or the source."""
    weights: tuple[tuple[str, float], ...] = ()
    """ω, of mixtures."""


@dataclass(frozen=True, kw_only=True)
class Workshop:
    """What one seed's trainings need.

    Args:
        model_for: Makes models.
        tasks: Sources and target, by name, as they are trained on.
        target: Name of the task that counts.
        measured: By name, the tasks that frozen risk is measured on; each has held-out examples.
        whole: By name, all that there is of a task, for φ0*; its training examples by default.
        budget: How long trainings last.
        paradigm: In which sources have to prove themselves; joint training by default.
        rule: By which weights are learned.
        settings: Of all trainings.
        seed: Of all trainings.
        device: Where to train.
        should_stop: Asked after every step, and every pass that measures.
    """

    model_for: ModelFor
    tasks: Mapping[str, Task]
    target: str
    measured: Mapping[str, Task]
    whole: Mapping[str, Task] = field(default_factory=dict)
    budget: TrainingBudget
    paradigm: PreTraining | JointTraining | None = None
    rule: UpdateRule | None = None
    settings: Settings
    seed: int = 0
    device: str = "auto"
    should_stop: Callable[[], bool] | None = None

    def done(self, job: Job) -> dict[str, Any]:
        """Do it, and say what came out, and in how many seconds."""
        began = time.perf_counter()
        doing = self._scored if job.what in ("alone", "with") else self._represented
        return {**doing(job), "seconds": round(time.perf_counter() - began, 3)}

    def _represented(self, job: Job) -> dict[str, Any]:
        """Train a representation, freeze it, and measure what heads reach on it."""
        weights = dict(job.weights)
        if job.what == "own":
            model = self._on_itself(job.name)
        else:
            if job.what == "learned":
                weights = self._learned(weights)
            tasks = [_bare(self.tasks[name]) for name in weights]
            epochs = self.budget.epochs
            if job.what == "half":  # of the examples, not of the steps
                tasks, epochs = [_halved(task, self.seed) for task in tasks], 2 * epochs
            model, _ = self._on_sources(tasks, Fixed(list(weights), initial=weights), epochs)
        frozen = {
            name: frozen_risk(model.representation, task, on_pass=self._check)
            for name, task in self.measured.items()
        }
        return {"weights": weights, "risks": {name: asdict(each) for name, each in frozen.items()}}

    def _check(self, passes: float) -> None:
        """Stop if that is asked for: heads on large tasks take long too."""
        if self.should_stop is not None and self.should_stop():
            raise Interrupted("Stopped as asked.")

    def _on_itself(self, name: str) -> MultiTaskModel:
        """φ0* of a task, from all that there is of it."""
        task = self.whole.get(name) or self.tasks[name]
        others = [each for each in self.measured.values() if each.name != name]
        model = self.model_for([task, *others], self.seed)
        passes = SingleTask(epochs=self.budget.own(len(task.train)))
        self._trained(model, [_bare(task)], task.name, passes, None)
        return model

    def _learned(self, start: Mapping[str, float]) -> dict[str, float]:
        """ω where target-aware training on the sources ends."""
        weighting = make_weighting(
            "target-aware",
            sources=list(start),
            target=self.target,
            target_share=None,
            initial=dict(start),
            rule=self.rule,
        )
        sources = [_bare(self.tasks[name]) for name in start]
        return self._on_sources(sources, weighting, self.budget.epochs)[1]

    def _on_sources(
        self, sources: Sequence[Task], weighting: Weighting, epochs: int
    ) -> tuple[MultiTaskModel, dict[str, float]]:
        """φ̄_ω, and ω."""
        tasks = [*sources, _bare(self.tasks[self.target])]
        known = {task.name for task in tasks}
        others = [each for each in self.measured.values() if each.name not in known]
        model = self.model_for([*tasks, *others], self.seed)
        found = self._trained(model, tasks, self.target, SourcesOnly(epochs=epochs), weighting)
        return model, found.weights

    def _scored(self, job: Job) -> dict[str, Any]:
        """Train the target, with a source or without, and score it on held-out examples."""
        target = self.tasks[self.target]
        tasks, paradigm, weighting = [target], self._alone(), None
        if job.what == "with":
            tasks = [_bare(self.tasks[job.name]), target]
            paradigm = self._beside(len(tasks[0].train))
            weighting = _plain(paradigm, tasks)
        model = self.model_for(tasks, self.seed)
        found = self._trained(model, tasks, self.target, paradigm, weighting)
        splits = found.predictions[self.target]
        held_out = splits["test" if "test" in splits else "dev"]
        metric = found.metric[self.target]
        return {
            "metric": metric,
            "score": held_out.scores[metric],
            "examples": pseudo_values(
                lambda gold, predicted: target.kind.scores(gold, predicted)[metric],
                held_out.gold,
                held_out.predicted,
            ),
        }

    def _alone(self) -> Paradigm:
        """As many steps on the target as beside a source."""
        if isinstance(self.paradigm, PreTraining):
            return SingleTask(epochs=self.paradigm.fine_tune_epochs)
        after = self.paradigm.fine_tune_epochs if self.paradigm is not None else 0
        return SingleTask(epochs=self.budget.alone + after)

    def _beside(self, size: int) -> Paradigm:
        """As many steps for every source."""
        if isinstance(self.paradigm, PreTraining):
            return self.paradigm
        joint = self.paradigm or JointTraining()
        return replace(joint, epochs=self.budget.joint(size))

    def _trained(
        self,
        model: MultiTaskModel,
        tasks: Sequence[Task],
        target: str,
        paradigm: Paradigm,
        weighting: Weighting | None,
    ) -> TrainingResult:
        settings = self.settings
        # Without a dev set there is nothing to choose by; and if it is all that is held out, what
        # it chose it cannot judge.
        if tasks[-1].dev is None or tasks[-1].test is None:
            settings = replace(settings, select="last", patience=None)
        if isinstance(paradigm, JointTraining):  # half of the steps are to be the target's
            settings = replace(settings, sampling="weight")
        return train(
            model,
            tasks=tasks,
            target=target,
            paradigm=paradigm,
            weighting=weighting,
            settings=settings,
            seed=self.seed,
            accelerator=accelerator_for(settings.precision, device=self.device),
            should_stop=self.should_stop,
        )


def _bare(task: Task) -> Task:
    """Without held-out examples, on which nothing would be decided."""
    return replace(task, dev=None, test=None)


def _halved(task: Task, seed: int) -> Task:
    """Half of its training examples, at random."""
    size = len(task.train)
    order = stream(seed, "distance", task.name, "half").permutation(size)
    return replace(task, train=Subset(task.train, np.sort(order[: max(1, size // 2)])))


def _plain(paradigm: Paradigm, tasks: Sequence[Task]) -> Weighting:
    """Source and target count the same: a small target would drown beside its source's examples."""
    joint = any(phase.trains_on == "sources and target" for phase in paradigm.phases())
    return Fixed([task.name for task in (tasks if joint else tasks[:-1])])
