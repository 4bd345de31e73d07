"""From a finished run to a model that answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import ConfigError, RunError, suggestion
from tawt.modality import PredictRequest
from tawt.runs.folder import CONFIG, RECORD, RunFolder
from tawt.runs.models import MODEL

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.modality import Predictor


def load_predictor(
    run: Path,
    *,
    target: str | None = None,
    device: str = "auto",
    batch_size: int = 32,
    buffer: int = 1024,
) -> Predictor:
    """The model of a finished run, ready to answer.

    Args:
        run: The run's folder.
        target: Which target's model; needed where there are several.
        device: "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
        batch_size: Rows at a time.
        buffer: Examples taken from a stream at a time.

    Raises:
        RunError: It is no run folder, is unfinished or damaged.
        ConfigError: There is no such target or device.
    """
    config, name = _finished(run, target)
    RunFolder(run).check_model()
    request = PredictRequest(
        data=config.data,
        section=config.model,
        target=name,
        targets=list(config.targets),
        device=device,
        precision=config.training.precision,
        batch_size=batch_size,
        buffer=buffer,
    )
    return config.modality.predictor(run / MODEL, request)


def _finished(run: Path, target: str | None) -> tuple[RunConfig, str]:
    if not (run / CONFIG).exists() and (runs := sorted(run.glob(f"*/*/{RECORD}"))):
        raise RunError(
            f"{run} holds several runs; give the folder of one of them, such as {runs[0].parent}."
        )
    folder = RunFolder(run)
    config = folder.config()
    folder.record()
    names = list(config.targets)
    if target is None and len(names) > 1:
        raise ConfigError(f"The run has several targets; choose with --target: {', '.join(names)}.")
    if target is not None and target not in names:
        raise ConfigError(f"The run has no target {target!r}; {suggestion(target, names)}")
    return config, target or names[0]
