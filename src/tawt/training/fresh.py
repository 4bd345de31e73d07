"""Losses on examples drawn afresh, for a weight update."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch

from tawt.gradients import width
from tawt.probes import Items
from tawt.streams import stream
from tawt.training.devices import moved
from tawt.training.fitted import (
    can_fit,
    crossed_gains,
    crossed_loss,
    folds_of,
    outputs_to_fit,
    place_of_other,
)
from tawt.training.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from torch import Tensor

    from tawt.tasks import Batch, MultiTaskModel, Task
    from tawt.tasks.examples import Examples, Indices
    from tawt.weighting import Weighting


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
        counts: Examples to a draw, of each task.
        weighting: Says which tasks will be asked for twice, and what examples count.
        seed: Of the run.
        update: Number of the update.
        device: Where the model is.
        autocast: The precision to compute in.
        part: Which examples of a draw are used. Processes that train together make the same
            draws, and each takes its part of them.
        fits_heads: Whether losses go through heads that are fitted on other examples of the draw,
            where heads are linear, and not through heads as training left them.
        beside: Of tasks of which a part alone is drawn from, the other examples: heads are fitted
            on them too.
    """

    def __init__(  # noqa: PLR0913 - what losses are of and how they are drawn, each by its name
        self,
        model: MultiTaskModel,
        tasks: Mapping[str, Task],
        examples: Mapping[str, Examples],
        *,
        counts: Mapping[str, int],
        weighting: Weighting,
        seed: int,
        update: int,
        device: torch.device,
        autocast: _Autocast,
        part: slice = slice(None),
        fits_heads: bool = False,
        beside: Mapping[str, Examples] | None = None,
    ) -> None:
        self._model = model
        self._tasks = tasks
        self._examples = examples
        self._counts = counts
        self._twice = weighting.asked_twice
        self._weights = weighting.weights
        self._parts = Parts.on(device, batch_size=max(counts.values()), model=model)
        self._device = device
        self._autocast = autocast
        self._part = part
        self._beside = beside or {}
        known = {name: outputs_to_fit(model, tasks[name]) for name in counts if fits_heads}
        self.fitted = {name: outputs for name, outputs in known.items() if outputs is not None}
        """Tasks whose losses go through fitted heads, and how many outputs those have."""
        self._draw = stream(seed, "update", update)
        self._second: dict[str, Indices] = {}

    def __call__(self, task: str) -> Tensor:
        """The task's mean loss on its next draw, graph attached."""
        return self.counted(task)[0]

    def counted(self, task: str) -> tuple[Tensor, int]:
        """The same, and how many examples it is the mean of; of none, a zero without a graph."""
        if task in self.fitted:
            return self._crossed(task)
        return self._through_trained(task, self._drawn(task)[self._part])

    def _through_trained(self, task: str, indices: Indices) -> tuple[Tensor, int]:
        """The mean loss of these examples through the head as training left it."""
        examples = self._examples[task]
        if len(indices) == 0:  # a draw of fewer examples than there are processes
            return torch.zeros((), device=self._device), 0
        losses = []
        for places in self._parts.of(examples, indices):
            batch = examples.batch(indices[places])
            drawn = moved((batch.inputs, batch.labels), self._device)
            losses.append(self.loss(task, drawn, size=len(indices)))
        return torch.stack(losses).sum(), len(indices)

    def _crossed(self, task: str) -> tuple[Tensor, int]:
        """The mean loss of this process's part of a draw, through heads fitted on all of it.

        What is drawn is the same in all processes, whatever part of it each has.
        """
        drawn = self._drawn(task)
        mine = np.zeros(len(drawn), bool)
        mine[self._part] = True
        folds: list[Items] = []
        own: list[Items] = []
        cuts = folds_of(len(drawn))
        for first in range(cuts):
            fold, kept = drawn[first::cuts], mine[first::cuts]
            own.append(self._items(task, fold[kept]))
            with torch.no_grad():
                others = self._items(task, fold[~kept])
            folds.append(own[-1].detached() + others)
        beside = self._rest(task, len(drawn))
        if not can_fit(folds, beside):
            beside += self._others(task, drawn)
        if not can_fit(folds, beside):
            return self._through_trained(task, drawn[mine])
        count, items = int(mine.sum()), sum(map(len, folds))
        if count == 0:
            return torch.zeros((), device=self._device), 0
        total = crossed_loss(folds, own, classes=self.fitted[task], beside=beside)
        return total * (len(drawn) / (count * items)), count

    def gains(self, task: str) -> list[float]:
        """By how much each example's loss is lower for knowing its vector; see `crossed_gains`.

        Of all of the next draw; nothing, where no head can be fitted on it.
        """
        outputs = outputs_to_fit(self._model, self._tasks[task])
        if outputs is None:
            return []
        drawn = self._drawn(task)
        cuts = folds_of(len(drawn))
        folds = [self._items(task, drawn[first::cuts]) for first in range(cuts)]
        if not can_fit(folds, Items.joined([])):
            return []
        found: list[float] = crossed_gains(folds, classes=outputs).tolist()
        return found

    def _rest(self, task: str, most: int) -> Items:
        """Examples that nothing is measured on, to fit heads on."""
        if task not in self._beside:
            return Items.joined([])
        count = min(most, len(self._beside[task]))
        places = self._draw.choice(len(self._beside[task]), count, replace=False)
        with torch.no_grad():
            return self._items(task, places, examples=self._beside[task])

    def _others(self, task: str, drawn: Indices) -> Items:
        """For a draw of one label: as many more of the task's examples, one of another label.

        None, if there is no such example.
        """
        own = self._examples[task]
        sources = [(own, np.setdiff1d(np.arange(len(own)), drawn))]
        if (beside := self._beside.get(task)) is not None:
            sources.append((beside, np.arange(len(beside))))
        found = Items.joined([])
        for examples, left in sources:
            order = self._draw.permutation(left)
            place = place_of_other(examples, order, than=own.label(int(drawn[0])))
            if place is not None:
                some = order[max(0, place + 1 - len(drawn)) : place + 1]
                with torch.no_grad():
                    found += self._items(task, some, examples=examples)
        return found

    def _items(self, task: str, indices: Indices, *, examples: Examples | None = None) -> Items:
        """Vectors and labels of these examples, with a graph if there is to be one."""
        kind, examples = self._tasks[task].kind, examples or self._examples[task]
        found = []
        for places in self._parts.of(examples, indices) if len(indices) else []:
            batch = examples.batch(indices[places])
            inputs, labels = moved((batch.inputs, batch.labels), self._device)
            if self._model.training:
                self._model.eval()
            with self._autocast():
                vectors = self._model.representation(inputs)
            found.append(Items(*kind.items(vectors.to(width(vectors)), labels)))
        return Items.joined(found)

    def batch(self, task: str) -> tuple[Batch, int]:
        """The task's next draw in one piece, and how many examples it has."""
        indices = self._drawn(task)
        return self._examples[task].batch(indices), len(indices)

    def loss(self, task: str, drawn: tuple[Any, Any], *, size: int) -> Tensor:
        """The mean loss on a draw of that size, on the device."""
        inputs, labels = drawn
        if self._model.training:
            self._model.eval()
        with self._autocast():
            outputs = self._model(inputs, task)
        return self._tasks[task].kind.losses(outputs.float(), labels).sum() / size

    def _drawn(self, task: str) -> Indices:
        """Positions of the examples of the next draw."""
        if task in self._second:
            # The first draw gave the direction; nothing that is measured along it may share its
            # examples, so all later draws come from the other half.
            return self._second[task]
        size, count = len(self._examples[task]), self._counts[task]
        factors = self._weights.relative(task, np.arange(size))
        if factors is not None:  # weighed examples, each as often as it counts
            shares = factors.double().numpy()
            return self._draw.choice(size, min(size, count), p=shares / shares.sum())
        if task not in self._twice or size < 2:
            return self._draw.choice(size, min(size, count), replace=False)
        part = min(count, size // 2)
        both = self._draw.choice(size, 2 * part, replace=False)
        self._second[task] = both[part:]
        return both[:part]
