"""The task distances of a configuration: many trainings, kept one by one, and what follows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tawt.distance import Estimates, Question, SampleSizes, answered, estimated
from tawt.distance.effort import Effort, StudyProgress
from tawt.distance.folder import (
    DistanceFolder,
    Item,
    KeptEstimates,
    trainings_in,
    with_numbers,
)
from tawt.distance.measuring import mean_weights
from tawt.distance.partial import so_far
from tawt.distance.trained import held_out
from tawt.distance.workers import TrainForDistance, measured_tasks
from tawt.errors import ConfigError, DataError, Interrupted
from tawt.runs import building
from tawt.runs.record import circumstances
from tawt.sweeps import Plan, Work
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import torch

    from tawt.config.schema import RunConfig
    from tawt.distance.budgets import TrainingBudget
    from tawt.distance.measuring import Outcomes
    from tawt.sweeps import Progress, Sweep
    from tawt.tasks import MultiTaskModel, Task


@dataclass(frozen=True, kw_only=True)
class DistanceRequest:
    """What is to be found out."""

    weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """More mixtures, by a name."""
    seeds: Sequence[int] = (0, 1, 2)
    training: bool = True
    """Whether to train; otherwise there are estimates only."""
    matrix: bool = False
    """Whether every task is to be measured from every other."""
    sizes: SampleSizes = field(default_factory=SampleSizes)
    """Of the samples that estimates are made from."""


@dataclass(frozen=True, kw_only=True)
class DistanceStudy:
    """A question with all that was read to answer it."""

    config: RunConfig
    request: DistanceRequest
    question: Question
    tasks: Mapping[str, Task]
    measured: Mapping[str, Task]
    """The tasks that distances are measured to, with their held-out examples."""
    model: MultiTaskModel
    """Before training."""

    @property
    def budget(self) -> TrainingBudget:
        """How long its trainings last."""
        settings = self.config.training
        return self.question.budget(
            self.tasks, epochs=self.config.epochs, batch=settings.batch_size
        )


def prepared(config: RunConfig, request: DistanceRequest) -> DistanceStudy:
    """Read everything; nothing is written.

    Raises:
        TawtError: Saying what does not fit together.
    """
    first = config.model_copy(update={"seed": request.seeds[0]})
    question, tasks = checked(first, request)
    measured = measured_tasks(first, question, tasks)
    for task in measured.values():
        try:
            held_out(task)
        except DataError as error:
            if task.name == config.target:
                raise
            raise DataError(
                f"--matrix measures to every task, but {task.name!r} has neither dev nor test "
                "examples; give it some, or leave out --matrix."
            ) from error
    model = building.model(first, list(tasks.values()))
    return DistanceStudy(
        config=config,
        request=request,
        question=question,
        tasks=tasks,
        measured=measured,
        model=model,
    )


def measure_distances(
    study: DistanceStudy,
    path: Path,
    *,
    sweep: Sweep,
    device: str,
    overwrite: bool,
    on_step: Callable[[StudyProgress], None] = lambda step: None,
    on_stopped: Callable[[dict[str, Any]], None] = lambda values: None,
) -> dict[str, Any]:
    """Train what is not trained yet, estimate, and leave all that follows in a folder.

    Args:
        study: What is asked, and what was read.
        path: Folder with a file for each training and each piece of the estimates.
        sweep: How to make many trainings; it is asked whether to stop after every pass as well.
        device: Where to train.
        overwrite: Forget what the folder has.
        on_step: Told how much of the work is done.
        on_stopped: Told what is known so far, as `load_distance` returns it, before `Interrupted`
            is raised.

    Returns:
        What was written to `distance.json`.
    """
    where = chosen_device(device)
    folder = DistanceFolder(path)
    data = building.fingerprints(list(study.tasks.values()))
    folder.check(study.config, data, overwrite=overwrite)  # before the folder is touched
    with folder.locked():
        folder.open(study.config, data, overwrite=overwrite)
        measuring = _Measuring(study, path, sweep, device=device, on_step=on_step)
        try:
            sweep_trainings = replace(sweep, on_progress=measuring.trained)
            sweep_trainings.make(measuring.plan, measuring.trainings)
            values = measuring.answer(where)
        except Interrupted as stop:
            on_stopped(measuring.so_far())
            raise Interrupted(
                f"Stopped as asked; what was found is kept in {path}. Run the same command again "
                "to go on."
            ) from stop
        return folder.finish(values)


class _Measuring:
    """The trainings that a study wants, and what follows from them."""

    def __init__(
        self,
        study: DistanceStudy,
        path: Path,
        sweep: Sweep,
        *,
        device: str,
        on_step: Callable[[StudyProgress], None],
    ) -> None:
        request, question = study.request, study.question
        self._study, self._path, self._device = study, path, device
        self._should_stop = sweep.should_stop
        self.trainings = trainings_in(path)
        self._items = [Item(job, seed) for seed in request.seeds for job in question.jobs]
        self._kept = KeptEstimates(path, seed=request.seeds[0], sizes=request.sizes)
        self._tasks = {**study.tasks, **study.measured}
        known = self._outcomes()
        missing = [item.job for item in self._items if (item.job, item.seed) not in known]
        if not request.training:
            missing = []
        self._effort = Effort(
            question,
            self._tasks,
            budget=study.budget,
            sizes=request.sizes,
            trainings=missing,
            # Learned weights cost the same as those that they start from.
            mixtures=question.mixtures if missing else mean_weights(question, known, request.seeds),
            kept=self._kept,
            on_step=on_step,
        )

    def plan(self) -> Plan:
        """Every training for every seed; none where there are to be estimates only."""
        study = self._study
        if not study.request.training:
            return Plan([])
        return Plan(
            [
                Work(
                    item.key,
                    item.name,
                    TrainForDistance(
                        item=item,
                        config=study.config,
                        question=study.question,
                        budget=study.budget,
                        device=self._device,
                        folder=self._path,
                    ),
                    size=self._effort.cost(item.job),
                    fits=partial(item.fits, measured=study.question.measured),
                )
                for item in self._items
            ]
        )

    def trained(self, progress: Progress) -> None:
        """Count a training that was made."""
        if progress.made is not None:
            self._effort.trained(progress.made.size)

    def answer(self, where: torch.device) -> dict[str, Any]:
        """What follows from the trainings, and from estimates that are made now."""
        study, outcomes = self._study, self._outcomes()

        def check(done: float) -> None:
            self._effort.estimated(done)
            if self._should_stop():
                raise Interrupted("Stopped as request.")

        study.model.representation.to(where)
        estimates = estimated(
            study.question,
            self._tasks,
            study.model,
            outcomes,
            seeds=study.request.seeds,
            sizes=study.request.sizes,
            kept=self._kept,
            on_work=check,
        )
        found = answered(
            study.question,
            self._tasks,
            study.model,
            outcomes,
            estimates,
            seeds=study.request.seeds,
        )
        telling = _telling(study.config, estimates)
        return {**found.as_json(), "telling": telling, **circumstances(where)}

    def so_far(self) -> dict[str, Any]:
        """What is known when not all is."""
        study = self._study
        found = so_far(
            study.question,
            self._outcomes(),
            self._kept,
            seeds=study.request.seeds,
        )
        estimates = Estimates(found.estimates, {})
        return {**found.as_json(), "telling": _telling(study.config, estimates)}

    def _outcomes(self) -> Outcomes:
        """Of the trainings that are there; where nothing is trained, all of them or none."""
        found: Outcomes = {}
        for item in self._items:
            outcome = self.trainings.find(item.key)
            if outcome is not None and item.fits(outcome, measured=self._study.question.measured):
                found[item.job, item.seed] = with_numbers(outcome)
        is_whole = len(found) == len(self._items)
        return found if is_whole or self._study.request.training else {}


def _telling(config: RunConfig, estimates: Estimates) -> str:
    """The estimate to go by.

    Heads on an encoder that has learned much already tell what sources have in common; on a
    network that starts from nothing, only where each would move it does.
    """
    found = estimates.values[str(config.target)]
    heads_tell = config.modality.is_pretrained
    sources = [name for name in found if "bottleneck" in found[name]]
    return "leep" if heads_tell and all("leep" in found[n] for n in sources) else "tangent"


def checked(config: RunConfig, request: DistanceRequest) -> tuple[Question, dict[str, Task]]:
    """The question and the tasks, if they fit together."""
    if not isinstance(config.target, str):
        raise ConfigError("Distances are to one target; `target` names several.", place=("target",))
    tasks = {task.name: task for task in building.tasks(config)}
    _check_labels(tasks, config.target)
    sources = tuple(name for name in tasks if name != config.target)
    question = Question(sources, config.target, request.weights, request.matrix)
    if question.matrix and config.modality.depends_on_roles:
        raise ConfigError(
            f"Of `data.kind: {config.data.kind}`, a task has other examples as the target than as "
            "a source, so distances between sources cannot be measured; leave out --matrix."
        )
    return question, tasks


def _check_labels(tasks: Mapping[str, Task], target: str) -> None:
    """Refuse data without labels."""
    if not tasks[target].kind.is_labelled:
        raise ConfigError(
            f"Distances are between tasks with labels, and the target {target!r} has none; "
            "`tawt mix` says how much each of the others is worth to it.",
            place=("target",),
        )
    for name, task in tasks.items():
        if not task.kind.is_labelled:
            raise ConfigError(
                f"Distances are between tasks with labels, and {name!r} has none; leave it "
                "out of `sources`. What it is worth to the target is seen by training, "
                "with `tawt compare`.",
                place=("sources",),
            )
