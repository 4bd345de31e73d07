"""What a checkpoint keeps beside the model: weights, and where training is in its data."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformers.trainer_utils import get_last_checkpoint

from tawt.errors import TrainingError
from tawt.files import whole
from tawt.weighting import Weighting

if TYPE_CHECKING:
    from tawt.mixture import Weights

STATE_FILE = "tawt.json"
_VERSION = 1


def write_state(folder: str, state: dict[str, Any]) -> None:
    """Put the state into a checkpoint's folder, whole or not at all."""
    text = json.dumps({"version": _VERSION, **state}, allow_nan=False)
    with whole(Path(folder, STATE_FILE)) as file:
        file.write(text.encode())


def read_state(folder: str) -> dict[str, Any]:
    """The state in a checkpoint's folder.

    Raises:
        TrainingError: There is none, or it cannot be read.
    """
    path = Path(folder, STATE_FILE)
    if not path.is_file():
        raise TrainingError(
            f"The checkpoint {folder} has no {STATE_FILE}: it is not of a weighted trainer, so "
            "weights and the place in the data are not known. Begin a training from its model."
        )
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TrainingError(
            f"{path} is damaged ({error}); resume from an earlier checkpoint."
        ) from error
    if not isinstance(state, dict) or state.get("version") != _VERSION:
        raise TrainingError(
            f"{path} is of another version of tawt; resume with the version that wrote it."
        )
    return state


def checkpoint_of(resume: str | bool | None, output: str | None) -> str | None:
    """The folder that a training resumes from, as the `Trainer` finds it."""
    if resume is True and output is not None:
        last: str | None = get_last_checkpoint(output)
        return last
    return None if isinstance(resume, bool) or resume is None else str(resume)


def state_of(weights: Weights) -> dict[str, Any] | None:
    """Weights in values that JSON knows; none for weights that cannot change.

    Example:
        >>> state_of({"web": 1.0})
        {'web': 1.0}
    """
    if isinstance(weights, Weighting):
        return weights.state_dict()
    return dict(weights) if isinstance(weights, MutableMapping) else None


def restore(weights: Weights, state: dict[str, Any] | None) -> None:
    """Set weights to what they were; those that cannot change are left."""
    if state is None:
        return
    if isinstance(weights, Weighting):
        weights.load_state_dict(state)
    elif isinstance(weights, MutableMapping):
        weights.clear()
        weights.update(state)
