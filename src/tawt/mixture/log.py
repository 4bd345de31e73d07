"""What was drawn lately, so that what was drawn ahead is not lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.mixture.draws import Draw

KEPT = 1024
"""Steps that are remembered: far more than any loader draws ahead."""


class DrawLog:
    """The draws of recent steps, and those that a saved state brings with it.

    Args:
        ahead: Draws of the steps to come, from a state.
        step: The first of these steps.
    """

    def __init__(self, *, ahead: Sequence[Draw] = (), step: int = 0) -> None:
        self._draws = dict(enumerate(ahead, start=step))

    def __getitem__(self, step: int) -> Draw:
        if step not in self._draws:
            raise TrainingError(
                f"What was drawn for step {step} is not known; the last {KEPT} steps are, from the "
                "first that this sampler drew itself."
            )
        return self._draws[step]

    def recorded(self, step: int, count: int) -> Draw | None:
        """What was drawn for a step before, if it was for as many tasks."""
        found = self._draws.get(step)
        return found if found is not None and len(found.tasks) == count else None

    def add(self, step: int, draw: Draw) -> None:
        """Remember a step, and forget one that is long past."""
        self._draws[step] = draw
        self._draws.pop(step - KEPT, None)
