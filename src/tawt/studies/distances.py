"""The task distances of a configuration: many trainings, kept one by one, and what follows."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tawt.distance import Estimates, Job, Question, SampleSizes, Workshop, answered, estimated
from tawt.distance.trained import held_out
from tawt.errors import ConfigError, DataError, Interrupted, RunError
from tawt.studies import building, files
from tawt.studies.config import difference, dumped, load
from tawt.studies.data_sections import DigitsData, EncoderConfig, GrammarData, TextData
from tawt.studies.folder import CONFIG as RUN_CONFIG
from tawt.studies.folder import DATA
from tawt.studies.pool import do_all
from tawt.studies.record import circumstances
from tawt.training import JointTraining, PreTraining
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tawt.distance.budgets import Budget
    from tawt.studies.config import RunConfig
    from tawt.tasks import Task

DISTANCE, CONFIG, TRAININGS = "distance.json", "distance.yaml", "trainings"
_NEEDED = ("target", "telling", "sources", "seeds", "mixtures", "trained", "estimates", "gains",
           "metric", "rates", "terms", "seconds", "correlations", "open_constants")  # fmt: skip
_MOST_DIGITS = 400  # labelled images that the digits have for the target


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


def measure_distances(
    config: RunConfig,
    folder: Path,
    *,
    asked: Asked,
    workers: int,
    device: str,
    overwrite: bool,
    should_stop: Callable[[], bool],
    on_done: Callable[[int, int], None],
) -> dict[str, Any]:
    """Train what is not trained yet, estimate, and leave all that follows in a folder.

    Args:
        config: Names sources and target, model and training.
        folder: Keeps a file for each training.
        asked: What is to be found out.
        workers: Trainings at a time.
        device: Where to train.
        overwrite: Forget the trainings that the folder has.
        should_stop: Asked now and then.
        on_done: Told how many steps of how many are done.

    Returns:
        What was written to `distance.json`.
    """
    where = chosen_device(device)
    first = config.model_copy(update={"seed": asked.seeds[0]})
    question, tasks = checked(first, asked)
    _open(folder, config, tasks, overwrite=overwrite)
    items = [Item(job, seed) for seed in asked.seeds for job in question.jobs]
    outcomes = {item: _known(folder, item, question) for item in items}
    missing = [item for item, outcome in outcomes.items() if outcome is None]
    if missing and not asked.training:  # what was trained before is of use only if it is all
        items, outcomes, missing = [], {}, []
    total = len(items) + question.estimated(trained=bool(items))
    done = len(items) - len(missing)
    on_done(done, total)

    def count() -> None:
        nonlocal done
        done += 1
        on_done(done, total)
        if should_stop():
            raise Interrupted("Stopped as asked; run the same command again to go on.")

    def keep(item: Item, outcome: dict[str, Any]) -> None:
        files.write_json(_file(folder, item), outcome)
        outcomes[item] = outcome
        count()

    if missing:
        do_all(
            partial(
                _trained,
                config=config,
                question=question,
                budget=question.budget(
                    tasks, epochs=config.epochs, batch=config.training.batch_size
                ),
                device=device,
            ),
            missing,
            workers=min(workers, len(missing)),
            called=lambda item: f"{item.job.what} {item.job.name}, seed {item.seed}",
            should_stop=should_stop,
            on_done=keep,
        )
    known = {(item.job, item.seed): found for item, found in outcomes.items() if found is not None}
    model = building.model(first, list(tasks.values()))
    model.representation.to(where)
    by_name = {**tasks, **_measured(first, question, tasks)}
    estimates: Estimates = estimated(
        question, by_name, model, known, seeds=asked.seeds, sizes=asked.sizes, on_done=count
    )
    found = answered(question, by_name, model, known, estimates, seeds=asked.seeds)
    values = {**found.as_json(), "telling": _telling(config, estimates), **circumstances(where)}
    files.write_json(folder / DISTANCE, values)
    return load_distance(folder)


def _telling(config: RunConfig, estimates: Estimates) -> str:
    """The estimate to go by.

    Heads on an encoder that has learned much already tell what sources have in common; on a
    network that starts from nothing, only where each would move it does.
    """
    found = estimates.values[str(config.target)]
    heads_tell = isinstance(config.model, EncoderConfig)
    sources = [name for name in found if "bottleneck" in found[name]]
    return "leep" if heads_tell and all("leep" in found[n] for n in sources) else "tangent"


@dataclass(frozen=True)
class Item:
    """A training, and its seed."""

    job: Job
    seed: int


def checked(config: RunConfig, asked: Asked) -> tuple[Question, dict[str, Task]]:
    """The question and the tasks, if they fit together."""
    if not isinstance(config.target, str):
        raise ConfigError("Distances are to one target; `target` names several.")
    tasks = {task.name: task for task in building.tasks(config)}
    sources = tuple(name for name in tasks if name != config.target)
    question = Question(sources, config.target, asked.weights, asked.matrix)
    if question.matrix and isinstance(config.data, GrammarData):
        raise ConfigError(
            "The generated corpus has held-out sentences of its target only; leave out --matrix."
        )
    for task in _measured(config, question, tasks).values():
        try:
            held_out(task)
        except DataError as error:
            if task.name == config.target:
                raise
            raise DataError(
                f"--matrix measures to every task, but {task.name!r} has neither dev nor test "
                "examples; give it some, or leave out --matrix."
            ) from error
    return question, tasks


def load_distance(folder: Path) -> dict[str, Any]:
    """What `measure_distances` left in a folder."""
    values: dict[str, Any] = files.read_json(folder / DISTANCE)
    missing = [name for name in _NEEDED if not isinstance(values, dict) or name not in values]
    if missing:
        raise RunError(f"{folder / DISTANCE} is damaged: it has no {missing[0]!r}.")
    return values


def _open(folder: Path, config: RunConfig, tasks: Mapping[str, Task], *, overwrite: bool) -> None:
    """Refuse a folder that holds something else; leave there what this is about."""
    if (folder / RUN_CONFIG).exists():
        raise RunError(f"{folder} holds a single run; give the distances another folder.")
    data = building.fingerprints(list(tasks.values()))
    started = (folder / CONFIG).exists()
    if not started and _has_files(folder):
        raise RunError(f"{folder} holds no distances and is not empty; give another --out.")
    if started and not overwrite:
        other = difference(config, load(folder / CONFIG))
        if other is None and files.read_json(folder / DATA) != data:
            other = "the data has changed"
        if other is not None:
            raise RunError(
                f"{folder} holds the distances of something else ({other}); give another --out, or "
                "--overwrite to start again."
            )
        return
    if (folder / TRAININGS).exists():
        shutil.rmtree(folder / TRAININGS)
    (folder / DISTANCE).unlink(missing_ok=True)
    files.write_json(folder / DATA, data)
    files.write(folder / CONFIG, dumped(config))


def _has_files(folder: Path) -> bool:
    """Whether there is something of somebody else's."""
    if not folder.is_dir():
        return folder.exists()
    return any(not path.name.startswith(".") for path in folder.iterdir())


