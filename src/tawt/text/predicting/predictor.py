"""A trained model that is asked about new text."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Literal

import numpy as np
import torch
from torch import nn

from tawt.errors import ConfigError, suggestion
from tawt.modality import Predictor
from tawt.text.predicting.asking import TextModelDetails
from tawt.text.predicting.guessing import INPUT_FORMATS, InputFormat
from tawt.text.predicting.inputs import lines_of, read_unlabelled
from tawt.text.predicting.loading import load_trained
from tawt.training.devices import moved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from tawt.modality import Answer
    from tawt.tasks import Examples
    from tawt.tasks.examples import Indices
    from tawt.text.encoding import TextInputs
    from tawt.text.kinds import TextKind
    from tawt.text.predicting.unlabelled import Unlabelled

_CHARACTERS_AT_A_TIME = 2**21


class TextPredictor(Predictor):
    """Answers examples from a stream, in its order.

    It takes so many at a time, sorts them by length, pads like with like, and puts the answers
    back in order; memory does not grow with the stream, and in proportion with the longest of its
    examples. Every word of a sentence is answered: one that is too long becomes several rows that
    overlap, even if training cut such sentences off.

    Args:
        folder: A model in Hugging Face form, such as `model/` of a run.
        kind: The kind of task it was trained for: one of `tawt.text.kinds.KINDS`.
        max_length: Most pieces to a row, as in training.
        overlap: Pieces that rows of a long sentence share; a quarter of a row by default.
        device: Where to compute.
        precision: In which to compute, as in training.
        batch_size: Rows at a time; a long sentence counts as the rows that it becomes.
        buffer: Examples taken from the stream at a time, at most; of very long ones fewer.
        fields: What files call our fields, where that differs.

    Raises:
        RunError: There is no such model, or it is damaged.
    """

    def __init__(
        self,
        folder: Path,
        *,
        kind: TextKind,
        max_length: int = 128,
        overlap: int | None = None,
        device: torch.device | None = None,
        precision: Literal["fp32", "bf16"] = "fp32",
        batch_size: int = 32,
        buffer: int = 1024,
        fields: Mapping[str, str] | None = None,
    ) -> None:
        model, tokenizer = load_trained(folder, kind.level)
        self.kind = kind
        self.task_kind, self.has_probabilities = kind.name, kind.has_probabilities
        self._fields = dict(fields or {})
        names = dict(model.config.id2label or {})
        self.labels = tuple(str(name) for _, name in sorted(names.items()))
        """In the order of the model's outputs; for a regression the task's name alone."""
        self._device = device or torch.device("cpu")
        self._model = nn.Module.to(model, self._device)
        self._precision = precision
        self._batch_size = batch_size
        self._buffer = buffer
        self._asking = kind.asking(
            TextModelDetails(
                tokenizer=tokenizer, labels=self.labels, max_length=max_length, overlap=overlap
            )
        )

    def read(
        self, handle: BinaryIO, *, path: Path, form: str | None, typed: bool
    ) -> Iterator[Unlabelled]:
        """Text, words or records, line by line."""
        form = form or ("text" if typed else None)
        if form is not None and form not in INPUT_FORMATS:
            raise ConfigError(f"--format {form} is none of text; {suggestion(form, INPUT_FORMATS)}")
        known: InputFormat | None = next((each for each in INPUT_FORMATS if each == form), None)
        return read_unlabelled(
            lines_of(handle, path=path),
            path=path,
            kind=self.kind.reads,
            form=known,
            fields=self._fields,
        )

    def answers(self, asked: Iterable[Unlabelled]) -> Iterator[Answer]:
        """An answer for each example, in order; a blank example has a blank one."""
        for chunk in _chunks(asked, self._buffer):
            filled = [example for example in chunk if example.filled]
            found = iter(self._answered(filled) if filled else [])
            for example in chunk:
                yield next(found) if example.filled else self._asking.blank(example)

    def _answered(self, asked: Sequence[Unlabelled]) -> list[Answer]:
        examples = self._asking.examples(asked)
        found: dict[int, Answer] = {}
        for indices in _batches(examples, self._batch_size):
            batch, members = examples.batch(indices), [asked[int(index)] for index in indices]
            outputs = self._asking.outputs(self._logits(batch.inputs), batch.labels, members)
            for index, example, each in zip(indices.tolist(), members, outputs, strict=True):
                found[index] = self._asking.answer(example, each)
        return [found[index] for index in range(len(asked))]

    @torch.inference_mode()
    def _logits(self, inputs: TextInputs) -> Tensor:
        """Of all rows, so many at a time: one long sentence may be more rows than that."""
        ids, lengths, types = (moved(part, self._device) for part in inputs[:3])
        places = torch.arange(ids.shape[1], device=self._device)
        mask = (places < lengths[:, None]).long()
        parts = []
        with torch.autocast(
            self._device.type, dtype=torch.bfloat16, enabled=self._precision == "bf16"
        ):
            for start in range(0, len(ids), self._batch_size):
                rows = slice(start, start + self._batch_size)
                extra = {} if types is None else {"token_type_ids": types[rows]}
                made = self._model(input_ids=ids[rows], attention_mask=mask[rows], **extra)
                parts.append(made.logits.float())
        return torch.cat(parts)


def _chunks(asked: Iterable[Unlabelled], most: int) -> Iterator[list[Unlabelled]]:
    """So many examples at a time, fewer of long ones: memory is bounded by neither alone."""
    chunk: list[Unlabelled] = []
    size = 0
    for example in asked:
        chunk.append(example)
        size += example.size
        if len(chunk) == most or size >= _CHARACTERS_AT_A_TIME:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _batches(examples: Examples, most: int) -> Iterator[Indices]:
    """Examples of like length, so many rows at a time; one that is more rows by itself is alone."""
    lengths = examples.lengths
    assert lengths is not None
    order = np.argsort(lengths, kind="stable")
    rows = examples.rows
    ends = np.cumsum(np.ones(len(order), np.int64) if rows is None else rows[order])
    start = 0
    while start < len(order):
        before = 0 if start == 0 else ends[start - 1]
        end = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield order[start:end]
        start = end
