"""When a trainer's weights are measured and moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from transformers import TrainerCallback

from tawt.integrations.transformers.given import is_learned
from tawt.integrations.transformers.measuring import fresh_losses, representation_of, uncounted
from tawt.mixture import shares_of
from tawt.mixture.processes import check_alike
from tawt.weights.findings import FEWEST_EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import nn
    from torch.optim import Optimizer
    from transformers import Trainer

    from tawt.integrations.transformers.place import Place
    from tawt.integrations.transformers.settings import WeightedSettings
    from tawt.mixture import Weights
    from tawt.weighting import Weighting
    from tawt.weights import WeightUpdate


class Updates(TrainerCallback):
    """Moves the weights of a trainer, called by it around each step.

    Args:
        trainer: Whose loss is measured, and whose log weights go to.
        weights: As given; they may not be learned.
        settings: How often, and by what.
        fewest: Examples of the smallest target dataset; 0 where weights are not learned.

    Attributes:
        place: Where training is in its data; none before it begins.
    """

    def __init__(
        self, trainer: Trainer, weights: Weights, settings: WeightedSettings, *, fewest: int
    ) -> None:
        self.place: Place | None = None
        self._trainer = trainer
        self._weights = weights
        self._settings = settings
        self._learned = cast("Weighting", weights) if is_learned(weights) else None
        self._fewest = fewest
        self._by_steps = settings.measure == "training steps"
        self._lost = True  # whether the target's direction is to be measured anew
        self.representation()  # refuses a name that there is not, before training

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Log the weights that training begins with, and let a curvature have the optimiser."""
        self._lost = True
        if self._learned is not None:
            check_alike(self._settings.shared())
            optimiser = cast("Optimizer", self._trainer.optimizer)
            self._learned.follow(getattr(optimiser, "optimizer", optimiser))
        if state.global_step == 0:
            self._log({})

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Count from what was drawn: the last epoch may have been stopped with batches to come."""
        if self.place is not None:
            self.place.begin_epoch()

    def on_step_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Measure the target's gradient, for those of training steps to be compared with."""
        due = self._lost or state.global_step % self._settings.aim_every == 0
        if self._learned is None or not self._by_steps or not due:
            return
        self._lost = False
        self._trainer.model_wrapped.train()  # as in the step that follows
        with uncounted(self._trainer):
            self._learned.aim(self.representation(), **self._measured())

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Learn from the gradient of a step, all of whose batches are added up."""
        if self._learned is not None and self._by_steps and self.place is not None:
            shares = self.place.shares(self._trainer.current_gradient_accumulation_steps)
            self._learned.observe(self.representation(), shares)

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """Move the weights, if it is time; before the step is logged and saved."""
        if state.global_step % self._settings.update_every == 0:
            self.move()

    def on_save(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        """A direction is not saved. A resumed training measures one, and so this one does."""
        self._lost = True

    def move(self) -> WeightUpdate | None:
        """Update the weights and log them; nothing, if they are held or training has not begun."""
        if self._learned is None or self.place is None:
            return None
        step = self._trainer.state.global_step
        if self._by_steps:
            update = self._learned.update(step=step)
        else:
            half = self._target_half()
            with uncounted(self._trainer):
                update = self._learned.update(
                    self.representation(),
                    step=step,
                    target_half=half,
                    **self._measured(half=half),
                )
        self._log({} if update is None else update.alignments)
        return update

    def representation(self) -> nn.Module:
        """What gradients are taken of; the trainer may have wrapped its model since."""
        model = cast("nn.Module", self._trainer.model)
        return representation_of(model, self._settings.representation)

    def _measured(self, *, half: int | None = None) -> dict[str, Any]:
        """What a measurement needs beside the representation.

        Args:
            half: The half of the targets' examples that it sees, if it sees one.
        """
        assert self.place is not None
        assert self.place.fresh is not None
        losses = fresh_losses(self._trainer, self.place.fresh, target_half=half)
        return {"loss_of": losses, "touching": [self._trainer.model_wrapped]}

    def _target_half(self) -> int | None:
        """Which half of the targets' examples the next update sees, where halves tell something."""
        assert self._learned is not None
        if not self._learned.goes_by_evidence or self._fewest < FEWEST_EXAMPLES:
            return None
        return self._learned.history.updates % 2

    def _log(self, alignments: Mapping[str, float | None]) -> None:
        logs = {f"weight/{name}": share for name, share in shares_of(self._weights).items()}
        known = {name: value for name, value in alignments.items() if value is not None}
        logs |= {f"alignment/{name}": value for name, value in known.items()}
        control = self._trainer.control
        due = control.should_log  # by the trainer itself, which `log` takes as done
        with uncounted(self._trainer):
            self._trainer.log(logs)
        control.should_log = due
