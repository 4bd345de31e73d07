"""From a finished run to a model that answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.config.data_sections import EncoderConfig, TextData
from tawt.errors import ConfigError, RunError, suggestion
from tawt.paths import slug
from tawt.runs.folder import COMPARISON, RunFolder
from tawt.runs.models import MODEL
from tawt.text.kinds import kind_named
from tawt.text.predicting import Predictor
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.text.kinds import TextKind


def load_predictor(
    run: Path,
    *,
    target: str | None = None,
    device: str = "auto",
    batch_size: int = 32,
    buffer: int = 1024,
) -> Predictor:
    """The model of a finished run on text, ready to answer.

    Args:
        run: The run's folder.
        target: Which target's model; needed where there are several.
        device: "auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N".
        batch_size: Rows at a time.
        buffer: Examples taken from a stream at a time.

    Raises:
        RunError: It is no run folder, is unfinished or damaged, or its run was on arrays.
        ConfigError: There is no such target or device.
    """
    config, name = _finished(run, target)
    RunFolder(run).check_model()
    assert isinstance(config.model, EncoderConfig)
    folder = run / MODEL
    return Predictor(
        folder if len(config.targets) == 1 else folder / slug(name),
        kind=_kind(config, name),
        max_length=config.model.max_length,
        overlap=config.model.overlap,
        device=chosen_device(device),
        precision=config.training.precision,
        batch_size=batch_size,
        buffer=buffer,
    )


def field_names(run: Path, *, target: str | None = None) -> Mapping[str, str]:
    """What the run's files called our fields, where that differed.

    Args:
        run: The run's folder.
        target: Which target.
    """
    config, name = _finished(run, target)
    return config.data.tasks[name].fields if isinstance(config.data, TextData) else {}


def _finished(run: Path, target: str | None) -> tuple[RunConfig, str]:
    if (run / COMPARISON).exists():
        runs = sorted(path.parent for path in run.rglob("record.json"))
        example = f", such as {runs[0]}" if runs else ""
        raise RunError(f"{run} is a comparison; give the folder of one of its runs{example}.")
    folder = RunFolder(run)
    config = folder.config()
    if not isinstance(config.model, EncoderConfig):
        raise RunError(f"{run} holds a run on arrays; only runs on text can be asked about text.")
    folder.record()
    names = list(config.targets)
    if target is None and len(names) > 1:
        raise ConfigError(f"The run has several targets; choose with --target: {', '.join(names)}.")
    if target is not None and target not in names:
        raise ConfigError(f"The run has no target {target!r}; {suggestion(target, names)}")
    return config, target or names[0]


def _kind(config: RunConfig, name: str) -> TextKind:
    data = config.data
    return kind_named(data.tasks[name].kind if isinstance(data, TextData) else "tagging")
