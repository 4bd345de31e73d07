"""From sections of a configuration to tasks of arrays, and the network that reads them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.arrays.examples import ArrayExamples, classification, regression
from tawt.arrays.files import read_arrays
from tawt.arrays.networks import MLP, SmallCNN
from tawt.errors import ConfigError, DataError
from tawt.modality.learnable import nothing_to_learn
from tawt.modality.said import DATA_LOG
from tawt.tasks import MultiTaskModel, Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import nn

    from tawt.arrays.sections import ArrayTask, NetworkConfig

_MOST_PARAMETERS = 1_000_000_000


def read_task(name: str, settings: ArrayTask) -> Task:
    """The task in these files.

    Raises:
        DataError: One of them cannot be read, or holds something else.
    """
    paths = {"train": settings.train, "dev": settings.dev, "test": settings.test}
    splits = {split: _arrays(name, path) for split, path in paths.items() if path is not None}
    given: dict[str, Any] = {split: found[:2] for split, found in splits.items()}
    groups = splits["train"][2]
    if settings.kind == "regression":
        return regression(name, **given, groups=groups)
    return classification(name, **given, labels=settings.labels, groups=groups)


def check_learnable(tasks: Sequence[Task], targets: Sequence[str]) -> None:
    """Refuse a target whose labels are all the same; warn of such a source.

    Raises:
        DataError: Naming the target.
    """
    for task in tasks:
        assert isinstance(task.train, ArrayExamples)
        first = task.train.labels[0]
        if not bool((task.train.labels == first).all()):
            continue
        if task.name in targets:
            raise nothing_to_learn(task.name, str(first.item()))
        DATA_LOG.warning(
            "task %r: every label of train is %s, so there is nothing to learn.",
            task.name,
            first.item(),
        )


def network(settings: NetworkConfig, shape: Sequence[int]) -> nn.Module:
    """The representation for inputs of that shape.

    Raises:
        ConfigError: It would be too large, or is for images and these are none.
    """
    _check_size(settings, inputs=math.prod(shape))
    if settings.kind == "cnn":
        return SmallCNN(shape, width=settings.widths[-1], dropout=settings.dropout)
    return MLP(shape, widths=settings.widths, dropout=settings.dropout)


def array_model(settings: NetworkConfig, tasks: Sequence[Task]) -> MultiTaskModel:
    """A network for inputs of the tasks' shape, and a head for each task."""
    representation = network(settings, input_shape(tasks))
    return MultiTaskModel.for_tasks(representation, tasks, width=settings.widths[-1])


def _check_size(settings: NetworkConfig, *, inputs: int) -> None:
    """Refuse a network that fills the memory before its first step."""
    widths = [inputs, *settings.widths]
    if settings.kind == "cnn":
        widths = [inputs, settings.widths[-1]]
    parameters = sum(before * after for before, after in pairwise(widths))
    if parameters > _MOST_PARAMETERS:
        raise ConfigError(
            f"`model.widths` with {inputs:,} inputs make a network of about {parameters:,} "
            f"parameters; at most {_MOST_PARAMETERS:,} are meant to be trained from scratch here. "
            "Lower them.",
            place=("model", "widths"),
        )


def input_shape(tasks: Sequence[Task]) -> tuple[int, ...]:
    """Shape of one example's input, which all tasks must share."""
    one = np.arange(1)
    shapes = {task.name: tuple(task.train.batch(one).inputs.shape[1:]) for task in tasks}
    first = next(iter(shapes))
    for name, shape in shapes.items():
        if shape != shapes[first]:
            raise DataError(
                f"Tasks share one representation, so their inputs must have one shape; {first!r} "
                f"has {shapes[first]} and {name!r} has {shape} an example."
            )
    return shapes[first]


def _arrays(name: str, path: Path) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Inputs, labels, and groups where there are any."""
    try:
        found = read_arrays(path, ["inputs", "labels"], optional=["groups"])
    except DataError as error:
        raise DataError(f"Task {name!r}: {error}") from error
    return found["inputs"], found["labels"], found.get("groups")
