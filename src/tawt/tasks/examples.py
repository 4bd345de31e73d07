"""Labelled examples: what training, a page and a person ask of them."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tawt.units import Coded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tawt.units import Numbers

Indices = NDArray[np.int64]
"""Which examples, by position."""

_AT_ONCE = 256


@dataclass(frozen=True)
class Batch:
    """Some examples of one task, ready for the model.

    Attributes:
        inputs: Whatever the representation takes: tensors, in any nest.
        labels: Whatever the task's kind takes: a tensor with an entry per example, or a nest.
        owners: Which example of the batch each row is of, where one may be several rows.
        factors: What each row's loss counts beside the average; all the same by default.
        places: How many places of each row are no padding, where the representation makes a vector
            for each place.
    """

    inputs: Any
    labels: Any
    owners: Tensor | None = None
    factors: Tensor | None = None
    places: Tensor | None = None


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a person sees of an example."""

    text: str = ""
    """In words; empty where it is not made of any."""
    image: bytes | None = None
    """A PNG file."""
    line: int | None = None
    """Of its file, from 1."""


class Examples(ABC):
    """Labelled examples that can be fetched by position, in any order, any number of times.

    `__len__` and `batch` are enough to train. The rest has defaults, and is for what is weighed,
    recorded and shown.

    Example:
        >>> import torch
        >>> class Squares(Examples):
        ...     def __len__(self): return 3
        ...     def batch(self, indices): return Batch(torch.ones(1), torch.as_tensor(indices) ** 2)
        >>> squares = Squares()
        >>> squares.label(2), squares.show(2), squares.lengths
        (4, Shown(text='', image=None, line=None), None)
    """

    lengths: Indices | None = None
    """How long each example is, where they differ in that: like is computed with like, and little
    is padded."""
    rows: Indices | None = None
    """How many rows of a batch each example takes, where that is not always one."""
    tokens: int | None = None
    """How many tokens all examples have, where amounts of data are counted in those."""
    notes: Mapping[str, Any] = {}
    """What was noticed while reading, for the record."""
    in_words: bool = False
    """Whether `show` has a text, so that predictions are listed beside it."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def batch(self, indices: Indices) -> Batch:
        """The examples at these positions."""

    def with_own_means(self) -> Examples:
        """The examples with losses that can be weighed one by one: means of their own.

        Those whose losses are made to add up to the task's (a word of a long sentence counts as
        much as one of a short) give others here.
        """
        return self

    def followed_by(self, more: Examples) -> Examples | None:
        """These examples and then more of the same task; `None` where they cannot be one set.

        Args:
            more: Of another split.
        """
        del more
        return None

    def groups(self) -> Sequence[Any] | NDArray[Any] | Coded | None:
        """Which group each example is in, for weights on groups; `None` where that is unknown.

        Names, or numbers with their names, which take four bytes an example.
        """
        return None

    def clusters(self, count: int, *, seed: int) -> Numbers | None:
        """Which cluster each example is in, from 0, where that is told without a model.

        Args:
            count: Most clusters.
            seed: Of how they are found.

        Returns:
            `None` where the representation's vectors are to be clustered.
        """
        del count, seed
        return None

    def show(self, index: int) -> Shown:
        """What a person sees of one example."""
        del index
        return Shown()

    def preview(self, index: int) -> str:
        """The example as it was read, with its label, on one short line; empty if not in words."""
        del index
        return ""

    def label(self, index: int) -> Any:
        """The gold label of one example: a name, a number, or several of them."""
        labels = self.batch(np.array([index])).labels
        return labels.item() if isinstance(labels, Tensor) and labels.numel() == 1 else None

    def names(self) -> Coded | None:
        """One name for each example; nothing where labels are numbers."""
        first = self.label(0)
        if not isinstance(first, str):
            return None
        return Coded.of(self.label(index) for index in range(len(self)))

    def all_names(self) -> tuple[Coded, NDArray[np.int32] | int] | None:
        """Every name that examples have, one after the other, and how many each example has.

        Nothing where labels are numbers.
        """
        found = self.names()
        return None if found is None else (found, 1)

    def answered(self, index: int, gold: Any, predicted: Any) -> Iterable[tuple[str, Any, Any]]:
        """The rows that an example has in a table of predictions: what, gold and predicted.

        Args:
            index: Of the example.
            gold: Its answer.
            predicted: The model's.
        """
        return [(self.show(index).text, gold, predicted)]

    def fingerprint(self) -> str:
        """SHA-256 of inputs and labels, to tell data apart."""
        digest = hashlib.sha256()
        for start in range(0, len(self), _AT_ONCE):
            batch = self.batch(np.arange(start, min(start + _AT_ONCE, len(self))))
            for part in (*_bytes(batch.inputs), *_bytes(batch.labels)):
                digest.update(part)
        return digest.hexdigest()

    def digests(self) -> NDArray[np.uint64]:
        """Eight bytes of each example's input, whatever its label: the same for the same input."""
        each = (self.batch(np.array([index])).inputs for index in range(len(self)))
        return digests_of(b"".join(_bytes(inputs)) for inputs in each)

    def likenesses(self) -> NDArray[np.uint64] | None:
        """Eight bytes of each example's input, the same where inputs are nearly the same.

        Nothing where it is not known what that would be.
        """
        return None


