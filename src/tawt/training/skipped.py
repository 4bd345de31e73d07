"""Counting the steps that were left out because a number was not finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tawt.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from tawt.training.processes import TrainingProcesses


SEVERAL = "several tasks"
"""What a mixed step is counted as."""


class SkippedSteps:
    """How many steps of each task were skipped, counted on the device and read now and then.

    Args:
        names: Of the tasks.
        device: Where steps happen.
        allowed: How many steps and updates may be skipped.

    Example:
        >>> skipped = SkippedSteps(["a", "b"], torch.device("cpu"), allowed=10)
        >>> skipped.add("b", torch.tensor(True))
        >>> skipped.counts()
        {'a': 0, 'b': 1, 'several tasks': 0}
    """

    def __init__(self, names: Sequence[str], device: torch.device, *, allowed: int) -> None:
        self._allowed = allowed
        self._positions = {name: position for position, name in enumerate([*names, SEVERAL])}
        self.tally = torch.zeros(len(self._positions), dtype=torch.long, device=device)

    def add(self, task: str, bad: Tensor) -> None:
        """Count a step of the task if it was bad; does not wait for the device."""
        self.tally[self._positions[task]] += bad

    def counts(self) -> dict[str, int]:
        """Skipped steps by task."""
        return dict(zip(self._positions, self.tally.tolist(), strict=True))

    def check(self, *, updates: Sequence[str], processes: TrainingProcesses) -> None:
        """Refuse to go on when too much was skipped.

        Args:
            updates: Why weight updates were skipped, one reason each.
            processes: That train together, and must all refuse.

        Raises:
            TrainingError: Naming the task that fails most.
        """
        self.tally.copy_(processes.largest(self.tally))
        counts = self.counts()
        total = sum(counts.values()) + len(updates)
        if total <= self._allowed:
            return
        worst = max(counts, key=lambda name: counts[name])
        task = worst if worst == SEVERAL else f"task {worst!r}"
        where = f", {counts[worst]} of them on {task}" if counts[worst] else ""
        where += f" ({updates[-1]})" if updates else ""
        raise TrainingError(
            f"{total} steps or updates were skipped because a loss or gradient was not finite"
            f"{where}; `max_nonfinite` allows {self._allowed}. Lower the learning rate, or look "
            "for bad inputs."
        )
