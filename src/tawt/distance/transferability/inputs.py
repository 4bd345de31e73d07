"""What the scores take: numbers and class labels, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch
from torch import Tensor

from tawt.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Values: TypeAlias = Tensor | ArrayLike


@dataclass(frozen=True)
class Classes:
    """The class of each example, numbered from 0 in the order of their names."""

    codes: Tensor
    """Shape `(examples,)`."""
    counts: Tensor
    """Examples of each class, in float64, shape `(classes,)`; none is zero."""

    def sums(self, rows: Tensor) -> Tensor:
        """Of each class, the sum of its examples' rows; shape `(classes, width)`."""
        return rows.new_zeros(len(self.counts), rows.shape[1]).index_add_(0, self.codes, rows)


def as_matrix(values: Values, *, name: str) -> Tensor:
    """A row of float64 numbers for each example, on the device they came on.

    Args:
        values: Shape `(examples, width)`.
        name: What they are called in an error.

    Example:
        >>> as_matrix([[1, 2], [3, 4]], name="features")
        tensor([[1., 2.],
                [3., 4.]], dtype=torch.float64)
    """
    matrix = as_float64(values, name=name)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise DataError(
            f"`{name}` must have a row of numbers for each example; got shape "
            f"{tuple(matrix.shape)}."
        )
    if not bool(matrix.isfinite().all()):
        raise DataError(f"`{name}` must be finite; got NaN or infinity among them.")
    return matrix


def as_classes(labels: Values, *, name: str) -> Classes:
    """The classes of the examples, whose labels may be any whole numbers or names.

    Args:
        labels: Shape `(examples,)`.
        name: What they are called in an error.

    Example:
        >>> as_classes(["b", "a", "b"], name="labels").codes
        tensor([1, 0, 1])
    """
    names = _plain(labels, name)
    if names.ndim != 1 or names.size == 0:
        raise DataError(f"`{name}` must have one label for each example; got shape {names.shape}.")
    if names.dtype.kind == "f" and not (np.isfinite(names) & (names == np.trunc(names))).all():
        raise DataError(f"`{name}` must be classes: whole numbers or names; got other numbers.")
    try:
        _, codes, counts = np.unique(names, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise DataError(
            f"`{name}` must all be numbers or all be names; got a mixture: {error}."
        ) from None
    return Classes(torch.from_numpy(codes), torch.from_numpy(counts).double())


def target_classes(labels: Values, *, examples: Tensor) -> Classes:
    """The target's classes, of which there must be two.

    Args:
        labels: Shape `(examples,)`.
        examples: Something with as many rows, on the device where the classes are wanted.

    Example:
        >>> target_classes([7, 3, 7], examples=torch.zeros(3, 1)).counts
        tensor([1., 2.], dtype=torch.float64)
    """
    classes = as_classes(labels, name="labels")
    if len(classes.codes) != len(examples):
        raise DataError(
            f"`labels` must have one label for each of the {len(examples)} examples; got "
            f"{len(classes.codes)}."
        )
    if len(classes.counts) < 2:
        raise DataError(
            "`labels` must have at least two classes, or there is nothing to tell apart; got one."
        )
    return Classes(classes.codes.to(examples.device), classes.counts.to(examples.device))


def as_float64(values: Values, *, name: str) -> Tensor:
    """Any numbers, on the device they came on, unless it has no float64.

    Example:
        >>> as_float64([1, 2], name="targets")
        tensor([1., 2.], dtype=torch.float64)
    """
    if isinstance(values, Tensor):
        values = values.detach()
        return values.cpu().double() if values.device.type == "mps" else values.double()
    try:
        return torch.from_numpy(np.array(values, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise DataError(f"`{name}` must be numbers, as many for each example: {error}.") from None


def _plain(labels: Values, name: str) -> NDArray[np.generic]:
    if isinstance(labels, Tensor):
        labels = labels.detach().cpu()
        labels = labels.double() if labels.is_floating_point() else labels
    try:
        return np.asarray(labels)
    except ValueError as error:
        raise DataError(f"`{name}` must be one for each example: {error}.") from None