def _file(folder: Path, item: Item) -> Path:
    name = f"{item.job.what}-{quote(item.job.name, safe='')}.json"
    return folder / TRAININGS / str(item.seed) / name


def _known(folder: Path, item: Item, question: Question) -> dict[str, Any] | None:
    """The outcome of a training that was made before, if it is of these weights and targets."""
    path = _file(folder, item)
    if not path.exists():
        return None
    outcome = files.read_json(path)
    if item.job.what in ("sources", "half") and outcome.get("weights") != dict(item.job.weights):
        return None
    measures = item.job.what not in ("alone", "with")
    missing = set(question.measured) - set(outcome.get("risks", {}))
    return None if measures and missing else outcome


def _trained(
    item: Item,
    should_stop: Callable[[], bool],
    *,
    config: RunConfig,
    question: Question,
    budget: Budget,
    device: str,
) -> dict[str, Any]:
    """Do one training in a process of its own; only the tasks that it needs are read."""
    job = item.job
    sources = [name for name, _ in job.weights] or [job.name]
    config = config.model_copy(
        update={
            "seed": item.seed,
            "sources": [name for name in sources if name != question.target],
        }
    )
    tasks = {task.name: task for task in building.tasks(config)}
    scores = job.what in ("alone", "with")
    workshop = Workshop(
        model_for=lambda found, _: building.model(config, found),
        tasks=tasks,
        target=question.target,
        measured={} if scores else _measured(config, question, tasks),
        whole=_whole(config, question.target) if job.what == "own" else {},
        budget=budget,
        paradigm=_paradigm(config),
        rule=building.rule(config.weighting),
        settings=config.training,
        seed=item.seed,
        device=device,
        should_stop=should_stop,
    )
    return workshop.done(job)


def _paradigm(config: RunConfig) -> PreTraining | JointTraining | None:
    """In which sources have to prove themselves; none for a single task, which has no sources."""
    found = building.paradigm(config)
    return found if isinstance(found, PreTraining | JointTraining) else None


def _measured(config: RunConfig, question: Question, tasks: Mapping[str, Task]) -> dict[str, Task]:
    """The tasks that distances are measured to, with their held-out examples."""
    found = {question.target: tasks[question.target]}
    for name in question.measured:
        if name not in found:
            alone = config.model_copy(update={"target": name, "sources": []})
            [found[name]] = building.tasks(alone)
    return found


def _whole(config: RunConfig, target: str) -> dict[str, Task]:
    """All that there is of the target, where the configuration takes only some of it."""
    data: Any = config.data
    if isinstance(data, DigitsData):
        data = data.model_copy(update={"target_size": _MOST_DIGITS})
    elif isinstance(data, TextData) and data.tasks[target].limit is not None:
        every = data.tasks[target].model_copy(update={"limit": None})
        data = data.model_copy(update={"tasks": {**data.tasks, target: every}})
    else:
        return {}
    alone = config.model_copy(update={"data": data, "sources": []})
    return {task.name: task for task in building.tasks(alone) if task.name == target}
