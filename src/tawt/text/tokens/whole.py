"""Whole texts, or pairs of them, each with one answer."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tawt.tasks import Batch, Examples, Shown
from tawt.text.encoding import TextInputs
from tawt.text.reading import preview
from tawt.text.reading.contents import text_contents, text_likenesses
from tawt.text.tokens.fingerprints import sha256_of
from tawt.text.tokens.flat import FlatRows, Ints
from tawt.units import Coded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from tokenizers import Encoding
    from transformers import PreTrainedTokenizerFast

    from tawt.tasks.examples import Indices
    from tawt.text.reading import LabelledText

_AT_A_TIME = 1024
_CHARACTERS_AT_A_TIME = 2**19


class WholeTexts(Examples):
    """Texts with one label or number each; longer ones are cut at the end.

    Args:
        texts: The texts.
        answers: One for each: positions of labels, or numbers.
        tokenizer: A fast one.
        max_length: Most pieces to a text, or to the two of a pair together.
    """

    in_words = True

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
        for chunk in _chunks(texts):
            # Not cut by the tokenizer, which keeps what it cuts off: of two texts every part of
            # one beside every part of the other.
            encoded = tokenizer(
                [text.text for text in chunk],
                [text.second or "" for text in chunk] if paired else None,
                truncation=False,
                return_token_type_ids=wants_types,
                return_attention_mask=False,
                verbose=False,  # long texts are ours to see to
            )
            for encoding in encoded.encodings:
                kept = _kept(encoding, max_length, side=tokenizer.truncation_side)
                self.cut_texts += kept is not None
                ids.append(_cut(encoding.ids, kept))
                if wants_types:
                    types.append(_cut(encoding.type_ids, kept))
        self._ids = FlatRows.joined(ids, dtype=np.int32)
        self._types = FlatRows.joined(types, dtype=np.int32) if types else None
        self.lengths = self._ids.lengths.astype(np.int64)
        """Pieces of each text, to compute like with like."""
        self.notes = {}

    def __len__(self) -> int:
        return len(self._ids)

    def followed_by(self, more: Examples) -> WholeTexts | None:
        """These texts and then more; `None` where they are cut into other pieces."""
        if not isinstance(more, WholeTexts) or more._most != self._most:
            return None
        if (more._types is None) != (self._types is None):
            return None
        both = copy(self)
        both.texts = [*self.texts, *more.texts]
        both.cut_texts = self.cut_texts + more.cut_texts
        both._answers = np.concatenate([self._answers, more._answers])
        both._ids = self._ids.followed_by(more._ids)
        if self._types is not None and more._types is not None:
            both._types = self._types.followed_by(more._types)
        both.lengths = np.concatenate([self.lengths, more.lengths])
        return both

    def groups(self) -> list[str | None] | None:
        """Of each text, what it is weighted with."""
        found = [text.group for text in self.texts]
        return None if all(group is None for group in found) else found

    def show(self, index: int) -> Shown:
        """The text, or both."""
        return Shown(text=self._joined(index, " ⟂ "), line=self.texts[index].line)

    def preview(self, index: int) -> str:
        """The text with its label."""
        return preview(self.texts[index])

    def label(self, index: int) -> str | float:
        """A name, or a number."""
        return self.texts[index].label

    def names(self) -> Coded | None:
        """The label of each text; nothing where labels are numbers."""
        if isinstance(self.texts[0].label, float):
            return None
        return Coded.of(text.label for text in self.texts)

    def answered(self, index: int, gold: Any, predicted: Any) -> list[tuple[str, Any, Any]]:
        """A row with the text, or both."""
        return [(self._joined(index, " ||| "), gold, predicted)]

    def digests(self) -> NDArray[np.uint64]:
        """Eight bytes of each text."""
        return text_contents(self.texts)

    def likenesses(self) -> NDArray[np.uint64]:
        """Eight bytes of the letters and digits of each text."""
        return text_likenesses(self.texts)

    def _joined(self, index: int, between: str) -> str:
        found = self.texts[index]
        return found.text if found.second is None else f"{found.text}{between}{found.second}"

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


def _chunks(texts: Sequence[LabelledText]) -> Iterator[list[LabelledText]]:
    """Some texts at a time, fewer of long ones: the tokenizer's own notes take most memory."""
    chunk: list[LabelledText] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text.text) + len(text.second or "")
        if len(chunk) == _AT_A_TIME or size >= _CHARACTERS_AT_A_TIME:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _kept(encoding: Encoding, most: int, *, side: str) -> NDArray[np.bool_] | None:
    """Which pieces are within the limit, special ones included; nothing where all are.

    Of two texts the longer loses pieces first, as with the tokenizer's `longest_first`.
    """
    if len(encoding) <= most:
        return None
    owners = np.array([-1 if owner is None else owner for owner in encoding.sequence_ids])
    kept = owners < 0
    lengths = [int((owners == number).sum()) for number in (0, 1)]
    for number, length in enumerate(_shortened(*lengths, room=most - int(kept.sum()))):
        places = np.flatnonzero(owners == number)
        kept[places[lengths[number] - length :] if side == "left" else places[:length]] = True
    return kept


def _shortened(first: int, second: int, *, room: int) -> tuple[int, int]:
    """Lengths of two texts that fit into the room together.

    Example:
        >>> _shortened(20, 3, room=10), _shortened(20, 30, room=11), _shortened(20, 0, room=5)
        ((7, 3), (5, 6), (5, 0))
    """
    shorter = max(0, min(first, second, room // 2))
    longer = max(0, room - shorter)
    return (longer, shorter) if first > second else (shorter, longer)


def _cut(numbers: Sequence[int], kept: NDArray[np.bool_] | None) -> Ints:
    found = np.array(numbers, np.int32)
    return found if kept is None else found[kept]
