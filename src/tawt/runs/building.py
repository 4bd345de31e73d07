"""From a configuration to the objects that train."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from tawt.errors import ConfigError, DataError, Place, suggestion
from tawt.hypergradient import Alignment, Cosine, CurvatureWeighted
from tawt.modality.said import DATA_LOG
from tawt.runs.curvatures import curvature
from tawt.runs.folds import folded, halved
from tawt.runs.grouping import grouped
from tawt.streams import derived_seed
from tawt.training import JointTraining, Paradigm, PreTraining, SingleTask, SourcesOnly
from tawt.training.material import Material
from tawt.training.remarks import Remarks
from tawt.training.roles import checked_roles, heads_learn
from tawt.units import Units
from tawt.weighting import UpdateRule, Weighting, make_weighting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.config.weighting import WeightingConfig
    from tawt.tasks import MultiTaskModel, Task


class RunParts(NamedTuple):
    """What a run is made of."""

    tasks: list[Task]
    model: MultiTaskModel
    weighting: Weighting | None
    paradigm: Paradigm
    data: dict[str, Any]
    """Size and fingerprint of every task's examples."""
    remarks: list[str]
    """What a person would want to know of data and steps; it has been logged."""


def build_parts(config: RunConfig, *, shared: Path | None = None) -> RunParts:
    """The parts of a run, if they fit together.

    Args:
        config: What to do.
        shared: A folder for what other runs need too.

    Raises:
        TawtError: Saying what does not.
    """
    found, said = tasks_and_remarks(config)
    untrained = model(config, found)
    weighed, how = fitted(config, found, untrained, shared=shared)
    of_steps = remarks(config, found, weighed, how)
    for remark in of_steps:
        DATA_LOG.warning("%s", remark)
    return RunParts(found, untrained, weighed, how, fingerprints(found), [*said, *of_steps])


def fitted(
    config: RunConfig,
    found: Sequence[Task],
    model: MultiTaskModel,
    *,
    shared: Path | None = None,
) -> tuple[Weighting | None, Paradigm]:
    """Weighting and paradigm, if they fit the tasks and the model.

    Args:
        config: What to do.
        found: Sources and targets.
        model: Before training.
        shared: A folder for what other runs need too.

    Raises:
        TawtError: Saying what does not.
    """
    weighed, how = weighting(config, found, model, shared=shared), paradigm(config)
    _check_target(config, found)
    _check_head_is_trained(config, model)
    used = checked_roles(model, found, config.targets, how.phases(), weighed)
    Material(found, config.targets, used, config.training, seed=config.seed).check(how.phases())
    return weighed, how


def remarks(
    config: RunConfig, found: Sequence[Task], weighed: Weighting | None, how: Paradigm
) -> list[str]:
    """What a person would want to know of the steps before they are taken, each in a sentence.

    Args:
        config: What to do.
        found: Sources and targets.
        weighed: What the sources are weighed by; nothing is, for a single task.
        how: They are used.
    """
    if weighed is None:
        return []
    material = Material(found, config.targets, weighed, config.training, seed=config.seed)
    return Remarks(material, config.training).on(how.phases())


def _check_target(config: RunConfig, found: Sequence[Task]) -> None:
    for task in found:
        if task.name not in config.targets or config.fold is not None:
            continue  # of a fold the held-out part is scored, by this run or by others
        if task.dev is None and task.test is None:
            raise DataError(
                f"The target {task.name!r} has neither dev nor test examples, so nothing could be "
                "measured; give it at least one of them."
            )
    chosen_by = [task for task in found if task.name in config.targets and task.dev is not None]
    if config.training.patience is not None and not chosen_by:
        raise ConfigError(
            "`training.patience` waits for a better dev score, but the target has no dev examples; "
            f"give it {config.modality.dev_wanted}, or leave `patience` out.",
            place=("training", "patience"),
        )


def _check_head_is_trained(config: RunConfig, model: MultiTaskModel) -> None:
    if config.paradigm == "sources only" and heads_learn(model, config.targets):
        raise ConfigError(
            "`paradigm: sources only` would leave the target's own head untrained; use "
            "`pre-training`, which fits it, or `joint`.",
            place=("paradigm",),
        )


def tasks(config: RunConfig) -> list[Task]:
    """The tasks that the configuration names: sources and targets, in that order."""
    return tasks_and_remarks(config)[0]


def tasks_and_remarks(config: RunConfig) -> tuple[list[Task], list[str]]:
    """The same, and what makes scores on them doubtful, which is logged."""
    targets = list(config.targets)
    found = config.modality.tasks(
        config.data, config.model, names=used_names(config), targets=targets, seed=config.seed
    )
    said = config.modality.remarks(found, targets=targets)
    for remark in said:
        DATA_LOG.warning("%s", remark)
    if config.fold is None:
        return found, said
    fold, seed = config.fold, config.seed
    parts = [folded(task, fold, seed=seed) if task.name in targets else task for task in found]
    if fold.halved is None:
        return parts, said
    halves = [
        halved(task, seed=seed, evenly=task.name in targets)
        if (task.name in targets) == (fold.halved == "target")
        else task
        for task in parts
    ]
    return halves, said


