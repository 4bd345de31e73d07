"""The trained model in its folder, whatever the kind of data."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from safetensors import SafetensorError

from tawt.errors import RunError
from tawt.modality import Trained

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.tasks import MultiTaskModel, Task
    from tawt.training import TrainingResult

MODEL = "model"


def write_model(
    path: Path,
    config: RunConfig,
    tasks: Sequence[Task],
    model: MultiTaskModel,
    result: TrainingResult,
) -> None:
    """Leave the target's model in `model/` of a run's folder, whole or not at all.

    Args:
        path: The run's folder.
        config: What was run.
        tasks: Sources and targets.
        model: Trained.
        result: What came of it.

    Raises:
        RunError: It cannot be written.
    """
    part = path / f".{MODEL}.part"
    trained = Trained(
        section=config.model,
        tasks=tasks,
        target=config.target,
        model=model,
        paradigm=config.paradigm,
        result=result,
    )
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        config.modality.save(trained, part)
        shutil.rmtree(path / MODEL, ignore_errors=True)
        part.rename(path / MODEL)
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"Could not write {path / MODEL}: {error}. Make room (or fix the permissions) and run "
            "again with --resume."
        ) from error
