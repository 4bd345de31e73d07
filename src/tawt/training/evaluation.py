"""Answers and scores of a model on held-out examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import nn

from tawt.training.devices import to_device
from tawt.training.result import Predictions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch import Tensor

    from tawt.tasks import Batch, Examples, Task
    from tawt.tasks.examples import Indices


def evaluate(
    model: nn.Module, task: Task, examples: Examples, *, batch_size: int, device: torch.device
) -> Predictions:
    """Predict every example, in order, without touching the model's mode.

    Args:
        model: Called as `model(inputs, task_name)`.
        task: Whose kind scores the answers.
        examples: What to predict.
        batch_size: Examples at a time.
        device: Where the model is.
    """
    found: dict[int, tuple[Any, Any]] = {}
    for indices, batch, outputs in outputs_of(
        model, task, examples, batch_size=batch_size, device=device
    ):
        answers = task.kind.answers(outputs, batch.labels)
        found.update(zip(indices.tolist(), zip(*answers, strict=True), strict=True))
    gold = [found[index][0] for index in range(len(examples))]
    predicted = [found[index][1] for index in range(len(examples))]
    return Predictions(
        gold,
        predicted,
        task.kind.scores(gold, predicted),
        task.kind.example_scores(gold, predicted),
    )


def outputs_of(
    model: nn.Module, task: Task, examples: Examples, *, batch_size: int, device: torch.device
) -> Iterator[tuple[Indices, Batch, Tensor]]:
    """What the model makes of every example, those of like length together; arguments as above.

    Which examples they are, their batch, and the outputs, without gradients. The model is back in
    its mode when all were given.
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    lengths = examples.lengths
    order = np.arange(len(examples)) if lengths is None else np.argsort(lengths, kind="stable")
    try:
        for indices in row_batches(examples, order, batch_size):
            batch = to_device(examples.batch(indices), device)
            with torch.no_grad():
                outputs = model(batch.inputs, task.name)
            yield indices, batch, outputs
    finally:
        for module, training in modes:
            module.training = training


def row_batches(examples: Examples, order: Indices, batch_size: int) -> list[Indices]:
    """The order in parts of so many rows; an example that is in several rows counts as several."""
    rows = examples.rows
    if rows is None:
        return [order[start : start + batch_size] for start in range(0, len(order), batch_size)]
    parts = (np.cumsum(rows[order]) - 1) // batch_size
    return np.split(order, np.flatnonzero(np.diff(parts)) + 1)


def evaluate_split(
    model: nn.Module,
    tasks: Mapping[str, Task],
    split: Literal["dev", "test"],
    *,
    batch_size: int,
    device: torch.device,
) -> dict[str, Predictions]:
    """Predictions of every task that has examples in the split."""
    return {
        name: evaluate(model, task, examples, batch_size=batch_size, device=device)
        for name, task in tasks.items()
        if (examples := task.dev if split == "dev" else task.test) is not None
    }


def combined_score(
    found: Mapping[str, Predictions], tasks: Mapping[str, Task], targets: Mapping[str, float]
) -> float:
    """The score that models are chosen by, higher being better: the targets' own, by their shares.

    Targets without examples to be scored on are passed over.
    """
    total = sum(targets[name] for name in found)
    kinds = {name: tasks[name].kind for name in found}
    scores = (
        targets[name] * kind.measure.sign * found[name].scores[kind.metric]
        for name, kind in kinds.items()
    )
    return sum(scores) / total if total > 0 else 0.0