def used_names(config: RunConfig) -> list[str]:
    """Names of the tasks that the run uses: sources and targets, in that order.

    Raises:
        ConfigError: The data has no such task.
    """
    names = config.modality.task_names(config.data)
    wanted = [*sources_of(config, names), *config.targets]
    for name in wanted:
        if name not in names:
            raise ConfigError(
                f"There is no task {name!r} in the data; {suggestion(name, names)}",
                place=_named_at(config, name),
            )
    return wanted


def _named_at(config: RunConfig, name: str) -> Place:
    """Where the configuration names a task."""
    if config.sources is not None and name in config.sources:
        return "sources", config.sources.index(name)
    return ("target", name) if isinstance(config.target, dict) else ("target",)


def sources_of(config: RunConfig, names: Sequence[str]) -> list[str]:
    """The sources: those named, or every task that is no target."""
    if config.sources is None:
        return [name for name in names if name not in config.targets]
    for name in config.sources:
        if name in config.targets:
            raise ConfigError(
                f"{name!r} is the target and also a source; a task has one role. Take it out of "
                "`sources`: joint training uses the target's examples by itself.",
                place=_named_at(config, name),
            )
    return config.sources


def model(config: RunConfig, found: Sequence[Task]) -> MultiTaskModel:
    """The model, initialised by the seed and by nothing else."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(config.seed, "model"))
        return config.modality.model(config.model, found)


def paradigm(config: RunConfig) -> Paradigm:
    """How sources and target are used."""
    rate, split = config.fine_tune_learning_rate, config.split_target
    if config.paradigm in ("single-task", "sources only") and split:
        raise ConfigError(
            f"`split_target` has no meaning for `paradigm: {config.paradigm}`.",
            place=("split_target",),
        )
    if config.paradigm == "single-task":
        return SingleTask(epochs=config.target_epochs)
    if config.paradigm == "sources only":
        return SourcesOnly(epochs=config.epochs)
    if config.paradigm == "pre-training":
        return PreTraining(
            epochs=config.epochs,
            fine_tune_epochs=config.target_epochs,
            fine_tune_learning_rate=rate,
            split_target=split,
        )
    fine_tunes = config.paradigm == "joint then fine-tuning"
    return JointTraining(
        epochs=config.epochs,
        fine_tune_epochs=config.target_epochs if fine_tunes else 0,
        fine_tune_learning_rate=rate,
        split_target=split,
        head_epochs=config.target_epochs,
    )


def weighting(
    config: RunConfig,
    found: Sequence[Task],
    model: MultiTaskModel,
    *,
    shared: Path | None = None,
) -> Weighting | None:
    """How the sources are weighed; nothing is, for a single task.

    Args:
        config: What to do.
        found: Sources and targets.
        model: Before training.
        shared: A folder for what other runs need too.
    """
    if config.paradigm == "single-task":
        return None
    settings = config.weighting
    joint = config.paradigm not in ("pre-training", "sources only")
    sources = [task.name for task in found if task.name not in config.targets]
    if not sources:
        raise ConfigError(
            "There is no source; name at least one, or use `paradigm: single-task`.",
            place=("sources",),
        )
    share = settings.target_share if joint else None
    if joint and share is None:
        share = "learned"
    return make_weighting(
        settings.kind,
        sources=sources,
        target=config.target,
        target_share=share,
        initial=settings.initial,
        sizes={task.name: len(task.train) for task in found},
        rule=rule(settings),
        units=_units(config, [task for task in found if task.name in sources], model, shared),
    )


def _units(
    config: RunConfig, sources: Sequence[Task], model: MultiTaskModel, shared: Path | None
) -> Units | None:
    """What weights are put on, where it is finer than a task."""
    if config.weighting.unit == "task":
        return None
    if config.weighting.unit == "example":
        return Units.of_examples({task.name: len(task.train) for task in sources})
    assert config.weighting.group is not None  # filled in when the configuration was read
    return grouped(
        sources,
        config.weighting.group,
        model,
        seed=config.seed,
        shared=shared,
        wanted=config.modality.groups_wanted,
    )


def rule(settings: WeightingConfig) -> UpdateRule:
    """How the weights move."""
    alignment: Alignment = Cosine(scale=settings.scale)
    if settings.alignment == "curvature":
        alignment = CurvatureWeighted(curvature(settings.curvature), scale=settings.scale)
    return UpdateRule(
        alignment=alignment,
        step=settings.step,
        step_size=settings.step_size,
        own_alignment=settings.own_alignment,
        anchor=settings.anchor,
        ratio_bound=settings.ratio_bound,
        way=settings.way,
    )


def fingerprints(found: Sequence[Task]) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of every split of every task, to tell data apart; and what was noted."""
    return {
        task.name: {
            split: {"examples": len(examples), "sha256": examples.fingerprint()}
            for split, examples in task.splits().items()
        }
        | _groups(task)
        | ({"notes": task.train.notes} if task.train.notes else {})
        for task in found
    }


def _groups(task: Task) -> dict[str, Any]:
    """SHA-256 of the groups that the data names, where it does."""
    named = task.train.groups()
    if named is None:
        return {}
    digest = hashlib.sha256()
    for number, name in enumerate(named):
        digest.update(f"\0{name}".encode() if number else str(name).encode())
    return {"groups": {"sha256": digest.hexdigest()}}
