"""From words to pieces: a sentence as one row, or as several that overlap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tawt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from transformers import PreTrainedTokenizerFast

    from tawt.text.tokens.flat import Ints

Long = Literal["window", "truncate"]
"""What becomes of a sentence that is too long: several rows that overlap, or its beginning."""

_AT_A_TIME = 1024
_WORDS_AT_A_TIME = 65_536


@dataclass(frozen=True)
class TokenRow:
    """Pieces of a sentence, or of a part of it."""

    ids: Ints
    """Special pieces included."""
    places: Ints
    """Where in `ids` each word that the row answers for begins."""
    words: Ints
    """Which words of the sentence these are."""


class WordPieces:
    """Cuts sentences, given as words, into rows of pieces.

    A word that becomes several pieces is known by its first. A word that the tokenizer has no
    piece for (a zero-width sign, say) becomes the unknown piece, so that it is answered too.

    Args:
        tokenizer: A fast one.
        max_length: Most pieces to a row, special ones included.
        long: What to do with longer sentences.
        overlap: Pieces that neighbouring rows of a sentence share; each word is answered for by the
            row that shows most of its surroundings.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerFast,
        *,
        max_length: int,
        long: Long = "window",
        overlap: int | None = None,
    ) -> None:
        self.max_length = max_length
        self._tokenizer = tokenizer
        self._before, self._after = _special_pieces(tokenizer)
        self._room = max_length - len(self._before) - len(self._after)
        if self._room < 1:
            raise ConfigError(
                f"`max_length` of {max_length} leaves no room for a word.",
                place=("model", "max_length"),
            )
        self._long = long
        self._overlap = min(self._room - 1, self._room // 4 if overlap is None else overlap)
        self._unknown = tokenizer.unk_token_id
        if self._unknown is None:
            self._unknown = tokenizer.pad_token_id
        self.cut_words = 0
        """Words left out, so far, because their sentence was too long."""
        self.cut_sentences = 0
        """Sentences that lost words."""
        self.windowed = 0
        """Sentences that became several rows."""

    def rows(self, sentences: Iterable[Sequence[str]]) -> Iterator[list[TokenRow]]:
        """The rows of each sentence, in order."""
        for chunk in _chunks(sentences):
            encoded = self._tokenizer(
                [list(words) for words in chunk],
                is_split_into_words=True,
                add_special_tokens=False,
                return_attention_mask=False,
                return_token_type_ids=False,
                verbose=False,  # long sentences are ours to see to
            )
            for words, encoding in zip(chunk, encoded.encodings, strict=True):
                yield self._cut(*self._pieces(encoding.ids, encoding.word_ids, len(words)))

    def _pieces(self, ids: list[int], words: list[int], count: int) -> tuple[Ints, Ints]:
        """Pieces of a sentence, and where each of its words begins."""
        pieces, owners = np.array(ids, np.int32), np.array(words, np.int64)
        firsts = np.searchsorted(owners, np.arange(count))
        missing = np.flatnonzero(
            (firsts == len(owners)) | (np.append(owners, -1)[firsts] != np.arange(count))
        )
        if len(missing):
            pieces = np.insert(pieces, firsts[missing], self._unknown).astype(np.int32)
            owners = np.insert(owners, firsts[missing], missing)
            firsts = np.searchsorted(owners, np.arange(count))
        return pieces, firsts

    def _cut(self, pieces: Ints, firsts: Ints) -> list[TokenRow]:
        if len(pieces) <= self._room:
            return [self._row(pieces, firsts, np.arange(len(firsts)))]
        if self._long == "truncate":
            kept = int(np.searchsorted(firsts, self._room))
            self.cut_words += len(firsts) - kept
            self.cut_sentences += 1
            return [self._row(pieces[: self._room], firsts[:kept], np.arange(kept))]
        self.windowed += 1
        return self._windows(pieces, firsts)

    def _windows(self, pieces: Ints, firsts: Ints) -> list[TokenRow]:
        step = self._room - self._overlap
        count = -(-(len(pieces) - self._room) // step) + 1
        starts = np.minimum(np.arange(count) * step, len(pieces) - self._room)
        # A word is answered for by the row in which it is farthest from an edge that hides
        # something: up to the middle of what two neighbours share by the first of them.
        middles = (starts[:-1] + starts[1:] + self._room - 1) // 2
        ends = [*np.searchsorted(firsts, middles, side="right"), len(firsts)]
        rows, begin = [], 0
        for start, end in zip(starts.tolist(), ends, strict=True):
            words = np.arange(begin, end)
            part = pieces[start : start + self._room]
            rows.append(self._row(part, firsts[words] - start, words))
            begin = end
        return [row for row in rows if len(row.words)]

    def _row(self, pieces: Ints, places: Ints, words: Ints) -> TokenRow:
        ids = np.concatenate([self._before, pieces, self._after])
        return TokenRow(ids.astype(np.int32), places + len(self._before), words)


def _special_pieces(tokenizer: PreTrainedTokenizerFast) -> tuple[Ints, Ints]:
    """What the tokenizer puts before and after a sentence."""
    encoded = tokenizer(["a"], is_split_into_words=True)
    owners = encoded.word_ids(0)
    inside = [place for place, owner in enumerate(owners) if owner is not None]
    ids = np.array(encoded["input_ids"], np.int32)
    return ids[: inside[0]], ids[inside[-1] + 1 :]


def _chunks(sentences: Iterable[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Some sentences at a time, fewer of long ones: the tokenizer's own notes take most memory."""
    chunk: list[Sequence[str]] = []
    words = 0
    for sentence in sentences:
        chunk.append(sentence)
        words += len(sentence)
        if len(chunk) == _AT_A_TIME or words >= _WORDS_AT_A_TIME:
            yield chunk
            chunk, words = [], 0
    if chunk:
        yield chunk
