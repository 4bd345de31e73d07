"""Gradients of training steps that the weighting learns from, where it is told to.

In joint training the target's own steps are the direction that others are compared with. Where the
target is not trained on, its gradient is taken every few steps, from few examples: a direction
ages faster than more examples would improve it.

A gradient of several tasks says little about each. Where every step has examples of all tasks, now
and then one is taken piece by piece, each of one task, and every piece is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tawt.errors import ConfigError
from tawt.gradients import trainable
from tawt.training.parts import BATCH_NORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from accelerate import Accelerator
    from torch import Tensor

    from tawt.tasks import MultiTaskModel
    from tawt.training.settings import Settings
    from tawt.training.stretch import Stretch
    from tawt.weighting import Weighting

AIM_EVERY = 5
"""Steps between two gradients of a target that is not trained on."""
PIECES = 8
"""Of a step whose tasks are looked at one by one."""


class Watching:
    """Compares gradients with the target's, as a part of the step that they belong to.

    What is computed on the device can be recorded and replayed: it writes to memory that is
    there from the beginning. What is said about it (`begin`, `end`) is said for every step.

    Args:
        model: That is trained.
        weighting: That learns, if it is one that does.
        settings: Of the loop; `measure` says whether to watch at all.
    """

    def __init__(self, model: MultiTaskModel, weighting: Weighting, settings: Settings) -> None:
        watches = settings.measure == "training steps"
        self._weighting = weighting
        self._observer = weighting.observing() if watches else None
        self._scales: dict[str, float] = {}
        self._pieces: dict[int, Tensor] = {}
        if self._observer is not None:
            if settings.sampling == "mixed":
                _check_statistics(model)
            self._parameters = trainable(model.representation)
            self._observer.hold(self._parameters)
            device = self._parameters[0].device
            self._numbers = torch.zeros(3, dtype=torch.float64, device=device)

    def begin(self, stretch: Stretch, task: str, scale: float) -> None:
        """A batch of this task is about to be added to the step's gradient."""
        if stretch.weighting is self._weighting:
            self._scales[task] = self._scales.get(task, 0.0) + scale

    def see(
        self, stretch: Stretch, number: int, scale: Tensor, gradients: Sequence[Tensor | None]
    ) -> None:
        """Take the products of the gradient of a piece.

        Args:
            stretch: The steps that are under way.
            number: Of the piece, among those of its step.
            scale: By which its mean loss was multiplied.
            gradients: By the stretch's parameters.
        """
        if self._observer is None or stretch.weighting is not self._weighting:
            return
        entries = {id(p): entry for p, entry in zip(stretch.parameters, gradients, strict=True)}
        own = [entries.get(id(parameter)) for parameter in self._parameters]
        found = self._observer.hold(self._parameters).products(own)
        by = torch.where(scale > 0, scale, 1.0).to(found)  # of no weight, no gradient
        self._pieces[number] = found / torch.stack([by, by.square(), torch.ones_like(by)])

    def note_pieces(self, owners: Sequence[str], accelerator: Accelerator) -> None:
        """Note what the pieces of a step have shown, those of other processes too.

        Args:
            owners: The task of each piece.
            accelerator: Whose processes have had a part of them each.
        """
        if self._observer is None:
            return
        found = self._numbers.new_zeros(len(owners), 3)
        for number, products in self._pieces.items():
            found[number] = products
        self._pieces = {}
        if accelerator.num_processes > 1:
            found = accelerator.reduce(found, reduction="sum")
        for task, numbers in zip(owners, found, strict=True):
            self._observer.note({task: 1.0}, numbers)

    def compare(self, stretch: Stretch) -> None:
        """Take the products of the gradient that is there, and of a target's the next direction."""
        if self._observer is None or stretch.weighting is not self._weighting or not self._scales:
            return
        self._numbers.copy_(self._observer.compared(self._parameters, renews=self._is_targets))

    def end(self, stretch: Stretch) -> None:
        """The step is done: note what it showed."""
        if stretch.weighting is not self._weighting:
            return  # heads may be fitted between two batches of a step
        total = sum(self._scales.values())
        if self._observer is not None and total > 0:
            shares = {name: scale / total for name, scale in self._scales.items()}
            # As if the losses had been scaled by their shares alone.
            per_share = self._numbers.new_tensor([1 / total, 1 / total**2, 1.0])
            renews = self._is_targets
            self._observer.note(shares, self._numbers * per_share, renews=renews)
        self._scales = {}

    @property
    def _is_targets(self) -> bool:
        """Whether the step is on the one target alone."""
        return self._observer is not None and list(self._scales) == [self._observer.target]

    def aim_if_due(self, stretch: Stretch, step: int, aim: Callable[[], None]) -> None:
        """Have the gradient taken of a target that no step is on, once its head knows something.

        Args:
            stretch: The steps that are under way.
            step: How many there were.
            aim: Takes it.
        """
        if self._observer is None or stretch.weighting is not self._weighting:
            return
        if step % AIM_EVERY or not self._weighting.history.updates:
            return
        if self._observer.target not in self._weighting.weights.names:
            aim()

    @property
    def has_seen(self) -> bool:
        """Whether there is something to move the weights by."""
        return self._observer is not None and self._observer.is_waiting

    def state(self) -> dict[str, Any]:
        """The direction, which the weighting's own state leaves out."""
        direction = None if self._observer is None else self._observer.direction
        return {} if direction is None else {"direction": direction.entries()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Hold the direction that was saved; the weighting has been restored."""
        if self._observer is None:
            return
        self._observer = self._weighting.observing()
        assert self._observer is not None
        self._observer.hold(self._parameters)
        if self._observer.direction is not None and "direction" in state:
            device = self._parameters[0].device
            self._observer.direction.take([entry.to(device) for entry in state["direction"]])


def _check_statistics(model: MultiTaskModel) -> None:
    """Refuse statistics of a batch where steps are taken in pieces of one task each.

    Raises:
        ConfigError: The model keeps such statistics.
    """
    if any(isinstance(module, BATCH_NORMS) for module in model.modules()):
        raise ConfigError(
            "`measure: training steps` takes mixed steps in pieces, whose statistics a model with "
            "batch normalisation would take for those of the batch. Use `measure: fresh batches`.",
            place=("training", "measure"),
        )