class Subset(Examples):
    """Some of the examples of another set, without copying them.

    Example:
        >>> import torch
        >>> class Squares(Examples):
        ...     def __len__(self): return 10
        ...     def batch(self, indices): return Batch(None, torch.as_tensor(indices) ** 2)
        >>> Subset(Squares(), np.array([7, 2, 5])).batch(np.array([0, 2])).labels
        tensor([49, 25])
    """

    def __init__(self, examples: Examples, indices: Indices) -> None:
        self._examples = examples
        self._indices = indices
        self.in_words, self.notes = examples.in_words, examples.notes
        self.lengths = None if examples.lengths is None else examples.lengths[indices]
        self.rows = None if examples.rows is None else examples.rows[indices]

    def __len__(self) -> int:
        return len(self._indices)

    @property
    def indices(self) -> Indices:
        """Which of the other set's examples these are."""
        return self._indices

    def batch(self, indices: Indices) -> Batch:
        """The examples at these positions of the subset."""
        return self._examples.batch(self._indices[indices])

    def with_own_means(self) -> Subset:
        """The same of them, each with a loss of its own."""
        return Subset(self._examples.with_own_means(), self._indices)

    def show(self, index: int) -> Shown:
        """What a person sees of one example."""
        return self._examples.show(int(self._indices[index]))

    def preview(self, index: int) -> str:
        """The example as it was read."""
        return self._examples.preview(int(self._indices[index]))

    def label(self, index: int) -> Any:
        """The gold label of one example."""
        return self._examples.label(int(self._indices[index]))

    def answered(self, index: int, gold: Any, predicted: Any) -> Iterable[tuple[str, Any, Any]]:
        """The rows that an example has in a table of predictions."""
        return self._examples.answered(int(self._indices[index]), gold, predicted)

    def digests(self) -> NDArray[np.uint64]:
        """Eight bytes of each example's input."""
        return self._examples.digests()[self._indices]

    def likenesses(self) -> NDArray[np.uint64] | None:
        """The same where inputs are nearly the same."""
        found = self._examples.likenesses()
        return None if found is None else found[self._indices]

    def groups(self) -> Sequence[Any] | NDArray[Any] | Coded | None:
        """Which group each example is in."""
        found = self._examples.groups()
        if isinstance(found, Coded):
            return found.at(self._indices)
        return None if found is None else [found[int(index)] for index in self._indices]

    def clusters(self, count: int, *, seed: int) -> Numbers | None:
        """Which cluster each example is in, of those of the whole set."""
        found = self._examples.clusters(count, seed=seed)
        return None if found is None else found[self._indices]

    def names(self) -> Coded | None:
        """One name for each example."""
        found = self._examples.names()
        return None if found is None else found.at(self._indices)

    def all_names(self) -> tuple[Coded, NDArray[np.int32] | int] | None:
        """Every name that examples have, and how many each example has."""
        found = self._examples.all_names()
        if found is None:
            return None
        coded, given = found
        counts = np.broadcast_to(np.asarray(given, np.int32), len(self._examples))
        ends = np.cumsum(counts)
        places = [np.arange(ends[i] - counts[i], ends[i]) for i in self._indices]
        return Coded(coded.names, coded.numbers[np.concatenate(places)]), counts[self._indices]


def digests_of(parts: Iterable[Any]) -> NDArray[np.uint64]:
    """Eight bytes for each of these.

    Example:
        >>> len(set(digests_of([b"one", b"two", b"one"]).tolist()))
        2
    """
    found = (hashlib.blake2b(part, digest_size=8).digest() for part in parts)
    return np.frombuffer(b"".join(found), np.uint64)


def _bytes(value: Any) -> Iterator[bytes]:
    """Of all tensors in a nest, with their shapes."""
    if isinstance(value, Tensor):
        yield str((tuple(value.shape), value.dtype)).encode()
        plain = value.detach().cpu().contiguous().view(-1)
        yield plain.view(torch.uint8).numpy().tobytes()
    elif isinstance(value, Mapping):
        for key in value:
            yield str(key).encode()
            yield from _bytes(value[key])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _bytes(part)
    else:
        yield repr(value).encode()
