"""From a configuration to tasks of arrays, and the network that reads them."""

from __future__ import annotations

import logging
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tawt import arrays
from tawt.arrays import ArrayExamples
from tawt.arrays.files import read_arrays
from tawt.config.data_sections import ArrayData, ArrayTask, DigitsData, NetworkConfig
from tawt.errors import ConfigError, DataError
from tawt.runs.learnable import nothing_to_learn
from tawt.tasks import MultiTaskModel, Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import nn

    from tawt.config.schema import RunConfig

_MOST_PARAMETERS = 1_000_000_000
_log = logging.getLogger(__name__)


def tasks(config: RunConfig, names: Sequence[str]) -> list[Task]:
    """The tasks of these names."""
    if isinstance(config.data, DigitsData):
        return arrays.digits_tasks(target_size=config.data.target_size, seed=config.seed)
    assert isinstance(config.data, ArrayData)
    return [_array_task(name, config.data.tasks[name]) for name in names]


def check_learnable(found: Sequence[Task], targets: Sequence[str]) -> None:
    """Refuse a target whose labels are all the same; warn of such a source.

    Raises:
        DataError: Naming the target.
    """
    for task in found:
        assert isinstance(task.train, ArrayExamples)
        first = task.train.labels[0]
        if not bool((task.train.labels == first).all()):
            continue
        if task.name in targets:
            raise nothing_to_learn(task.name, str(first.item()))
        _log.warning(
            "task %r: every label of train is %s, so there is nothing to learn.",
            task.name,
            first.item(),
        )


def model(settings: NetworkConfig, found: Sequence[Task]) -> MultiTaskModel:
    """A network for inputs of the tasks' shape."""
    shape, width = input_shape(found), settings.widths[-1]
    _check_size(settings, inputs=math.prod(shape))
    representation: nn.Module
    if settings.kind == "cnn":
        representation = arrays.SmallCNN(shape, width=width, dropout=settings.dropout)
    else:
        representation = arrays.MLP(shape, widths=settings.widths, dropout=settings.dropout)
    return MultiTaskModel.for_tasks(representation, found, width=width)


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


def _array_task(name: str, settings: ArrayTask) -> Task:
    splits = {
        split: _arrays(name, path)
        for split in ("train", "dev", "test")
        if (path := getattr(settings, split)) is not None
    }
    given: dict[str, Any] = {split: found[:2] for split, found in splits.items()}
    if settings.kind == "regression":
        made = arrays.regression(name, **given)
    else:
        made = arrays.classification(name, **given, labels=settings.labels)
    groups = splits["train"][2]
    if groups is not None:
        if groups.shape != (len(made.train),):
            raise DataError(
                f"Task {name!r}: {settings.train} has {len(made.train)} examples, but `groups` of "
                f"shape {groups.shape}; give one for each."
            )
        assert isinstance(made.train, ArrayExamples)
        made.train.groups = groups
    return made


def _arrays(name: str, path: Path) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    """Inputs, labels, and groups where there are any."""
    try:
        found = read_arrays(path, ["inputs", "labels"], optional=["groups"])
    except DataError as error:
        raise DataError(f"Task {name!r}: {error}") from error
    return found["inputs"], found["labels"], found.get("groups")
