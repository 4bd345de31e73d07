"""When state is kept, and when training stops: decided by all processes alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tawt.errors import Interrupted
from tawt.streams import derived_seed
from tawt.training.checkpoints import random_state, set_random_state
from tawt.training.optimisers import load_optimiser_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from tawt.training.checkpoints import Checkpoint
    from tawt.training.processes import TrainingProcesses
    from tawt.training.stretch import Stretch


class Keeping:
    """Asks after every step whether to save and whether to stop.

    The first process saves, for all of them. A clock or a signal of one of them decides for all:
    they must take the same steps.

    Args:
        checkpoint: Where state is kept, if anywhere.
        should_stop: Whether this process was asked to stop.
        processes: That train together.
        device: Where this one computes.
        seed: Of the run.
    """

    def __init__(
        self,
        checkpoint: Checkpoint | None,
        should_stop: Callable[[], bool] | None,
        processes: TrainingProcesses,
        device: torch.device,
        *,
        seed: int,
    ) -> None:
        self._checkpoint, self._should_stop = checkpoint, should_stop
        self._processes, self._device, self._seed = processes, device, seed

    def load(self) -> dict[str, Any] | None:
        """The state that all of them go on from, if there is one."""
        if self._checkpoint is None:
            return None
        saved = self._processes.all_do(self._checkpoint.load)
        self._processes.check_same(saved and saved["position"], "checkpoint")
        return saved

    def restore(self, saved: Mapping[str, Any], main: Stretch, heads: Stretch | None) -> None:
        """Go on with the steps that were under way.

        Args:
            saved: The state.
            main: The stretch of steps that it was saved in.
            heads: The fit of heads that belongs to it, if one does.
        """
        load_optimiser_state(main.optimiser, saved["optimiser"])
        main.loss_sum.copy_(self._own_loss(saved))
        if heads is not None:
            load_optimiser_state(heads.optimiser, saved["head_optimiser"])
        self._restore_random(saved)

    def _restore_random(self, saved: Mapping[str, Any]) -> None:
        """Go on with the random stream of this process.

        One that has none, since there were fewer when the state was saved, gets one of its own.
        """
        streams, number = saved["random"], self._processes.number
        if number < len(streams):
            set_random_state(streams[number], self._device)
        else:
            step = saved["position"]["total"]
            torch.manual_seed(derived_seed(self._seed, "training", number, step))

    def _own_loss(self, saved: Mapping[str, Any]) -> Tensor:
        """This process's sum of the losses of the epoch; the mean, where others saved theirs."""
        sums: Tensor = saved["loss_sum"]
        return sums[self._processes.number] if len(sums) == self._processes.count else sums.mean()

    def after_step(self, state: Callable[[], dict[str, Any]]) -> None:
        """Save if it is time to, and stop if any process was asked to.

        Args:
            state: What to save; asked of every process.

        Raises:
            Interrupted: Training was asked to stop; its state is saved.
        """
        stop, due = self._processes.any_of(
            [
                self._should_stop is not None and self._should_stop(),
                self._processes.is_first
                and self._checkpoint is not None
                and self._checkpoint.due(),
            ]
        )
        if self._checkpoint is not None and (stop or due):
            self._save(self._checkpoint, state())
        if stop:
            raise Interrupted("Training was stopped as asked.")

    def _save(self, checkpoint: Checkpoint, state: dict[str, Any]) -> None:
        own = random_state(self._device), state["loss_sum"].cpu()
        streams, sums = zip(*self._processes.all_of(own), strict=True)
        whole = {**state, "random": list(streams), "loss_sum": torch.stack(sums)}
        self._processes.first_does(lambda: checkpoint.save(whole))


def training_seed(seed: int, processes: TrainingProcesses) -> int:
    """Of the random stream that dropout draws from: another in each process.

    Example:
        >>> from tawt.training.processes import TrainingProcesses
        >>> training_seed(0, TrainingProcesses(2, 0)) == training_seed(0, TrainingProcesses())
        True
        >>> training_seed(0, TrainingProcesses(2, 0)) == training_seed(0, TrainingProcesses(2, 1))
        False
    """
    if processes.is_first:
        return derived_seed(seed, "training")
    return derived_seed(seed, "training", processes.number)
