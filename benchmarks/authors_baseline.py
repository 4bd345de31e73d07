"""One weight update the authors' way, kept as a baseline.

For each task: a deep copy of the model, a backward pass, every gradient of the representation
flattened through Python lists into one list; then NumPy's cosine between lists turned to arrays.
Where their program could be read two ways this takes the faster: each list is turned into an
array once, and the lists and copies of a task are dropped before the next task's turn.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from benchmarks.timing import now
from tawt.tasks import MultiTaskModel

LossWith = Callable[[MultiTaskModel, str], Tensor]
"""A task's loss under a given model."""

Flat = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass
class Stopwatch:
    """Seconds spent on each part of an update."""

    device: torch.device
    parts: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(("copy", "backward", "flatten", "cosine"), 0.0)
    )

    def timed(self, part: str, start: float) -> float:
        """Add the time since `start` to a part; returns the time now."""
        end = now(self.device)
        self.parts[part] += end - start
        return end


def authors_update(
    model: MultiTaskModel,
    *,
    sources: Sequence[str],
    target: str,
    loss_with: LossWith,
    stopwatch: Stopwatch,
) -> dict[str, float]:
    """The cosine of every task's gradient with the target's, the target's own included."""
    goal = _flat_gradient(model, target, loss_with=loss_with, stopwatch=stopwatch)
    cosines = {target: _cosine(goal, goal, stopwatch=stopwatch)}
    for name in sources:
        gradient = _flat_gradient(model, name, loss_with=loss_with, stopwatch=stopwatch)
        cosines[name] = _cosine(goal, gradient, stopwatch=stopwatch)
    return cosines


def _flat_gradient(
    model: MultiTaskModel, task: str, *, loss_with: LossWith, stopwatch: Stopwatch
) -> Flat:
    start = now(stopwatch.device)
    copied = copy.deepcopy(model)
    start = stopwatch.timed("copy", start)
    loss_with(copied, task).backward()
    start = stopwatch.timed("backward", start)
    entries: list[float] = []
    for parameter in copied.representation.parameters():
        if parameter.grad is not None:
            entries.extend(parameter.grad.view(-1).tolist())
    start = stopwatch.timed("flatten", start)
    flat = np.array(entries)
    del copied, entries
    stopwatch.timed("cosine", start)
    return flat


def _cosine(left: Flat, right: Flat, *, stopwatch: Stopwatch) -> float:
    start = now(stopwatch.device)
    cosine = float(np.dot(left, right) / (np.linalg.norm(left) * np.linalg.norm(right)))
    stopwatch.timed("cosine", start)
    return cosine
