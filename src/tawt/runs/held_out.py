"""What a run of one fold leaves of the examples that it held out: a score and a loss of each."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from tawt import files
from tawt.errors import RunError
from tawt.tasks.examples import Subset
from tawt.training.evaluation import outputs_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import nn

    from tawt.config.schema import RunConfig
    from tawt.runs.building import RunParts
    from tawt.tasks import Batch, Examples, Task
    from tawt.training import TrainingResult

NAME = "held_out.tsv"
_COLUMNS = ("example", "score", "loss")


@dataclass(frozen=True)
class HeldOut:
    """Examples that a run did not train on."""

    examples: NDArray[np.int64]
    """Their places among all that the target has to train on."""
    scores: NDArray[np.float64]
    """Higher is better."""
    losses: NDArray[np.float64]


def write(
    folder: Path,
    config: RunConfig,
    parts: RunParts,
    result: TrainingResult,
    *,
    device: torch.device,
) -> None:
    """Leave score and loss of every example that was held out.

    Args:
        folder: Of the run.
        config: Of the run; it has one target.
        parts: What was trained, at its end.
        result: What came of it.
        device: Where the model is.
    """
    name = next(iter(config.targets))
    task = next(task for task in parts.tasks if task.name == name)
    assert isinstance(task.test, Subset)
    scores = result.predictions[name]["test"].example_scores
    losses = example_losses(
        parts.model, task, task.test, batch_size=config.training.batch_size, device=device
    )
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(_COLUMNS)
    writer.writerows(zip(task.test.indices.tolist(), scores, losses.tolist(), strict=True))
    files.write(folder / NAME, text.getvalue())


def read(path: Path) -> HeldOut:
    """What a finished run left.

    Args:
        path: Of the file.

    Raises:
        RunError: It is damaged.
    """
    damaged = f"The run folder {path.parent} is damaged: {path.name}"
    try:
        first, *lines = path.read_text(encoding="utf-8").splitlines()
        found = np.array([[float(entry) for entry in line.split("\t")] for line in lines])
    except (OSError, ValueError) as error:
        raise RunError(f"{damaged}: {error}.") from error
    if tuple(first.split("\t")) != _COLUMNS or found.shape[1:] != (len(_COLUMNS),):
        raise RunError(f"{damaged} has other columns.")
    return HeldOut(found[:, 0].astype(np.int64), found[:, 1], found[:, 2])


def example_losses(
    model: nn.Module, task: Task, examples: Examples, *, batch_size: int, device: torch.device
) -> NDArray[np.float64]:
    """The loss of each example, in order, without touching the model's mode.

    Args:
        model: Called as `model(inputs, task_name)`.
        task: Whose kind has the loss.
        examples: Of that task.
        batch_size: Examples at a time.
        device: Where the model is.
    """
    found = np.full(len(examples), math.nan)
    for indices, batch, outputs in outputs_of(
        model, task, examples, batch_size=batch_size, device=device
    ):
        losses = task.kind.losses(outputs.float(), batch.labels)
        found[indices] = _of_examples(losses, batch, count=len(indices))
    return found


def _of_examples(losses: torch.Tensor, batch: Batch, *, count: int) -> NDArray[np.float64]:
    """The parts of each example added up, where examples are several rows."""
    values = losses.detach().double().cpu()
    if batch.owners is None:
        return values.numpy()
    return torch.zeros(count, dtype=torch.float64).index_add(0, batch.owners.cpu(), values).numpy()
