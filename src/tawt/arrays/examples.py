"""Labelled examples held in memory as arrays."""

from __future__ import annotations

import hashlib
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from tawt.arrays.images import image_of
from tawt.arrays.kinds import Classification, Regression
from tawt.errors import DataError
from tawt.tasks import Batch, Examples, Shown, Task
from tawt.tasks.examples import digests_of
from tawt.units import Coded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.tasks.examples import Indices

Split = tuple[ArrayLike, ArrayLike]
"""Inputs, one row (or image) per example; and labels, one per example."""


_AT_ONCE = 4096  # rows
_MOST_LABELS = 1_000_000  # past this a label is no position but an id


class ArrayExamples(Examples):
    """Examples as two tensors; a batch is a selection of rows.

    Args:
        inputs: Features or images, shape `(examples, …)`.
        labels: Shape `(examples,)`.
        names: Of the labels, where those are positions.
        groups: Which group each example is in, if that is known, for weights on groups.

    Example:
        >>> examples = ArrayExamples(np.eye(3), np.array([0, 1, 2]))
        >>> examples.batch(np.array([2, 0])).labels
        tensor([2, 0])
    """

    def __init__(
        self,
        inputs: NDArray[Any],
        labels: NDArray[Any],
        *,
        names: Sequence[str] | None = None,
        groups: NDArray[Any] | None = None,
    ) -> None:
        # Copies: what the caller does to the arrays afterwards is none of the task's business.
        self.inputs = torch.tensor(np.ascontiguousarray(inputs), dtype=torch.float32)
        self.labels = torch.tensor(np.ascontiguousarray(labels))
        self._names = None if names is None else tuple(names)
        self._groups = groups

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, indices: Indices) -> Batch:
        """The rows at these positions."""
        rows = torch.as_tensor(indices)
        return Batch(self.inputs[rows], self.labels[rows])

    def followed_by(self, more: Examples) -> ArrayExamples | None:
        """These rows and then more; `None` where theirs have another shape or other labels."""
        if not isinstance(more, ArrayExamples) or more._names != self._names:
            return None
        if more.inputs.shape[1:] != self.inputs.shape[1:]:
            return None
        both = copy(self)
        both.inputs = torch.cat([self.inputs, more.inputs])
        both.labels = torch.cat([self.labels, more.labels])
        both._groups = None
        return both

    def groups(self) -> NDArray[Any] | None:
        """Which group each example is in, if that is known."""
        return self._groups

    def show(self, index: int) -> Shown:
        """The example as an image, if it is one."""
        return Shown(image=image_of(self.inputs, index))

    def label(self, index: int) -> Any:
        """A name, or a number."""
        given = self.labels[index].item()
        return given if self._names is None else self._names[int(given)]

    def names(self) -> Coded | None:
        """The name of each label; nothing where labels are numbers."""
        if self._names is None:
            return None
        return Coded(self._names, self.labels.numpy().astype(np.int32))

    def digests(self) -> NDArray[np.uint64]:
        """Eight bytes of each row."""
        return digests_of(row.tobytes() for row in self.inputs.numpy())

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
    groups: ArrayLike | None = None,
) -> Task:
    """A classification task from arrays.

    Args:
        name: What the task is called.
        train: Inputs and labels; labels are integers from 0.
        dev: Held out to choose by.
        test: Held out to report on.
        labels: Names of the labels; by default the integers up to the largest that occurs.
        groups: Which group each training example is in, for weights on groups.

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
    given = _groups(name, groups, len(splits["train"][1]))
    made = {
        k: ArrayExamples(
            x, y.astype(np.int64), names=labels, groups=given if k == "train" else None
        )
        for k, (x, y) in splits.items()
    }
    return _task(name, Classification(tuple(labels)), made)


def regression(
    name: str,
    *,
    train: Split,
    dev: Split | None = None,
    test: Split | None = None,
    groups: ArrayLike | None = None,
) -> Task:
    """A regression task from arrays.

    Args:
        name: What the task is called.
        train: Inputs and numbers to predict.
        dev: Held out to choose by.
        test: Held out to report on.
        groups: Which group each training example is in, for weights on groups.

    Example:
        >>> regression("slant", train=(np.eye(3), [0.1, 0.5, 0.2])).kind.metric
        'r2'
    """
    splits = _checked(name, {"train": train, "dev": dev, "test": test})
    given = _groups(name, groups, len(splits["train"][1]))
    made = {
        k: ArrayExamples(x, y.astype(np.float32), groups=given if k == "train" else None)
        for k, (x, y) in splits.items()
    }
    return _task(name, Regression(), made)


def _task(name: str, kind: Classification | Regression, made: dict[str, ArrayExamples]) -> Task:
    return Task(name, kind, made["train"], made.get("dev"), made.get("test"))


def checked_inputs(what: str, inputs: NDArray[Any]) -> NDArray[Any]:
    """Inputs that are finite numbers, in this machine's byte order.

    Args:
        what: To call them in a message.
        inputs: Shape `(examples, …)`.

    Raises:
        DataError: They are not.

    Example:
        >>> checked_inputs("a.npy: inputs", np.array([[1, np.nan]]))
        Traceback (most recent call last):
        ...
        tawt.errors.DataError: a.npy: inputs contain NaN, infinity, or numbers too large for \
float32; clean them first.
    """
    inputs = _native(inputs)
    for start in range(0, len(inputs), _AT_ONCE):  # which are copied to be looked at
        _check_numbers(what, inputs[start : start + _AT_ONCE])
    return inputs


def _groups(name: str, groups: ArrayLike | None, examples: int) -> NDArray[Any] | None:
    if groups is None:
        return None
    found = np.asarray(groups)
    if found.shape != (examples,):
        raise DataError(
            f"Task {name!r} has {examples} training examples, but `groups` of shape "
            f"{found.shape}; give one for each."
        )
    return found


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
