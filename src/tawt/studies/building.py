"""From a configuration to the objects that train."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tawt import arrays
from tawt.arrays import ArrayExamples
from tawt.curvature import ConjugateGradient, Curvature, Dense, Identity, Neumann
from tawt.errors import ConfigError, DataError, suggestion
from tawt.hypergradient import Alignment, Cosine, CurvatureWeighted
from tawt.studies.config import ArrayTask, CurvatureConfig, DigitsData, RunConfig, WeightingConfig
from tawt.tasks import MultiTaskModel, Task
from tawt.training import JointTraining, Paradigm, PreTraining, SingleTask
from tawt.training.streams import derived_seed
from tawt.weighting import Fixed, TargetAware, UpdateRule, Weighting
from tawt.weighting.target_aware import initial_weights

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


def tasks(config: RunConfig) -> list[Task]:
    """The tasks that the configuration names: sources and targets, in that order."""
    if isinstance(config.data, DigitsData):
        found = arrays.digits_tasks(target_size=config.data.target_size, seed=config.seed)
    else:
        found = [_array_task(name, task) for name, task in config.data.tasks.items()]
    by_name = {task.name: task for task in found}
    sources = sources_of(config, list(by_name))
    for name in [*sources, *config.targets]:
        if name not in by_name:
            raise ConfigError(f"There is no task {name!r} in the data; {suggestion(name, by_name)}")
    return [by_name[name] for name in [*sources, *config.targets]]


def sources_of(config: RunConfig, names: Sequence[str]) -> list[str]:
    """The sources: those named, or every task that is no target."""
    if config.sources is None:
        return [name for name in names if name not in config.targets]
    for name in config.sources:
        if name in config.targets:
            raise ConfigError(
                f"{name!r} is the target and also a source; a task has one role. Take it out of "
                "`sources`: joint training uses the target's examples by itself."
            )
    return config.sources


def model(config: RunConfig, found: Sequence[Task]) -> MultiTaskModel:
    """The model, initialised by the seed and by nothing else."""
    shape = input_shape(found)
    settings = config.model
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(config.seed, "model"))
        representation: torch.nn.Module
        if settings.kind == "cnn":
            width = settings.widths[-1]
            representation = arrays.SmallCNN(shape, width=width, dropout=settings.dropout)
        else:
            widths, dropout = settings.widths, settings.dropout
            representation = arrays.MLP(shape, widths=widths, dropout=dropout)
        return MultiTaskModel.for_tasks(representation, found, width=settings.widths[-1])


def paradigm(config: RunConfig) -> Paradigm:
    """How sources and target are used."""
    rate, split = config.fine_tune_learning_rate, config.split_target
    if config.paradigm == "single-task":
        if split:
            raise ConfigError("`split_target` has no meaning for `paradigm: single-task`.")
        return SingleTask(epochs=config.target_epochs)
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


def weighting(config: RunConfig, found: Sequence[Task]) -> Weighting | None:
    """How the sources are weighed; nothing is, for a single task."""
    if config.paradigm == "single-task":
        return None
    settings = config.weighting
    joint = config.paradigm != "pre-training"
    sources = [task.name for task in found if task.name not in config.targets]
    if not sources:
        raise ConfigError("There is no source; name at least one, or use `paradigm: single-task`.")
    sizes = {task.name: len(task.train) for task in found}
    share = settings.target_share if joint else None
    if joint and share is None:
        share = "learned"
    if settings.kind == "fixed":
        units = [*sources, *config.targets] if joint else sources
        start = initial_weights(
            units, settings.initial, sizes=sizes, target=config.targets, target_share=share
        )
        return Fixed(units, initial=start.shares())
    return TargetAware(
        sources=sources,
        target=config.target,
        initial=settings.initial,
        sizes={name: sizes[name] for name in ([*sources, *config.targets] if joint else sources)},
        target_share=share,
        rule=rule(settings),
    )


def rule(settings: WeightingConfig) -> UpdateRule:
    """How the weights move."""
    alignment: Alignment = Cosine(scale=settings.scale)
    if settings.alignment == "curvature":
        alignment = CurvatureWeighted(_curvature(settings.curvature), scale=settings.scale)
    return UpdateRule(
        alignment=alignment,
        step=settings.step,
        step_size=settings.step_size,
        own_alignment=settings.own_alignment,
        anchor=settings.anchor,
        ratio_bound=settings.ratio_bound,
    )


def fingerprints(found: Sequence[Task]) -> dict[str, dict[str, Any]]:
    """Size and SHA-256 of every split of every task, to tell data apart later."""
    return {
        task.name: {
            split: {"examples": len(examples), "sha256": _sha256(examples)}
            for split in ("train", "dev", "test")
            if isinstance(examples := getattr(task, split), ArrayExamples)
        }
        for task in found
    }


def _curvature(settings: CurvatureConfig) -> Curvature:
    if settings.kind == "identity":
        return Identity(scale=settings.scale)
    if settings.kind == "conjugate-gradient":
        return ConjugateGradient(damping=settings.damping, iterations=settings.iterations)
    if settings.kind == "neumann":
        return Neumann(damping=settings.damping, terms=settings.iterations)
    return Dense(damping=settings.damping)


def _array_task(name: str, settings: ArrayTask) -> Task:
    splits = {
        split: _arrays(name, path)
        for split in ("train", "dev", "test")
        if (path := getattr(settings, split)) is not None
    }
    train, dev, test = splits["train"], splits.get("dev"), splits.get("test")
    if settings.kind == "regression":
        return arrays.regression(name, train=train, dev=dev, test=test)
    return arrays.classification(name, train=train, dev=dev, test=test, labels=settings.labels)


def _arrays(name: str, path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as file:
            return file["inputs"], file["labels"]
    except OSError as error:
        raise DataError(f"Task {name!r}: cannot read {path}: {error.strerror or error}.") from error
    except (KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(
            f"Task {name!r}: {path} must be an .npz file with the arrays `inputs` and `labels` "
            f"({error}); write one with numpy.savez(path, inputs=…, labels=…)."
        ) from error


def input_shape(found: Sequence[Task]) -> tuple[int, ...]:
    """Shape of one example's input, which all tasks must share."""
    shapes = {
        task.name: tuple(task.train.inputs.shape[1:])
        for task in found
        if isinstance(task.train, ArrayExamples)
    }
    first = next(iter(shapes))
    for name, shape in shapes.items():
        if shape != shapes[first]:
            raise DataError(
                f"Tasks share one representation, so their inputs must have one shape; {first!r} "
                f"has {shapes[first]} and {name!r} has {shape} an example."
            )
    return shapes[first]


def _sha256(examples: ArrayExamples) -> str:
    digest = hashlib.sha256()
    for tensor in (examples.inputs, examples.labels):
        digest.update(str((tuple(tensor.shape), tensor.dtype)).encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()
