"""A trained network in its folder: safetensors, and JSON that says what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from tawt import files
from tawt.arrays.building import input_shape, network
from tawt.arrays.kinds import Classification, Regression
from tawt.arrays.sections import NetworkConfig
from tawt.errors import RunError, TawtError, suggestion
from tawt.tasks import Kind, MultiTaskModel

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.modality import Trained

PARAMETERS, ABOUT = "model.safetensors", "model.json"
_FORMAT = "tawt arrays 1"


@dataclass(frozen=True)
class SavedNetwork:
    """A network that was trained, for one of its tasks."""

    model: MultiTaskModel
    task: str
    labels: tuple[str, ...] | None
    """In the order of the outputs; none where the one output is a number."""
    shape: tuple[int, ...]
    """Of one example's input."""


def save_network(trained: Trained[NetworkConfig], folder: Path) -> None:
    """Leave parameters, and all that is needed to put them to use.

    Args:
        trained: The model.
        folder: Where.
    """
    labels = {
        task.name: list(task.kind.labels) if isinstance(task.kind, Classification) else None
        for task in trained.tasks
    }
    about = {
        "format": _FORMAT,
        "representation": trained.section.model_dump(mode="json"),
        "input_shape": list(input_shape(trained.tasks)),
        "heads": [{"task": name, "labels": labels[name]} for name in trained.model.heads],
        "target": trained.target,
    }
    files.write(folder / PARAMETERS, save(trained.model.state_dict()))
    files.write_json(folder / ABOUT, about)


def load_network(folder: Path, task: str) -> SavedNetwork:
    """The network that `save_network` left.

    Args:
        folder: Where it is.
        task: Whose head is asked.

    Raises:
        RunError: There is none, or it is damaged.
    """
    about = files.read_json(folder / ABOUT)
    form = about.get("format") if isinstance(about, dict) else None
    if form != _FORMAT:
        raise RunError(f"{folder / ABOUT} has the format {form!r}; {_FORMAT!r} is read here.")
    try:
        heads = {each["task"]: _kind(each["labels"]) for each in about["heads"]}
        shape = tuple(int(side) for side in about["input_shape"])
        settings = NetworkConfig.model_validate(about["representation"])
        model = MultiTaskModel(
            network(settings, shape),
            {name: kind.head(settings.widths[-1]) for name, kind in heads.items()},
        )
        model.load_state_dict(load_file(folder / PARAMETERS))
    except _DAMAGED as error:
        reason = " ".join(str(error).split())[:300].rstrip(". ")
        raise RunError(f"The model in {folder} cannot be loaded: {reason}.") from error
    if task not in heads:
        raise RunError(f"The model in {folder} has no head for {task!r}; {suggestion(task, heads)}")
    kind = heads[task]
    labels = kind.labels if isinstance(kind, Classification) else None
    return SavedNetwork(model.eval(), task, labels, shape)


_DAMAGED = (
    OSError,
    SafetensorError,
    ValidationError,
    TawtError,
    LookupError,
    TypeError,
    ValueError,
    RuntimeError,  # parameters of another network
)


def _kind(labels: Any) -> Kind:
    return Regression() if labels is None else Classification(tuple(map(str, labels)))
