"""The task distances of a configuration: many trainings, kept one by one, and what follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from tawt.distance import Estimates, Question, SampleSizes, answered, estimated
from tawt.distance.folder import DistanceFolder, Item, KeptEstimates
from tawt.distance.measuring import mean_weights
from tawt.distance.partial import so_far
from tawt.distance.trained import held_out
from tawt.distance.work import Step, Work
from tawt.distance.workers import measured_tasks, train_for_distance
from tawt.errors import ConfigError, DataError, Interrupted
from tawt.runs import building
from tawt.runs.record import circumstances
from tawt.sweeps.queue import do_all
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import torch

    from tawt.config.schema import RunConfig
    from tawt.distance.budgets import Budget
    from tawt.distance.measuring import Outcomes
    from tawt.tasks import MultiTaskModel, Task


@dataclass(frozen=True, kw_only=True)
class Asked:
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
class Study:
    """A question with all that was read to answer it."""

    config: RunConfig
    asked: Asked
    question: Question
    tasks: Mapping[str, Task]
    measured: Mapping[str, Task]
    """The tasks that distances are measured to, with their held-out examples."""
    model: MultiTaskModel
    """Before training."""

    @property
    def budget(self) -> Budget:
        """How long its trainings last."""
        settings = self.config.training
        return self.question.budget(
            self.tasks, epochs=self.config.epochs, batch=settings.batch_size
        )


def prepared(config: RunConfig, asked: Asked) -> Study:
    """Read everything; nothing is written.

    Raises:
        TawtError: Saying what does not fit together.
    """
    first = config.model_copy(update={"seed": asked.seeds[0]})
    question, tasks = checked(first, asked)
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
    return Study(
        config=config,
        asked=asked,
        question=question,
        tasks=tasks,
        measured=measured,
        model=model,
    )


def measure_distances(
    study: Study,
    path: Path,
    *,
    workers: int,
    device: str,
    overwrite: bool,
    should_stop: Callable[[], bool],
    on_step: Callable[[Step], None] = lambda step: None,
    on_stopped: Callable[[dict[str, Any]], None] = lambda values: None,
) -> dict[str, Any]:
    """Train what is not trained yet, estimate, and leave all that follows in a folder.

    Args:
        study: What is asked, and what was read.
        path: Folder with a file for each training and each piece of the estimates.
        workers: Trainings at a time.
        device: Where to train.
        overwrite: Forget what the folder has.
        should_stop: Asked after every pass over a batch.
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
        return _Measuring(study, folder, where, should_stop, on_step).done(
            workers=workers, device=device, on_stopped=on_stopped
        )


class _Measuring:
    """One call of `measure_distances`, and what it knows so far."""

    def __init__(
        self,
        study: Study,
        folder: DistanceFolder,
        where: torch.device,
        should_stop: Callable[[], bool],
        on_step: Callable[[Step], None],
    ) -> None:
        asked, question = study.asked, study.question
        self._study, self._folder, self._where = study, folder, where
        self._should_stop = should_stop
        items = [Item(job, seed) for seed in asked.seeds for job in question.jobs]
        known = {item: folder.known(item, question) for item in items}
        self._missing = [item for item, outcome in known.items() if outcome is None]
        if self._missing and not asked.training:  # what was trained before is of use if it is all
            known, self._missing = {}, []
        self._outcomes: Outcomes = {
            (item.job, item.seed): found for item, found in known.items() if found is not None
        }
        self._kept = KeptEstimates(folder.path, seed=asked.seeds[0], sizes=asked.sizes)
        self._tasks = {**study.tasks, **study.measured}
        self._work = Work(
            question,
            self._tasks,
            budget=study.budget,
            sizes=asked.sizes,
            trainings=[item.job for item in self._missing],
            mixtures=self._mixtures(),
            kept=self._kept,
            on_step=on_step,
        )

    def _mixtures(self) -> dict[str, dict[str, float]]:
        """What will be estimated; learned weights cost the same as those that they start from."""
        if self._missing:
            return self._study.question.mixtures
        return mean_weights(self._study.question, self._outcomes, self._study.asked.seeds)

    def done(
        self, *, workers: int, device: str, on_stopped: Callable[[dict[str, Any]], None]
    ) -> dict[str, Any]:
        """Train, estimate, and leave what follows."""
        try:
            self._train(workers=workers, device=device)
            estimates = self._estimate()
        except Interrupted as stop:
            on_stopped(self._so_far())
            raise Interrupted(
                f"Stopped as asked; what was found is kept in {self._folder.path}. Run the same "
                "command again to go on."
            ) from stop
        study = self._study
        found = answered(
            study.question,
            self._tasks,
            study.model,
            self._outcomes,
            estimates,
            seeds=study.asked.seeds,
        )
        return self._folder.finish(
            {
                **found.as_json(),
                "telling": _telling(study.config, estimates),
                **circumstances(self._where),
            }
        )

    def _check(self) -> None:
        if self._should_stop():
            raise Interrupted("Stopped as asked.")

    def _train(self, *, workers: int, device: str) -> None:
        def keep(item: Item, outcome: dict[str, Any]) -> None:
            self._folder.keep(item, outcome)
            self._outcomes[item.job, item.seed] = outcome
            self._work.trained(item.job)
            self._check()

        if not self._missing:
            return
        study = self._study
        do_all(
            partial(
                train_for_distance,
                config=study.config,
                question=study.question,
                budget=study.budget,
                device=device,
            ),
            self._missing,
            workers=min(workers, len(self._missing)),
            called=lambda item: f"{item.job.what} {item.job.name}, seed {item.seed}",
            should_stop=self._should_stop,
            on_done=keep,
        )

    def _estimate(self) -> Estimates:
        study = self._study

        def work(done: float) -> None:
            self._work.estimated(done)
            self._check()

        study.model.representation.to(self._where)
        return estimated(
            study.question,
            self._tasks,
            study.model,
            self._outcomes,
            seeds=study.asked.seeds,
            sizes=study.asked.sizes,
            kept=self._kept,
            on_work=work,
        )

    def _so_far(self) -> dict[str, Any]:
        study = self._study
        found = so_far(study.question, self._outcomes, self._kept, seeds=study.asked.seeds)
        estimates = Estimates(found.estimates, {})
        return {**found.as_json(), "telling": _telling(study.config, estimates)}


def _telling(config: RunConfig, estimates: Estimates) -> str:
    """The estimate to go by.

    Heads on an encoder that has learned much already tell what sources have in common; on a
    network that starts from nothing, only where each would move it does.
    """
    found = estimates.values[str(config.target)]
    heads_tell = config.modality.is_pretrained
    sources = [name for name in found if "bottleneck" in found[name]]
    return "leep" if heads_tell and all("leep" in found[n] for n in sources) else "tangent"


def checked(config: RunConfig, asked: Asked) -> tuple[Question, dict[str, Task]]:
    """The question and the tasks, if they fit together."""
    if not isinstance(config.target, str):
        raise ConfigError("Distances are to one target; `target` names several.", place=("target",))
    tasks = {task.name: task for task in building.tasks(config)}
    sources = tuple(name for name in tasks if name != config.target)
    question = Question(sources, config.target, asked.weights, asked.matrix)
    if question.matrix and config.modality.depends_on_roles:
        raise ConfigError(
            f"Of `data.kind: {config.data.kind}`, a task has other examples as the target than as "
            "a source, so distances between sources cannot be measured; leave out --matrix."
        )
    return question, tasks
