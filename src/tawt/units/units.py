"""What the weights of all tasks are put on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.errors import WeightsError, is_whole
from tawt.given import names_of
from tawt.units.coded import Coded
from tawt.units.parts import EachExample, Groups, TaskUnits, Whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tawt.units.parts import Counts


@dataclass(frozen=True, eq=False)
class Units:
    """For every task that is weighed, what its weights are put on.

    Build them with `of_tasks`, `of_groups` or `of_examples`. A target that is weighed beside finer
    units of the sources is appended as a whole task, with `with_whole`.

    Attributes:
        parts: The units of each task, in order.

    Example:
        >>> units = Units.of_groups({"pos": ["noun", "verb", "noun"], "chunk": ["np"]})
        >>> units.count, units.at("pos", np.array([2, 1])), units.place(2)
        (3, array([0, 1], dtype=int32), ('chunk', 'np'))
        >>> Units.of_examples({"pos": 3, "chunk": 1}).with_whole(["ner"]).place(4)
        ('ner', None)
    """

    parts: Mapping[str, TaskUnits]

    def __post_init__(self) -> None:
        if not self.parts:
            raise WeightsError("There must be at least one source to weigh; got none.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Units) and self.fingerprint() == other.fingerprint()

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    @classmethod
    def of_tasks(cls, names: Iterable[str]) -> Units:
        """Every task is a unit.

        Args:
            names: Of the tasks, in order.

        Example:
            >>> Units.of_tasks(["pos", "chunk"]).count
            2
        """
        return cls({name: Whole() for name in _distinct(names)})

    @classmethod
    def of_examples(cls, sizes: Mapping[str, int]) -> Units:
        """Every example is a unit.

        Args:
            sizes: Examples of each task.
        """
        _check_sizes(sizes)
        return cls({name: EachExample(size) for name, size in sizes.items()})

    @classmethod
    def of_groups(cls, labels: Mapping[str, Sequence[Any] | np.ndarray[Any, Any] | Coded]) -> Units:
        """The examples of a task that are labelled alike are a unit.

        Args:
            labels: Of each example, by task: a list, an array, or numbers with their names;
                anything that can be shown as text.

        Example:
            >>> Units.of_groups({"pos": np.array([7, 12, 7])}).parts["pos"].names
            ('12', '7')
        """
        parts: dict[str, Groups] = {}
        for name, given in labels.items():
            _check_flat(name, given)
            coded = (given if isinstance(given, Coded) else Coded.of(given)).ordered()
            parts[name] = Groups(coded.names, coded.numbers)
        _check_sizes({name: part.size for name, part in parts.items()})
        return cls(parts)

    def with_whole(self, names: Iterable[str]) -> Units:
        """These units, then each of these tasks as one unit.

        Example:
            >>> Units.of_examples({"pos": 3}).with_whole(["ner"]).names
            ('pos', 'ner')
        """
        added = names_of(names, what="The tasks to weigh")
        _distinct([*self.parts, *added])
        return Units({**self.parts, **{name: Whole() for name in added}})

    @property
    def names(self) -> tuple[str, ...]:
        """The tasks, in order."""
        return tuple(self.parts)

    @property
    def finer(self) -> tuple[str, ...]:
        """The tasks whose units are finer than the task.

        Example:
            >>> Units.of_examples({"pos": 3}).with_whole(["ner"]).finer
            ('pos',)
        """
        return tuple(name for name, part in self.parts.items() if not part.is_whole)

    @property
    def sizes(self) -> dict[str, int]:
        """Examples of each task whose units are finer than the task; of no other."""
        return {name: part.size for name, part in self.parts.items() if part.size is not None}

    @property
    def count(self) -> int:
        """How many there are, of all tasks."""
        return sum(part.count for part in self.parts.values())

    @cached_property
    def spans(self) -> dict[str, slice]:
        """The units of each task, which follow one another."""
        found: dict[str, slice] = {}
        before = 0
        for name, part in self.parts.items():
            found[name] = slice(before, before + part.count)
            before += part.count
        return found

    def counts(self, sizes: Mapping[str, int]) -> Counts:
        """Examples of each unit, of all tasks.

        Args:
            sizes: Examples of each task; those with finer units need not be in it.

        Example:
            >>> Units.of_groups({"pos": ["a", "b", "a"]}).with_whole(["ner"]).counts({"ner": 9})
            array([2, 1, 9])
        """
        known = {**sizes, **self.sizes}
        return np.concatenate([part.counts(known[name]) for name, part in self.parts.items()])

    def at(self, task: str, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The units of the task's examples at these positions."""
        found: np.ndarray[Any, Any] = self.parts[task].at(indices) + self._start(task)
        return found

    def place(self, unit: int) -> tuple[str, int | str | None]:
        """The task of a unit, and which of its examples, or of its groups, the unit is."""
        for name, span in self.spans.items():
            if span.start <= unit < span.stop:
                return name, self.parts[name].label(unit - span.start)
        raise WeightsError(
            f"There is no unit {unit}; they are numbered from 0 to {self.count - 1}."
        )

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Names of each task's groups, for tasks that have any."""
        return {name: part.names for name, part in self.parts.items() if part.names}

    def members(self, task: str) -> np.ndarray[Any, Any]:
        """The unit of each example of a task whose units are finer than the task."""
        return self.at(task, np.arange(self.sizes[task], dtype=np.int32))

    def fingerprint(self) -> str:
        """SHA-256 of what is what, to tell whether saved weights are of these units."""
        groups = self.groups
        about: dict[str, Any] = {
            "sizes": self.sizes,
            "groups": {name: list(found) for name, found in groups.items()},
        }
        whole = {name: self._start(name) for name, part in self.parts.items() if part.is_whole}
        if whole:
            about["whole"] = whole
        digest = hashlib.sha256(json.dumps(about).encode())
        for name in groups:
            digest.update(self.members(name).tobytes())
        return digest.hexdigest()

    def _start(self, task: str) -> int:
        return int(self.spans[task].start)


def _distinct(names: Iterable[str]) -> list[str]:
    found = names_of(names, what="The tasks to weigh")
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise WeightsError(f"Tasks must have different names; {twice[0]!r} is given twice.")
    return found


def _check_flat(task: str, labels: object) -> None:
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise WeightsError(
            f"Task {task!r} needs one label per example; got an array of shape {labels.shape}."
        )


def _check_sizes(sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        if not is_whole(size):
            raise WeightsError(f"Task {name!r} has size {size!r}; sizes must be whole numbers.")
        if size < 1:
            raise WeightsError(f"Task {name!r} has size {size}; sizes must be at least 1.")
