"""How far a mixture has come, and that one loop at a time moves it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterator


class Course:
    """Counts steps over all loops.

    A loop ends after its steps. The next goes on where that one ended; after a `break` or a resume
    it makes the steps that were left. After a resume these can be none: the state was saved in the
    last step of a loop, and what follows the loop is to come.

    Attributes:
        step: How many were begun.
        begun: At which of them the loop began that is under way.

    Example:
        >>> course = Course()
        >>> [step for step in course.loop(2)], [step for step in course.loop(2)]
        ([0, 1], [2, 3])
    """

    def __init__(self) -> None:
        self.step = 0
        self.begun = 0
        self._loops = 0
        self._resumed = False

    def loop(self, steps: int) -> Iterator[int]:
        """The numbers of the steps that are left of this loop, or of a new one.

        Raises:
            TrainingError: Another loop was begun, and this one goes on.
        """
        self._loops += 1
        if self.step >= self.begun + steps and not self._resumed:
            self.begun = self.step
        self._resumed = False
        return self._left(self._loops, steps)

    def _left(self, loop: int, steps: int) -> Iterator[int]:
        while True:
            if loop != self._loops:
                raise TrainingError(
                    "This mixture is used by two loops at once, and each would take the other's "
                    "steps. Finish one before you begin the next, or make a mixture for each."
                )
            if self.step >= self.begun + steps:
                self.begun = self.step
                return
            self.step += 1
            yield self.step - 1

    def load(self, step: int, begun: int) -> None:
        """Go on from there; a loop under way is refused its next step."""
        self.step, self.begun = step, begun
        self._loops += 1
        self._resumed = True
