"""Whole texts, or pairs of them, each with one answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tawt.tasks import Batch
from tawt.text.encoding import TextInputs
from tawt.text.tokens.fingerprints import sha256_of
from tawt.text.tokens.flat import FlatRows, Ints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from transformers import PreTrainedTokenizerFast

    from tawt.tasks.task import Indices
    from tawt.text.reading import LabelledText

_AT_A_TIME = 1024


class WholeTexts:
    """Texts with one label or number each; longer ones are cut at the end.

    Args:
        texts: The texts.
        answers: One for each: positions of labels, or numbers.
        tokenizer: A fast one.
        max_length: Most pieces to a text, or to the two of a pair together.
    """

    def __init__(
        self,
        texts: Sequence[LabelledText],
        answers: NDArray[Any],
        tokenizer: PreTrainedTokenizerFast,
        *,
        max_length: int,
    ) -> None:
        self.texts = texts
        self._answers = answers
        self._padding = int(tokenizer.pad_token_id or 0)
        self._most = max_length
        self.cut_texts = 0
        """Texts that were too long."""
        ids: list[Ints] = []
        types: list[Ints] = []
        paired = any(text.second is not None for text in texts)
        wants_types = paired and "token_type_ids" in tokenizer.model_input_names
        for start in range(0, len(texts), _AT_A_TIME):
            chunk = texts[start : start + _AT_A_TIME]
            encoded = tokenizer(
                [text.text for text in chunk],
                [text.second or "" for text in chunk] if paired else None,
                truncation="longest_first",
                max_length=max_length,
                return_token_type_ids=wants_types,
                verbose=False,
            )
            self.cut_texts += sum(bool(each.overflowing) for each in encoded.encodings)
            ids += [np.array(row, np.int32) for row in encoded["input_ids"]]
            if wants_types:
                types += [np.array(row, np.int32) for row in encoded["token_type_ids"]]
        self._ids = FlatRows.joined(ids, dtype=np.int32)
        self._types = FlatRows.joined(types, dtype=np.int32) if types else None
        self.lengths: Ints = self._ids.lengths
        """Pieces of each text, to compute like with like."""
        self.notes: dict[str, Any] = {}
        """What was noticed while reading, for the record."""

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def groups(self) -> list[str | None]:
        """Of each text, what it is weighted with."""
        return [text.group for text in self.texts]

    @property
    def pieces(self) -> int:
        """In all."""
        return len(self._ids.values)

    def batch(self, indices: Indices) -> Batch:
        """The texts at these positions."""
        width = self._ids.width(indices, most=self._most)
        ids = self._ids.padded(indices, width=width, filler=self._padding)
        types = None
        if self._types is not None:
            types = torch.from_numpy(self._types.padded(indices, width=width, filler=0))
        lengths = torch.from_numpy(self._ids.lengths[indices])
        inputs = TextInputs(torch.from_numpy(ids), lengths, types, "text")
        return Batch(inputs, torch.from_numpy(self._answers[indices]))

    def fingerprint(self) -> str:
        """SHA-256 of pieces and answers."""
        labels = np.array([str(text.label) for text in self.texts])
        types = [] if self._types is None else [self._types.values]
        return sha256_of(self._ids.values, self._ids.starts, labels, *types)
