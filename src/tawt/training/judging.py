"""Whether training goes well, after every epoch, and the model to go back to where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.training.evaluation import combined_score
from tawt.training.guard import Guard
from tawt.training.processes import TrainingProcesses
from tawt.training.selection import Selection, copied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from accelerate import Accelerator
    from torch import Tensor

    from tawt.tasks import MultiTaskModel
    from tawt.training.material import Material
    from tawt.training.paradigms import Phase
    from tawt.training.result import Predictions
    from tawt.training.settings import Settings


class Judge:
    """Looks at the target when a phase begins, and after every epoch of it.

    By dev examples, where the target's head is trained in the phase and there are any; else by what
    the representation says of the target. Where every epoch is clearly below the start, or nothing
    is left of what the representation said, the phase ends with the model that it began with.

    Args:
        model: That is trained.
        material: Tasks, targets and their examples.
        settings: Whether the best epoch is kept (`select`), and the start too (`guard`).
        accelerator: Whose processes all decide as the first does.
        on_dev: Predicts every target's dev examples.

    Attributes:
        selection: The best epoch of the phase.
        guard: Says what it sees.
    """

    def __init__(
        self,
        model: MultiTaskModel,
        material: Material,
        settings: Settings,
        accelerator: Accelerator,
        *,
        on_dev: Callable[[], dict[str, Predictions]],
    ) -> None:
        self._model, self._material = model, material
        self._accelerator, self._on_dev = accelerator, on_dev
        self._processes = TrainingProcesses.of(accelerator)
        self._selects = settings.select == "best"
        self._keeps_start = self._selects and settings.guard
        self.selection, self.guard = Selection(), Guard()
        self._start: dict[str, Tensor] | None = None
        self._collapsed = self._undone = False

    def begin(self, phase: Phase, *, by_dev: bool) -> None:
        """A phase begins.

        Args:
            phase: Which.
            by_dev: Whether the target's head is trained in it.
        """
        self.selection, self._start = Selection(), None
        self._collapsed = self._undone = False
        if not phase.weighs_sources:
            return
        dev = self._on_dev() if by_dev else {}
        if dev:
            self.guard.look_at_dev(dev, self._material.tasks, step=0)
        elif gains := self._gains(phase):
            self.guard.look_at_gains(gains, step=0)
        else:
            return
        if self._keeps_start:
            self._start = copied(self._model)

    def epoch(
        self, phase: Phase, epochs: Sequence[Mapping[str, Any]], *, by_dev: bool, step: int
    ) -> dict[str, Any]:
        """An epoch has ended; what was seen.

        Args:
            phase: Of which.
            epochs: What is known of it, and of all before.
            by_dev: As for `begin`.
            step: How many there were.

        Returns:
            Scores on dev examples by target, and the one that epochs are chosen by, if there are.
        """
        dev = self._on_dev() if by_dev else {}
        if not dev:
            if phase.weighs_sources:
                self._look_without_dev(phase, epochs, step)
            return {}
        tasks, targets = self._material.tasks, self._material.targets
        [score, *_] = self._processes.all_of(combined_score(dev, tasks, targets))
        self.selection.offer(score, len(epochs) - 1, self._model if self._selects else None)
        if phase.weighs_sources:
            below = self.guard.look_at_dev(dev, tasks, step=step)
            [self._collapsed, *_] = self._processes.all_of(below)
            if not self._collapsed:  # this epoch, or a better one, is to be had
                self._start = None
        return {"dev": {name: found.scores for name, found in dev.items()}, "score": score}

    def _look_without_dev(
        self, phase: Phase, epochs: Sequence[Mapping[str, Any]], step: int
    ) -> None:
        gains = self._gains(phase)
        if gains:
            [self._collapsed, *_] = self._processes.all_of(
                self.guard.look_at_gains(gains, step=step)
            )
        else:
            losses = [entry["loss"] for entry in epochs if entry["phase"] == phase.name]
            self.guard.look_back(self._material.history, losses)

    def end(self, phase: Phase) -> bool:
        """A phase ends: have the model that it is to end with, and say so if it was warned of.

        Args:
            phase: Which.

        Returns:
            Whether it is the one that it began with.
        """
        self._undone = self._collapsed and self._start is not None
        if self._undone and self._start is not None:
            self._model.load_state_dict(self._start)
            self.guard.conclude("The model was put back as it was at the start (`training.guard`).")
        else:
            self.selection.restore(self._model)
            if phase.weighs_sources and self.selection.is_put_back:
                self.guard.conclude("The best epoch's model was put back (`training.select`).")
        self._start = None
        return self._undone

    def kept(self, epochs: int) -> int | None:
        """Position of the epoch whose model is kept, of so many; none, if it is the start."""
        if self._undone:
            return None
        return epochs - 1 if self.selection.kept is None else self.selection.kept

    def _gains(self, phase: Phase) -> dict[str, list[float]]:
        return self._material.gains(phase, self._model, self._accelerator)

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {
            "selection": self.selection.state_dict(),
            "guard": self.guard.state_dict(),
            "start": self._start,
            "collapsed": self._collapsed,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Inverse of `state_dict`."""
        self.selection = Selection.from_state(state["selection"])
        self.guard.load_state_dict(state["guard"])
        self._start, self._collapsed = state["start"], state["collapsed"]
