"""What a weight is put on, where it is finer than a task: groups of a source's examples, or each.

Units are numbers: those of the first source, those of the second, and so on. No object is made for
an example, so that there may be millions.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.errors import WeightsError, is_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Numbers = np.ndarray[tuple[int], np.dtype[np.int32]]

_AT_ONCE = 1 << 16  # labels of an array that are sorted


@dataclass(frozen=True)
class Coded:
    """Labels as numbers, four bytes each, and every name once.

    Attributes:
        names: By number.
        numbers: One for each label.

    Example:
        >>> Coded.of(["noun", "verb", "noun"])
        Coded(names=('noun', 'verb'), numbers=array([0, 1, 0], dtype=int32))
    """

    names: tuple[str, ...]
    numbers: Numbers

    @classmethod
    def of(cls, labels: Iterable[Any]) -> Coded:
        """These labels, as text.

        Args:
            labels: Anything that can be shown as text. Of an array, no entry is made an object.
        """
        codes: dict[str, int] = {}
        if not isinstance(labels, np.ndarray) or labels.dtype == object:
            seen = (codes.setdefault(str(label), len(codes)) for label in labels)
            numbers = np.fromiter(seen, np.int32)  # which fills `codes`
            return cls(tuple(codes), numbers)
        numbers = np.empty(len(labels), np.int32)
        for start in range(0, len(labels), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            names, places = np.unique(np.asarray(labels[part]), return_inverse=True)
            found = [codes.setdefault(str(name), len(codes)) for name in names]
            numbers[part] = np.array(found, np.int32)[places]
        return cls(tuple(codes), numbers)

    def ordered(self) -> Coded:
        """The same labels, their names sorted, and none that no label has.

        Example:
            >>> Coded(("c", "a", "b"), np.array([0, 2, 0], np.int32)).ordered()
            Coded(names=('b', 'c'), numbers=array([1, 0, 1], dtype=int32))
        """
        counts = np.bincount(self.numbers, minlength=len(self.names)).tolist()
        names = sorted({name for name, count in zip(self.names, counts, strict=True) if count})
        places = {name: place for place, name in enumerate(names)}
        moved = np.array([places.get(name, 0) for name in self.names], np.int32)
        return Coded(tuple(names), moved[self.numbers])


@dataclass(frozen=True)
class Units:
    """Which unit every example of every source is in.

    Build them with `of_examples` or `of_groups`.

    Attributes:
        sizes: Examples of each source, in order.
        groups: Labels of each source's groups; nothing where every example is a unit.
        members: The unit of each example, by source; nothing where every example is a unit.

    Example:
        >>> units = Units.of_groups({"pos": ["noun", "verb", "noun"], "chunk": ["np"]})
        >>> units.count, units.at("pos", np.array([2, 1])), units.place(2)
        (3, array([0, 1], dtype=int32), ('chunk', 'np'))
        >>> Units.of_examples({"pos": 3, "chunk": 1}).place(3)
        ('chunk', 0)
    """

    sizes: Mapping[str, int]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    members: Mapping[str, Numbers] = field(default_factory=dict)

    @classmethod
    def of_examples(cls, sizes: Mapping[str, int]) -> Units:
        """Every example is a unit.

        Args:
            sizes: Examples of each source.
        """
        _check_sizes(sizes)
        return cls(dict(sizes))

    @classmethod
    def of_groups(cls, labels: Mapping[str, Sequence[Any] | np.ndarray[Any, Any] | Coded]) -> Units:
        """The examples of a source that are labelled alike are a unit.

        Args:
            labels: Of each example, by source: a list, an array, or numbers with their names;
                anything that can be shown as text.

        Example:
            >>> Units.of_groups({"pos": np.array([7, 12, 7])}).groups
            {'pos': ('12', '7')}
        """
        sizes: dict[str, int] = {}
        groups: dict[str, tuple[str, ...]] = {}
        members: dict[str, Numbers] = {}
        before = 0
        for source, given in labels.items():
            _check_flat(source, given)
            coded = (given if isinstance(given, Coded) else Coded.of(given)).ordered()
            sizes[source], groups[source] = len(coded.numbers), coded.names
            members[source] = coded.numbers + np.int32(before)
            before += len(coded.names)
        _check_sizes(sizes)
        return cls(sizes, groups, members)

    def fingerprint(self) -> str:
        """SHA-256 of what is what, to tell whether saved weights are of these units."""
        about = {"sizes": dict(self.sizes), "groups": {k: list(v) for k, v in self.groups.items()}}
        digest = hashlib.sha256(json.dumps(about).encode())
        for source in self.members:
            digest.update(self.members[source].tobytes())
        return digest.hexdigest()

    @property
    def are_examples(self) -> bool:
        """Whether every example is a unit."""
        return not self.groups

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(span.stop - span.start for span in self.spans.values())

    @property
    def spans(self) -> dict[str, slice]:
        """The units of each source, which follow one another."""
        found: dict[str, slice] = {}
        before = 0
        for source, size in self.sizes.items():
            here = size if self.are_examples else len(self.groups[source])
            found[source] = slice(before, before + here)
            before += here
        return found

    def counts(self, source: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Examples of each of the source's units."""
        if self.are_examples:
            return np.ones(self.sizes[source], np.int64)
        span = self.spans[source]
        return np.bincount(self.members[source] - span.start, minlength=span.stop - span.start)

    def at(self, source: str, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The units of the source's examples at these positions."""
        found: np.ndarray[Any, Any]
        if self.are_examples:
            found = indices + self.spans[source].start
        else:
            found = self.members[source][indices]
        return found

    def place(self, unit: int) -> tuple[str, int | str]:
        """The source of a unit, and which of its examples, or of its groups, the unit is."""
        for source, span in self.spans.items():
            if span.start <= unit < span.stop:
                number = unit - span.start
                return source, number if self.are_examples else self.groups[source][number]
        raise WeightsError(
            f"There is no unit {unit}; they are numbered from 0 to {self.count - 1}."
        )


def _check_flat(source: str, labels: object) -> None:
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise WeightsError(
            f"Task {source!r} needs one label per example; got an array of shape {labels.shape}."
        )


def _check_sizes(sizes: Mapping[str, int]) -> None:
    if not sizes:
        raise WeightsError("There must be at least one source to weigh; got none.")
    for name, size in sizes.items():
        if not is_whole(size):
            raise WeightsError(f"Task {name!r} has size {size!r}; sizes must be whole numbers.")
        if size < 1:
            raise WeightsError(f"Task {name!r} has size {size}; sizes must be at least 1.")
