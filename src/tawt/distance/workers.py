"""One training of those that distances ask for, in a process of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.distance import Workshop
from tawt.distance.folder import trainings_in
from tawt.runs import building
from tawt.training import JointTraining, PreTraining

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.distance import Question
    from tawt.distance.budgets import TrainingBudget
    from tawt.distance.folder import Item
    from tawt.sweeps import Context
    from tawt.tasks import Task


@dataclass(frozen=True, kw_only=True)
class TrainForDistance:
    """Does one training, and leaves its outcome; only the tasks that it needs are read."""

    item: Item
    config: RunConfig
    question: Question
    budget: TrainingBudget
    device: str
    folder: Path
    """Of the distances."""

    def __call__(self, context: Context) -> None:
        """Train, measure, and keep what came out."""
        job, question = self.item.job, self.question
        sources = [name for name, _ in job.weights] or [job.name]
        config = self.config.model_copy(
            update={
                "seed": self.item.seed,
                "sources": [name for name in sources if name != question.target],
            }
        )
        tasks = {task.name: task for task in building.tasks(config)}
        scores = job.what in ("alone", "with")
        workshop = Workshop(
            model_for=lambda found, _: building.model(config, found),
            tasks=tasks,
            target=question.target,
            measured={} if scores else measured_tasks(config, question, tasks),
            whole=_whole(config, question.target) if job.what == "own" else {},
            budget=self.budget,
            paradigm=_paradigm(config),
            rule=building.rule(config.weighting),
            settings=config.training,
            seed=self.item.seed,
            device=self.device,
            should_stop=context.should_stop,
        )
        trainings_in(self.folder).keep(self.item.key, workshop.done(job))


def _paradigm(config: RunConfig) -> PreTraining | JointTraining | None:
    """In which sources have to prove themselves; none for a single task, which has no sources."""
    found = building.paradigm(config)
    return found if isinstance(found, PreTraining | JointTraining) else None


def measured_tasks(
    config: RunConfig, question: Question, tasks: Mapping[str, Task]
) -> dict[str, Task]:
    """The tasks that distances are measured to, with their held-out examples."""
    found = {question.target: tasks[question.target]}
    for name in question.measured:
        if name not in found:
            alone = config.model_copy(update={"target": name, "sources": []})
            [found[name]] = building.tasks(alone)
    return found


def _whole(config: RunConfig, target: str) -> dict[str, Task]:
    """All that there is of the target, where the configuration takes only some of it."""
    data = config.modality.whole(config.data, target)
    if data is None:
        return {}
    alone = config.model_copy(update={"data": data, "sources": []})
    return {task.name: task for task in building.tasks(alone) if task.name == target}
