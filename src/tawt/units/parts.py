"""How the examples of one task are divided into units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import torch

if TYPE_CHECKING:
    from torch import Tensor

    from tawt.units.coded import Numbers

Counts = np.ndarray[Any, np.dtype[np.int64]]


class TaskUnits(Protocol):
    """The units of one task, numbered from zero."""

    @property
    def size(self) -> int | None:
        """Examples of the task, where it must be known which unit each of them is in."""
        ...

    @property
    def count(self) -> int:
        """How many units there are."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Of the units, where they have names: groups do."""
        ...

    @property
    def is_whole(self) -> bool:
        """Whether the task is one unit: it is measured by its own loss, not by its examples'."""
        ...

    def counts(self, size: int) -> Counts:
        """Examples of each unit, in a task that has `size` of them."""
        ...

    def log_fractions(self) -> Tensor:
        """Logarithm of the share of the task's examples that each unit has."""
        ...

    def at(self, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The units of the examples at these positions."""
        ...

    def label(self, unit: int) -> int | str | None:
        """Which example, or which group, a unit is; nothing for the whole task."""
        ...


@dataclass(frozen=True)
class Whole:
    """The task is one unit.

    Example:
        >>> Whole().counts(120), Whole().at(np.array([7, 3]))
        (array([120]), array([0, 0]))
    """

    size: ClassVar[None] = None
    count: ClassVar[int] = 1
    names: ClassVar[tuple[str, ...]] = ()
    is_whole: ClassVar[bool] = True

    def counts(self, size: int) -> Counts:
        """All examples."""
        return np.array([size], np.int64)

    def log_fractions(self) -> Tensor:
        """The logarithm of one; in float64, as weights on tasks are."""
        return torch.zeros(1, dtype=torch.float64)

    def at(self, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The one unit, for every example."""
        return np.zeros_like(indices)

    def label(self, unit: int) -> None:
        """Nothing tells it from other units of the task: there are none."""


@dataclass(frozen=True)
class Groups:
    """Examples that are labelled alike are a unit.

    Attributes:
        names: Of the groups, sorted.
        members: The group of each example, as a number.

    Example:
        >>> groups = Groups(("noun", "verb"), np.array([0, 1, 0], np.int32))
        >>> groups.count, groups.counts(3), groups.label(1)
        (2, array([2, 1]), 'verb')
    """

    names: tuple[str, ...]
    members: Numbers
    is_whole: ClassVar[bool] = False

    @property
    def size(self) -> int:
        """Examples of the task."""
        return len(self.members)

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.names)

    def counts(self, size: int) -> Counts:
        """Examples of each group."""
        return np.bincount(self.members, minlength=self.count)

    def log_fractions(self) -> Tensor:
        """By the sizes of the groups."""
        return torch.from_numpy(self.counts(self.size)).log() - math.log(self.size)

    def at(self, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The groups of these examples."""
        found: np.ndarray[Any, Any] = self.members[indices]
        return found

    def label(self, unit: int) -> str:
        """The group's name."""
        return self.names[unit]


@dataclass(frozen=True)
class EachExample:
    """Every example is a unit.

    Example:
        >>> EachExample(3).at(np.array([2, 0])), EachExample(3).label(2)
        (array([2, 0]), 2)
    """

    size: int
    names: ClassVar[tuple[str, ...]] = ()
    is_whole: ClassVar[bool] = False

    @property
    def count(self) -> int:
        """As many as there are examples."""
        return self.size

    def counts(self, size: int) -> Counts:
        """One each."""
        return np.ones(self.size, np.int64)

    def log_fractions(self) -> Tensor:
        """The same for all."""
        return torch.from_numpy(self.counts(self.size)).log() - math.log(self.size)

    def at(self, indices: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The examples themselves."""
        return indices

    def label(self, unit: int) -> int:
        """The example's position."""
        return unit
