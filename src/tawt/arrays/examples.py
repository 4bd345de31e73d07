"""Labelled examples held in memory as arrays."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from tawt.arrays.kinds import Classification, Regression
from tawt.errors import DataError
from tawt.tasks import Batch, Task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.tasks.task import Indices

Split = tuple[ArrayLike, ArrayLike]
"""Inputs, one row (or image) per example; and labels, one per example."""


_MOST_LABELS = 1_000_000  # past this a label is no position but an id


class ArrayExamples:
    """Examples as two tensors; a batch is a selection of rows.

    Args:
        inputs: Features or images, shape `(examples, …)`.
        labels: Shape `(examples,)`.

    Example:
        >>> examples = ArrayExamples(np.eye(3), np.array([0, 1, 2]))
        >>> examples.batch(np.array([2, 0])).labels
        tensor([2, 0])
    """

    def __init__(self, inputs: NDArray[Any], labels: NDArray[Any]) -> None:
        # Copies: what the caller does to the arrays afterwards is none of the task's business.
        self.inputs = torch.tensor(np.ascontiguousarray(inputs), dtype=torch.float32)
        self.labels = torch.tensor(np.ascontiguousarray(labels))
        self.groups: NDArray[Any] | None = None
        """Which group each example is in, if that is known, for weights on groups."""

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, indices: Indices) -> Batch:
        """The rows at these positions."""
        rows = torch.as_tensor(indices)
        return Batch(self.inputs[rows], self.labels[rows])

    def fingerprint(self) -> str:
        """SHA-256 of inputs and labels."""
        digest = hashlib.sha256()
        for tensor in (self.inputs, self.labels):
            digest.update(str((tuple(tensor.shape), tensor.dtype)).encode())
            digest.update(tensor.numpy().tobytes())
        return digest.hexdigest()


def classification(
    name: str,
    *,
    train: Split,
    dev: Split | None = None,
    test: Split | None = None,
    labels: Sequence[str] | None = None,
) -> Task:
    """A classification task from arrays.

    Args:
        name: What the task is called.
        train: Inputs and labels; labels are integers from 0.
        dev: Held out to choose by.
        test: Held out to report on.
        labels: Names of the labels; by default the integers up to the largest that occurs.

    Example:
        >>> task = classification("parity", train=(np.eye(4), [0, 1, 0, 1]))
        >>> task.kind.labels, len(task.train)
        (('0', '1'), 4)
    """
    splits = _checked(name, {"train": train, "dev": dev, "test": test})
    for split, (_, answers) in splits.items():
        if not np.issubdtype(answers.dtype, np.integer):
            raise DataError(
                f"Task {name!r}, {split}: labels must be integers from 0; got "
                f"{answers.dtype}. Map them to positions, and pass their names as `labels`."
            )
    if labels is None and max(int(y.max()) for _, y in splits.values()) >= _MOST_LABELS:
        raise DataError(
            f"Task {name!r} has a label of {_MOST_LABELS} or more; number the labels from 0, or "
            "pass their names as `labels`."
        )
    if labels is None:
        labels = [str(index) for index in range(max(int(y.max()) for _, y in splits.values()) + 1)]
    for split, (_, answers) in splits.items():
        if answers.min() < 0 or answers.max() >= len(labels):
            wrong = answers.min() if answers.min() < 0 else answers.max()
            raise DataError(
                f"Task {name!r}, {split}: label {wrong} is out of range; there are {len(labels)} "
                f"labels, so 0 to {len(labels) - 1} are expected."
            )
    made = {k: ArrayExamples(x, y.astype(np.int64)) for k, (x, y) in splits.items()}
    return _task(name, Classification(tuple(labels)), made)


def regression(
    name: str, *, train: Split, dev: Split | None = None, test: Split | None = None
) -> Task:
    """A regression task from arrays.

    Args:
        name: What the task is called.
        train: Inputs and numbers to predict.
        dev: Held out to choose by.
        test: Held out to report on.

    Example:
        >>> regression("slant", train=(np.eye(3), [0.1, 0.5, 0.2])).kind.metric
        'r2'
    """
    splits = _checked(name, {"train": train, "dev": dev, "test": test})
    made = {k: ArrayExamples(x, y.astype(np.float32)) for k, (x, y) in splits.items()}
    return _task(name, Regression(), made)


def _task(name: str, kind: Classification | Regression, made: dict[str, ArrayExamples]) -> Task:
    return Task(name, kind, made["train"], made.get("dev"), made.get("test"))


def _checked(
    name: str, splits: Mapping[str, Split | None]
) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    checked: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
    for split, given in splits.items():
        if given is None:
            continue
        where = f"Task {name!r}, {split}"
        try:
            inputs, answers = _native(np.asarray(given[0])), _native(np.asarray(given[1]))
        except ValueError as error:
            raise DataError(f"{where}: the rows are not all of one shape.") from error
        if answers.ndim != 1 or inputs.ndim < 2 or len(inputs) != len(answers):
            raise DataError(
                f"{where}: expected inputs of shape (examples, …) and one label per example; got "
                f"inputs {inputs.shape} and labels {answers.shape}."
            )
        if inputs.size == 0:
            lacking = "features" if len(answers) else "examples"
            raise DataError(f"{where}: there are no {lacking}; give at least one.")
        _check_numbers(f"{where}: inputs", inputs)
        _check_numbers(f"{where}: labels", answers)
        checked[split] = inputs, answers
    _same_shape(name, checked)
    return checked


def _native(array: NDArray[Any]) -> NDArray[Any]:
    """The array in this machine's byte order and in a width that torch has."""
    if array.dtype.kind == "f" and array.dtype.itemsize > np.dtype(np.float64).itemsize:
        with np.errstate(over="ignore"):  # what is too large is refused, as infinity
            return array.astype(np.float32)  # as it will be used
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _check_numbers(what: str, array: NDArray[Any]) -> None:
    real = np.issubdtype(array.dtype, np.integer) or np.issubdtype(array.dtype, np.floating)
    if not real and array.dtype != np.bool_:
        raise DataError(f"{what} must be numbers; got {array.dtype}.")
    if np.issubdtype(array.dtype, np.floating):
        with np.errstate(over="ignore"):
            array = array.astype(np.float32)  # as it will be used
    if not np.isfinite(array).all():
        raise DataError(
            f"{what} contain NaN, infinity, or numbers too large for float32; clean them first."
        )


def _same_shape(name: str, splits: Mapping[str, tuple[NDArray[Any], NDArray[Any]]]) -> None:
    shapes = {split: inputs.shape[1:] for split, (inputs, _) in splits.items()}
    for split, shape in shapes.items():
        if shape != shapes["train"]:
            raise DataError(
                f"Task {name!r}: {split} inputs have shape {shape} an example, train inputs "
                f"{shapes['train']}; they must be the same."
            )
