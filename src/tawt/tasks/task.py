"""A task: labelled examples in up to three splits, and what kind of answer they want."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tawt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

Indices = np.ndarray[tuple[int], np.dtype[np.int64]]
"""Which examples, by position."""


@dataclass(frozen=True)
class Batch:
    """Some examples of one task, ready for the model.

    Attributes:
        inputs: Whatever the representation takes: tensors, in any nest.
        labels: Whatever the task's kind takes: a tensor with an entry per example, or a nest.
        owners: Which example of the batch each row is of, where one may be several rows.
        factors: What each row's loss counts beside the average; all the same by default.
    """

    inputs: Any
    labels: Any
    owners: Tensor | None = None
    factors: Tensor | None = None


class Examples(Protocol):
    """Labelled examples that can be fetched by position, in any order, any number of times.

    Those of different lengths may say so in an attribute `lengths`, one number each; like is then
    computed with like, and little is padded. Those that become several rows of a batch may say how
    many in an attribute `rows`. Those whose losses are made to add up to the task's (a word of a
    long sentence counts as much as one of a short) may give others, each a mean of its own, from a
    method `with_own_means()`.
    """

    def __len__(self) -> int: ...

    def batch(self, indices: Indices) -> Batch:
        """The examples at these positions."""
        ...


class Kind(Protocol):
    """What kind of answer a task wants: its head, its loss and its score."""

    @property
    def metric(self) -> str:
        """Which of `scores` is the one that counts; higher is better."""
        ...

    def head(self, width: int) -> nn.Module:
        """f_t: the last layer, from a representation of this width."""
        ...

    def losses(self, outputs: Tensor, labels: Any) -> Tensor:
        """ℓ for each example, shape `(examples,)`; parts of it, where an example is in parts.

        Their sum over a batch is the sum over its examples either way.
        """
        ...

    def answers(self, outputs: Tensor, labels: Any) -> tuple[list[Any], list[Any]]:
        """Gold and predicted answer of each example, as plain values."""
        ...

    def scores(self, gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
        """All scores of a split, by name."""
        ...

    def example_scores(self, gold: Sequence[Any], predicted: Sequence[Any]) -> list[float]:
        """One score per example, higher is better, for paired tests."""
        ...


@dataclass(frozen=True)
class Task:
    """A named task. Whether it is a source or the target is a role, not a property of it.

    Args:
        name: What it is called everywhere.
        kind: What kind of answer it wants.
        train: Examples to train on.
        dev: Held-out examples to choose by, if there are any.
        test: Held-out examples to report on, if there are any.
    """

    name: str
    kind: Kind
    train: Examples
    dev: Examples | None = None
    test: Examples | None = None

    def __post_init__(self) -> None:
        if not self.name or not self.name.isprintable():
            raise DataError(f"A task needs a printable name; got {self.name!r}.")
        for split in ("train", "dev", "test"):
            examples = getattr(self, split)
            if examples is not None and len(examples) == 0:
                raise DataError(
                    f"Task {self.name!r} has no {split} examples; give it at least one"
                    + (", or no split of that name at all." if split != "train" else ".")
                )


class Subset:
    """Some of the examples of another set, without copying them.

    Example:
        >>> import torch
        >>> class Squares:
        ...     def __len__(self): return 10
        ...     def batch(self, indices): return Batch(None, torch.as_tensor(indices) ** 2)
        >>> Subset(Squares(), np.array([7, 2, 5])).batch(np.array([0, 2])).labels
        tensor([49, 25])
    """

    def __init__(self, examples: Examples, indices: Indices) -> None:
        self._examples = examples
        self._indices = indices
        lengths, rows = lengths_of(examples), rows_of(examples)
        self.lengths = None if lengths is None else lengths[indices]
        self.rows = None if rows is None else rows[indices]

    def __len__(self) -> int:
        return len(self._indices)

    def batch(self, indices: Indices) -> Batch:
        """The examples at these positions of the subset."""
        return self._examples.batch(self._indices[indices])

    def with_own_means(self) -> Subset:
        """The same of them, each with a loss of its own."""
        return Subset(with_own_means(self._examples), self._indices)


def lengths_of(examples: Examples) -> Indices | None:
    """How long each example is, where they differ in that.

    Example:
        >>> class Words:
        ...     lengths = np.array([3, 1])
        >>> lengths_of(Words()), lengths_of(object())
        (array([3, 1]), None)
    """
    known: Indices | None = getattr(examples, "lengths", None)
    return known


def rows_of(examples: Examples) -> Indices | None:
    """How many rows of a batch each example takes, where that is not always one."""
    known: Indices | None = getattr(examples, "rows", None)
    return known


def with_own_means(examples: Examples) -> Examples:
    """The examples with losses that can be weighed one by one: means of their own.

    Example:
        >>> class Plain: pass
        >>> examples = Plain()
        >>> with_own_means(examples) is examples  # where losses are of that kind anyway
        True
    """
    make = getattr(examples, "with_own_means", None)
    found: Examples = examples if make is None else make()
    return found
