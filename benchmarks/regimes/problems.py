"""What is trained: a target, its sources, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from tawt.tasks.examples import Subset

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from benchmarks.regimes.parts import Parts
    from tawt.tasks import MultiTaskModel, Task
    from tawt.units import Units

Unit = Literal["task", "group", "example"]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A target and its sources."""

    target: Task
    sources: Sequence[Task]
    worth: Mapping[str, float]
    """Of each source, or part of it: what is worth more should have more weight."""
    picked: tuple[str, ...]
    """The sources, or parts, that someone who knows them would take."""
    model: Callable[[Sequence[Task]], MultiTaskModel]
    """Makes the untrained model of some tasks."""
    parts: Parts | None = None
    """Of the one source, where weights are on groups or examples of it."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of the sources, or of the parts of the one there is."""
        return tuple(task.name for task in self.sources) if self.parts is None else (*self.worth,)

    @property
    def unit(self) -> Unit:
        """What weights are put on."""
        return "task" if self.parts is None else self.parts.unit

    @property
    def units(self) -> Units | None:
        """The same of the one source, where it is not whole."""
        found = [self.parts.units(task.name) for task in self.sources if self.parts is not None]
        return found[0] if found else None

    @property
    def sizes(self) -> dict[str, int]:
        """Training examples of each source."""
        return {task.name: len(task.train) for task in self.sources}

    def of(self, names: Iterable[str]) -> Problem:
        """The same with some of the sources, or with some parts of the one there is."""
        wanted = set(names)
        if self.parts is None or not wanted:
            return replace(self, sources=[task for task in self.sources if task.name in wanted])
        kept = np.flatnonzero(np.isin(self.parts.of_example, [*wanted]))
        [whole] = self.sources
        return replace(
            self,
            sources=[replace(whole, train=Subset(whole.train, kept))],
            parts=replace(self.parts, of_example=self.parts.of_example[kept]),
        )
