"""Tasks of arrays, recognised from their files, and a first configuration for them."""

from __future__ import annotations

import zipfile
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.arrays.building import input_shape, read_task
from tawt.arrays.examples import ArrayExamples
from tawt.arrays.files import read_arrays
from tawt.arrays.sections import ArrayTask
from tawt.errors import DataError
from tawt.modality.drafting import batch_size, course, sections, trained_on, weighting
from tawt.modality.learnable import nothing_to_learn
from tawt.modality.recognising import Commented, Drafted, Recognised

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.modality.recognising import FileGroup
    from tawt.tasks import Task

_SHOWN = 3
_NUMBERS = 6  # of an example that are shown
_MAGIC = b"\x93NUMPY"
_NO_TEST = "There is no test file: a run is scored on dev, and `tawt compare` needs test examples."
_IMAGE = (2, 3)  # axes of an example


@dataclass(frozen=True, kw_only=True)
class RecognisedArrays(Recognised):
    """A task of arrays, as it is taken from files."""

    task: Task


def recognise_arrays(files: FileGroup) -> RecognisedArrays | None:
    """A task in `.npz` files; nothing where they are none.

    Args:
        files: Of the splits.

    Raises:
        DataError: They are, without the arrays of a task.
    """
    path = files.first
    if not _is_numpy(path):
        return None
    given: dict[str, Any] = files.sections()
    for split, paths in given.items():
        if isinstance(paths, list):
            raise DataError(
                f"{paths[0]} and {paths[1]} are both {split} data of one task by their names, and "
                "arrays of a split are in one file; join them, or rename one."
            )
    labels = read_arrays(path, ["inputs", "labels"])["labels"]
    is_number = np.issubdtype(labels.dtype, np.floating)
    kind = "regression" if is_number else "classification"
    task = read_task(files.name, ArrayTask.model_validate({**given, "kind": kind}))
    shape = input_shape([task])
    answers = "a number to predict" if is_number else "a label"
    said = f"{' × '.join(map(str, shape))} numbers each"
    other = "save labels as integers from 0 for classification" if is_number else "or regression"
    section = {"kind": Commented(kind, other)}
    return RecognisedArrays(
        name=files.name,
        task_kind=kind,
        taken_for=f"arrays: inputs of {said}, and {answers}",
        sizes={split: len(examples) for split, examples in task.splits().items()},
        labels=() if is_number else _labels(task),
        first=tuple(_shown(task, index) for index in range(min(_SHOWN, len(task.train)))),
        section={**section, **given},
        task=task,
    )


def draft_arrays(target: Recognised, sources: Sequence[Recognised]) -> Drafted:
    """A configuration for these tasks.

    Args:
        target: The task that counts.
        sources: All others.

    Raises:
        DataError: Their inputs differ in shape; or the target has one label, or nothing held out.
    """
    everything = [target, *sources]
    shape = input_shape([each.task for each in everything if isinstance(each, RecognisedArrays)])
    if len(target.labels) == 1:
        raise nothing_to_learn(target.name, target.labels[0])
    if not {"dev", "test"} & set(target.sizes):
        raise DataError(
            f"The target {target.name!r} has train examples alone, and arrays are not held out of "
            f"them; save some of them as {target.name}.test.npz (and {target.name}.dev.npz), and "
            "give those files too."
        )
    size = trained_on(target, None)
    values = {
        "data": {
            "kind": Commented("arrays", "paths are relative to this file"),
            "tasks": sections(target, sources, None),
        },
        "model": _network(shape),
        **course(size, sources, noun=target.plural),
        **weighting(sources),
        "training": {
            "batch_size": batch_size(size),
            "learning_rate": Commented(0.01, "of a small network from nothing"),
        },
    }
    return Drafted(values, () if "test" in target.sizes else (_NO_TEST,))


def _network(shape: Sequence[int]) -> dict[str, Any]:
    if len(shape) in _IMAGE:
        return {
            "kind": Commented("cnn", "convolutions, for images; or mlp"),
            "widths": Commented([64, 32], "the last is the size of the representation"),
        }
    return {
        "kind": Commented("mlp", "fully connected layers; or cnn, for images"),
        "widths": Commented([64, 32], "of hidden layers; the last is the representation"),
    }


def _is_numpy(path: Path) -> bool:
    if path.is_dir():
        return False
    with path.open("rb") as file:
        start = file.read(len(_MAGIC))
    if start == _MAGIC:
        raise DataError(
            f"{path} is one array; a task has two, so write an .npz file with "
            "numpy.savez(path, inputs=…, labels=…)."
        )
    if path.suffix.lower() == ".npz":
        return True
    try:
        with zipfile.ZipFile(path) as archive:
            return any(name.endswith(".npy") for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError):
        return False


def _labels(task: Task) -> tuple[str, ...]:
    found = Counter(str(task.train.label(index)) for index in range(len(task.train)))
    return tuple(label for label, _ in found.most_common())


def _shown(task: Task, index: int) -> str:
    assert isinstance(task.train, ArrayExamples)
    numbers = task.train.inputs[index].flatten()
    listed = ", ".join(f"{number:.3g}" for number in numbers[:_NUMBERS].tolist())
    more = ", …" if len(numbers) > _NUMBERS else ""
    return f"[{listed}{more}] → {task.train.label(index)}"
