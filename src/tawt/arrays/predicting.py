"""A trained network that is asked about new arrays."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy as np
import torch

from tawt.arrays.examples import checked_inputs
from tawt.arrays.files import read_array
from tawt.errors import ConfigError, DataError
from tawt.modality import LabelAnswer, Predictor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

    from tawt.arrays.saving import SavedNetwork

FORMS = ("npz", "npy")


class ArrayPredictor(Predictor):
    """Answers one row of an array after the other, so many at a time.

    Args:
        saved: The network.
        device: Where to compute.
        precision: In which to compute, as in training.
        batch_size: Rows at a time.
    """

    def __init__(
        self,
        saved: SavedNetwork,
        *,
        device: torch.device,
        precision: Literal["fp32", "bf16"] = "fp32",
        batch_size: int = 32,
    ) -> None:
        self._saved, self._device = saved, device
        self._precision, self._batch_size = precision, batch_size
        self._model = saved.model.to(device).eval()
        self.labels = saved.labels
        """In the order of the outputs; none where the one output is a number."""
        self.has_probabilities = saved.labels is not None
        self.task_kind = "regression" if saved.labels is None else "classification"

    def read(
        self, handle: BinaryIO, *, path: Path, form: str | None, typed: bool
    ) -> Iterable[NDArray[Any]]:
        """The array `inputs` of an .npz file, or the array of an .npy file."""
        if form is not None and form not in FORMS:
            raise ConfigError(f"--format for a run on arrays is {' or '.join(FORMS)}; got {form}.")
        if typed:
            raise ConfigError("A run on arrays reads an .npz or .npy file, not what is typed.")
        # The archive of an .npz file has its table at the end, which a pipe cannot go back from.
        content = handle if handle.seekable() else io.BytesIO(handle.read())
        inputs = read_array(content, "inputs", path=path)
        return self._checked(inputs, path)

    def answers(self, asked: Iterable[NDArray[Any]]) -> Iterator[LabelAnswer]:
        """A label, or a number, for each row."""
        number = 0
        for rows in _chunks(asked, self._batch_size):
            for outputs in self._outputs(rows):
                number += 1
                yield self._answer(number, outputs)

    def _checked(self, inputs: NDArray[Any], path: Path) -> NDArray[Any]:
        shape = self._saved.shape
        if inputs.shape[1:] != shape or inputs.ndim != len(shape) + 1:
            raise DataError(
                f"{path}: the model reads inputs of shape (examples, "
                f"{', '.join(map(str, shape))}); these have {inputs.shape}."
            )
        return checked_inputs(f"{path}: inputs", inputs)

    @torch.inference_mode()
    def _outputs(self, rows: Sequence[NDArray[Any]]) -> Tensor:
        inputs = torch.from_numpy(np.stack(rows).astype(np.float32)).to(self._device)
        with torch.autocast(
            self._device.type, dtype=torch.bfloat16, enabled=self._precision == "bf16"
        ):
            found: Tensor = self._model(inputs, self._saved.task)
        return found.float().cpu()

    def _answer(self, number: int, outputs: Tensor) -> LabelAnswer:
        if self.labels is None:
            return LabelAnswer(number, float(outputs[0]))
        shares = outputs.double().softmax(dim=-1).tolist()
        best = self.labels[int(outputs.argmax())]
        return LabelAnswer(number, best, dict(zip(self.labels, shares, strict=True)))


def _chunks(rows: Iterable[NDArray[Any]], most: int) -> Iterator[list[NDArray[Any]]]:
    chunk: list[NDArray[Any]] = []
    for row in rows:
        chunk.append(row)
        if len(chunk) == most:
            yield chunk
            chunk = []
    if chunk:
        yield chunk
