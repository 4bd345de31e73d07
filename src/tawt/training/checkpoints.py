"""State as one safetensors file: tensors as tensors, the rest as JSON beside them. No pickle.

A file carries the SHA-256 of all it holds and the key of the run that it belongs to. A file that is
damaged, or of another run, is refused: going on from it would end with other numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from tawt.errors import RunError

if TYPE_CHECKING:
    from pathlib import Path

_TENSOR, _MAPPING, _TREE = "tensor", "mapping", "tree"
_FORMAT_NAME = "tawt checkpoint"
_FORMAT = f"{_FORMAT_NAME} 6"


class OtherVersionError(RunError):
    """A checkpoint of a version of tawt whose state this one cannot go on from."""


class Checkpoint(Protocol):
    """Where the loop keeps its state, if anywhere."""

    def load(self) -> dict[str, Any] | None:
        """The last state saved, or none."""
        ...

    def due(self) -> bool:
        """Whether it is time to save."""
        ...

    def save(self, state: dict[str, Any]) -> None:
        """Keep this state, whole or not at all."""
        ...


def to_bytes(state: Mapping[str, Any], *, run: str = "") -> bytes:
    """A nest of dicts, lists, tensors and plain values as the bytes of a safetensors file.

    Args:
        state: What to keep.
        run: Key of the run it belongs to; `read` refuses the file for any other.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "state.safetensors")
        ...     _ = path.write_bytes(to_bytes({"step": 3, "rng": [torch.tensor([1, 2])]}))
        ...     read(path)
        {'step': 3, 'rng': [tensor([1, 2])]}
    """
    tensors: dict[str, Tensor] = {}
    tree = json.dumps(_take_out(state, tensors)).encode()
    # As a tensor too: the format's own header is limited to 100 MB, and a history is not.
    tensors[_TREE] = torch.frombuffer(bytearray(tree), dtype=torch.uint8)
    about = {"run": run, "sha256": _digest(tensors, run)}
    return save(tensors, metadata={_FORMAT: json.dumps(about)})


def read(path: Path, *, run: str = "") -> dict[str, Any]:
    """The state in a file.

    Args:
        path: The file.
        run: Key of the run that wants to go on from it.

    Raises:
        OtherVersionError: If an earlier version of tawt wrote it.
        RunError: If the file is damaged, or a checkpoint of another run.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        about = dict(json.loads(metadata.get(_FORMAT, "{}")))
    except (OSError, SafetensorError, TypeError, ValueError) as error:
        raise RunError(f"{path} is damaged ({error})") from error
    if _FORMAT not in metadata:
        if any(key.startswith(_FORMAT_NAME) for key in metadata):
            raise OtherVersionError(
                f"{path} was written by an earlier version of tawt, which this one cannot go on "
                "from"
            )
        raise RunError(f"{path} is not a checkpoint of tawt")
    if about.get("sha256") != _digest(tensors, about.get("run", "")):
        raise RunError(f"{path} is damaged (its checksum does not match)")
    if about["run"] != run:
        raise RunError(f"{path} belongs to a run with another configuration or other data")
    state: dict[str, Any] = _put_back(json.loads(tensors.pop(_TREE).numpy().tobytes()), tensors)
    return state


def _digest(tensors: Mapping[str, Tensor], run: str) -> str:
    """SHA-256 of the run's key and of every tensor: name, type, shape and contents."""
    digest = hashlib.sha256(json.dumps([_FORMAT, run]).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _take_out(value: Any, tensors: dict[str, Tensor]) -> Any:
    if isinstance(value, Tensor):
        name = str(len(tensors))
        tensors[name] = value.detach().cpu().contiguous().clone()
        return {_TENSOR: name}
    if isinstance(value, Mapping):
        # Wrapped, so that no key of the state can be taken for the mark of a tensor.
        return {_MAPPING: {str(key): _take_out(part, tensors) for key, part in value.items()}}
    if isinstance(value, list | tuple):
        return [_take_out(entry, tensors) for entry in value]
    return value


def _put_back(value: Any, tensors: Mapping[str, Tensor]) -> Any:
    if isinstance(value, dict):
        if _TENSOR in value:
            return tensors[value[_TENSOR]]
        return {key: _put_back(part, tensors) for key, part in value[_MAPPING].items()}
    if isinstance(value, list):
        return [_put_back(entry, tensors) for entry in value]
    return value


def random_state(device: torch.device) -> dict[str, Tensor]:
    """The random streams that dropout draws from."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def set_random_state(state: Mapping[str, Tensor], device: torch.device) -> None:
    """Inverse of `random_state`."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
