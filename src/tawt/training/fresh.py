"""Losses on examples drawn afresh, for a weight update."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from tawt.training.devices import to_device
from tawt.training.streams import stream

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    import torch
    from torch import Tensor

    from tawt.tasks import MultiTaskModel, Task
    from tawt.tasks.task import Examples, Indices


class _Autocast(Protocol):
    def __call__(self) -> AbstractContextManager[object]: ...


class FreshLosses:
    """`loss_of` for one weight update.

    The model is evaluated without dropout: L_t is the loss of the model, not of one random
    thinning of it. Examples are drawn by the update's own random stream. Tasks asked for twice
    answer with other examples than the first time, so that a target can be compared with what
    it did not see.

    Args:
        model: The shared model.
        tasks: By name.
        examples: Training examples of each task.
        count: Examples to a draw.
        twice: Tasks that will be asked for twice.
        seed: Of the run.
        update: Number of the update.
        device: Where the model is.
        autocast: The precision to compute in.
    """

    def __init__(
        self,
        model: MultiTaskModel,
        tasks: Mapping[str, Task],
        examples: Mapping[str, Examples],
        *,
        count: int,
        twice: frozenset[str],
        seed: int,
        update: int,
        device: torch.device,
        autocast: _Autocast,
    ) -> None:
        self._model = model
        self._tasks = tasks
        self._examples = examples
        self._count = count
        self._twice = twice
        self._seed = seed
        self._update = update
        self._device = device
        self._autocast = autocast
        self._calls: Counter[str] = Counter()

    def __call__(self, task: str) -> Tensor:
        """The task's mean loss on its next draw, graph attached."""
        indices = self.drawn(task, self._calls[task])
        self._calls[task] += 1
        batch = to_device(self._examples[task].batch(indices), self._device)
        if self._model.training:
            self._model.eval()
        with self._autocast():
            outputs = self._model(batch.inputs, task)
        return self._tasks[task].kind.losses(outputs.float(), batch.labels).mean()

    def drawn(self, task: str, call: int) -> Indices:
        """Positions of the examples of the n-th draw."""
        size = len(self._examples[task])
        if task not in self._twice or size < 2:
            draw = stream(self._seed, "update", self._update, task, "call", call)
            return draw.choice(size, min(size, self._count), replace=False)
        # The first draw gives the direction; nothing that is measured along it may share its
        # examples, so all later draws come from the other half.
        part = min(self._count, size // 2)
        both = stream(self._seed, "update", self._update, task).choice(
            size, 2 * part, replace=False
        )
        return both[:part] if call == 0 else both[part:]
