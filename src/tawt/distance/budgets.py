"""How long trainings last, so that nothing is better only for having been trained longer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class TrainingBudget:
    """Numbers of passes that come to the same numbers of steps.

    A handful of examples is soon passed over: trained for as many passes as a thousand, it would
    lose to any source, whatever that has to teach.

    Args:
        epochs: Passes over a source.
        batch: Examples in a step.
        sizes: Examples of each source; a source of average size sets the number of steps.
        target_size: Examples of the target.

    Example:
        >>> budget = TrainingBudget(epochs=2, batch=10, sizes=(900, 1100), target_size=100)
        >>> budget.own(100), budget.joint(900), budget.joint(1100), budget.alone
        (20, 2, 2, 11)
    """

    epochs: int
    batch: int
    sizes: tuple[int, ...]
    target_size: int

    def own(self, size: int) -> int:
        """Over all there is of a task, by itself: as many steps as over a source."""
        return max(self.epochs, round(self._source / self._steps(size)))

    def joint(self, size: int) -> int:
        """Over a source of this size and the target together: the same steps for every source."""
        return max(1, round(self._together / (self._steps(size) + self._steps(self.target_size))))

    @property
    def alone(self) -> int:
        """Over the target alone: as many steps on it as it has beside a source, half of all."""
        return max(1, round(self._together / 2 / self._steps(self.target_size)))

    @property
    def _source(self) -> float:
        return self.epochs * float(np.mean([self._steps(size) for size in self.sizes]))

    @property
    def _together(self) -> float:
        return self._source + self.epochs * self._steps(self.target_size)

    def _steps(self, size: int) -> int:
        return math.ceil(size / self.batch)
