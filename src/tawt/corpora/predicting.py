"""A trained language model that is asked how well it predicts new text."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import torch

from tawt.corpora.kinds import bits_per_byte
from tawt.corpora.loading import CLASSES
from tawt.corpora.networks import LanguageModel
from tawt.errors import ConfigError
from tawt.modality import Predictor
from tawt.modality.predicting import tsv_row
from tawt.text.predicting.inputs import lines_of
from tawt.text.predicting.loading import load_saved
from tawt.training.devices import moved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from typing import Literal

    from numpy.typing import NDArray

    from tawt.corpora.asking import RowLayout

_CHARACTERS_AT_A_TIME = 2**21


@dataclass(frozen=True, slots=True)
class LineAnswer:
    r"""How well a line is predicted.

    Example:
        >>> LineAnswer(2, nats=5.545177, tokens=5, size=8).tsv(probabilities=False)
        '2\t1.0000\t5.5452\t5\n'
        >>> LineAnswer(1, nats=0.0, tokens=0, size=0).record(probabilities=False)
        {'line': 1, 'bits_per_byte': None, 'nats': 0.0, 'tokens': 0}
    """

    line: int
    """From 1."""
    nats: float
    tokens: int
    """Of which they are the sum."""
    size: int
    """In bytes; none for a blank line."""

    def tsv(self, *, probabilities: bool) -> str:
        """One line: its number, bits a byte (empty for a blank line), nats and tokens."""
        del probabilities
        bits = f"{bits_per_byte(self.nats, self.size):.4f}" if self.tokens else ""
        return tsv_row(str(self.line), bits, f"{self.nats:.4f}", str(self.tokens))

    def record(self, *, probabilities: bool) -> dict[str, Any]:
        """What JSON says of it."""
        del probabilities
        bits = round(bits_per_byte(self.nats, self.size), 6) if self.tokens else None
        return {
            "line": self.line,
            "bits_per_byte": bits,
            "nats": round(self.nats, 6),
            "tokens": self.tokens,
        }


class CorpusPredictor(Predictor):
    """Bits a byte of every line of a file, in its order.

    Args:
        folder: A model in Hugging Face form, such as `model/` of a run.
        asking: How lines become rows.
        device: Where to compute.
        precision: In which to compute, as in training.
        batch_size: Rows at a time.
        buffer: Lines taken from the stream at a time, at most; of very long ones fewer.

    Raises:
        RunError: There is no such model, or it is damaged.
    """

    task_kind = "language modelling"
    has_probabilities = False

    def __init__(
        self,
        folder: Path,
        *,
        asking: RowLayout,
        device: torch.device | None = None,
        precision: Literal["fp32", "bf16"] = "fp32",
        batch_size: int = 32,
        buffer: int = 1024,
    ) -> None:
        self._asking = asking
        self._device = device or torch.device("cpu")
        self._model = LanguageModel(load_saved(folder, CLASSES[asking.objective])).to(self._device)
        self._precision = precision
        self._batch_size = batch_size
        self._buffer = buffer

    def read(
        self, handle: BinaryIO, *, path: Path, form: str | None, typed: bool
    ) -> Iterator[tuple[int, str]]:
        """Lines of text, with their numbers."""
        del typed
        if form not in (None, "text"):
            raise ConfigError(f"--format {form}: a corpus is asked about as text, a line each.")
        return lines_of(handle, path=path)

    def answers(self, asked: Iterable[tuple[int, str]]) -> Iterator[LineAnswer]:
        """An answer for each line, in order; a blank line has a blank one."""
        lines = iter(asked)
        while chunk := _chunk(lines, self._buffer):
            yield from self._answered(chunk)

    def _answered(self, lines: Sequence[tuple[int, str]]) -> Iterator[LineAnswer]:
        texts = [text for _, text in lines if text]
        encoded = iter(self._asking.vocabulary.encode(texts))
        owners, rows = [], []
        for position, (_, text) in enumerate(lines):
            made = self._asking.rows(next(encoded)) if text else []
            owners += [position] * len(made)
            rows += made
        found = np.zeros((len(lines), 2))
        np.add.at(found, owners, self._counted(rows))
        for (number, text), (nats, tokens) in zip(lines, found.tolist(), strict=True):
            yield LineAnswer(number, nats, round(tokens), self._asking.size(text) if text else 0)

    @torch.inference_mode()
    def _counted(self, rows: list[dict[str, NDArray[np.int64]]]) -> NDArray[np.float64]:
        """Nats and tokens of each row; rows of like length are computed together."""
        found = np.zeros((len(rows), 2))
        order = sorted(range(len(rows)), key=lambda row: len(rows[row]["tokens"]))
        with torch.autocast(
            self._device.type, dtype=torch.bfloat16, enabled=self._precision == "bf16"
        ):
            for start in range(0, len(order), self._batch_size):
                some = order[start : start + self._batch_size]
                inputs = moved(self._asking.batch([rows[row] for row in some]), self._device)
                found[some] = self._model(inputs).double().cpu().numpy()
        return found


def _chunk(lines: Iterator[tuple[int, str]], most: int) -> list[tuple[int, str]]:
    """So many lines, fewer of long ones: memory is bounded by neither alone."""
    chunk: list[tuple[int, str]] = []
    size = 0
    for line in itertools.islice(lines, most):
        chunk.append(line)
        size += len(line[1])
        if size >= _CHARACTERS_AT_A_TIME:
            break
    return chunk
