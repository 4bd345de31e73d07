"""What is trained: a target, its sources, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tawt.tasks import MultiTaskModel, Task


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A target and its sources."""

    target: Task
    sources: Sequence[Task]
    worth: Mapping[str, float]
    """Of each source: one that is worth more should have more weight."""
    picked: tuple[str, ...]
    """The sources that someone who knows them would take."""
    model: Callable[[Sequence[Task]], MultiTaskModel]
    """Makes the untrained model of some tasks."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the sources."""
        return tuple(task.name for task in self.sources)

    @property
    def sizes(self) -> dict[str, int]:
        """Training examples of each source."""
        return {task.name: len(task.train) for task in self.sources}

    def of(self, names: Iterable[str]) -> Problem:
        """The same with some of the sources."""
        wanted = set(names)
        return replace(self, sources=[task for task in self.sources if task.name in wanted])


def area(weights: Mapping[str, float], worth: Mapping[str, float]) -> float | None:
    """How often the better of two sources has the larger weight; equal weights count a half.

    Where worth is one or nothing it is the area under the curve of useful against useless sources.

    Args:
        weights: Of the sources, and of others that do not matter.
        worth: Of every source.

    Example:
        >>> area({"near": 0.6, "far": 0.2, "noise": 0.2}, {"near": 1.0, "far": 1.0, "noise": 0.0})
        0.75
    """
    if not worth.keys() <= weights.keys():
        return None
    pairs = [
        (weights[first] - weights[second]) * (worth[first] - worth[second])
        for first, second in combinations(worth, 2)
        if worth[first] != worth[second]
    ]
    return sum(0.5 if pair == 0 else float(pair > 0) for pair in pairs) / len(pairs)
