"""Tagged sentences, ready to be cut into batches."""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from tawt.tasks import Batch, Examples, Shown
from tawt.text.encoding import TextInputs
from tawt.text.reading import preview
from tawt.text.reading.contents import text_contents, text_likenesses
from tawt.text.tokens.fingerprints import sha256_of
from tawt.text.tokens.flat import FlatRows, Ints
from tawt.units import Coded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tawt.tasks.examples import Indices
    from tawt.text.reading import TaggedSentence
    from tawt.text.tokens.words import WordPieces

_NOTHING = "O"  # the tag of words that are part of nothing
NO_TAG = -100
"""Where there is no word's first piece; cross-entropy passes it over."""


class TagLabels(NamedTuple):
    """The gold tags of a batch."""

    tags: Tensor
    """Position of the tag at each word's first piece, `NO_TAG` elsewhere, `(rows, width)`."""
    share: Tensor
    """What a word counts in its sentence's loss: one over the words of an average sentence, so
    that L_t is the mean over the task's words, as the scores are. Where sentences are weighed one
    by one, one over the words of its own, `(rows,)`."""
    sentence: Tensor
    """Which sentence of the batch a row is of, `(rows,)`."""


class TaggedSentences(Examples):
    """Sentences with a tag for each word; long ones may be several rows.

    Args:
        sentences: Words and tags.
        positions: Of each tag among the task's, unknown ones included.
        pieces: Cuts words into pieces.
        padding: Id of the padding piece.
    """

    in_words = True

    def __init__(
        self,
        sentences: Sequence[TaggedSentence],
        positions: Mapping[str, int],
        pieces: WordPieces,
        *,
        padding: int,
    ) -> None:
        self.sentences = sentences
        self._padding = padding
        self._most = pieces.max_length
        self._names = np.array(list(positions))
        ids: list[Ints] = []
        tags: list[Ints] = []
        counts = np.zeros(len(sentences), np.int64)
        cut_before = pieces.cut_words
        for number, rows in enumerate(pieces.rows(s.words for s in sentences)):
            gold = np.array([positions[tag] for tag in sentences[number].tags], np.int32)
            counts[number] = len(rows)
            for row in rows:
                placed = np.full(len(row.ids), NO_TAG, np.int32)
                placed[row.places] = gold[row.words]
                ids.append(row.ids)
                tags.append(placed)
        self.cut_words = pieces.cut_words - cut_before
        """Words that are not in any row, because their sentence was too long."""
        self._ids = FlatRows.joined(ids, dtype=np.int32)
        self._tags = FlatRows.joined(tags, dtype=np.int32)
        words = int((self._tags.values != NO_TAG).sum())
        self._shares = np.array(len(sentences) / max(1, words), np.float32)
        self._first = np.concatenate([[0], np.cumsum(counts)])
        self.lengths = np.maximum.reduceat(self._ids.lengths, self._first[:-1]).astype(np.int64)
        """Pieces of each sentence's longest row, to compute like with like."""
        self.rows = counts
        """Rows of each sentence, so that long ones count for what they are."""
        self.notes = {}

    def __len__(self) -> int:
        return len(self._first) - 1

    def followed_by(self, more: Examples) -> TaggedSentences | None:
        """These sentences and then more; `None` where tags or pieces have other numbers.

        Each word of them counts alike, whichever split it was in.
        """
        if not isinstance(more, TaggedSentences) or more._most != self._most:
            return None
        if not np.array_equal(self._names, more._names):
            return None
        both = copy(self)
        both.sentences = [*self.sentences, *more.sentences]
        both.cut_words = self.cut_words + more.cut_words
        both._ids = self._ids.followed_by(more._ids)
        both._tags = self._tags.followed_by(more._tags)
        both._first = np.concatenate([self._first, self._first[-1] + more._first[1:]])
        both.lengths = np.concatenate([self.lengths, more.lengths])
        both.rows = np.concatenate([self.rows, more.rows])
        words = int((both._tags.values != NO_TAG).sum())
        both._shares = np.array(len(both) / max(1, words), np.float32)
        return both

    def groups(self) -> list[str | None] | None:
        """Of each sentence, what it is weighted with."""
        found = [sentence.group for sentence in self.sentences]
        return None if all(group is None for group in found) else found

    def show(self, index: int) -> Shown:
        """The words of a sentence."""
        sentence = self.sentences[index]
        return Shown(text=" ".join(sentence.words), line=sentence.line)

    def preview(self, index: int) -> str:
        """Words with their tags."""
        return preview(self.sentences[index])

    def label(self, index: int) -> tuple[str, ...]:
        """A tag for each word."""
        return self.sentences[index].tags

    def names(self) -> Coded:
        """Of each sentence its commonest tag."""
        return Coded.of(_commonest(sentence.tags) for sentence in self.sentences)

    def all_names(self) -> tuple[Coded, NDArray[np.int32]]:
        """The tags of every sentence, each of them once."""
        tags = Coded.of(tag for sentence in self.sentences for tag in set(sentence.tags))
        return tags, np.fromiter((len(set(s.tags)) for s in self.sentences), np.int32)

    def answered(
        self, index: int, gold: Sequence[str], predicted: Sequence[str]
    ) -> Iterator[tuple[str, str, str]]:
        """A row for each word."""
        yield from zip(self.sentences[index].words, gold, predicted, strict=False)

    def digests(self) -> NDArray[np.uint64]:
        """Eight bytes of each sentence's words."""
        return text_contents(self.sentences)

    def likenesses(self) -> NDArray[np.uint64]:
        """Eight bytes of the letters and digits of each sentence."""
        return text_likenesses(self.sentences)

    @property
    def pieces(self) -> int:
        """In all."""
        return len(self._ids.values)

    def batch(self, indices: Indices) -> Batch:
        """The sentences at these positions; all rows of each."""
        rows, owners = self._rows(indices)
        width = self._ids.width(rows, most=self._most)
        ids = self._ids.padded(rows, width=width, filler=self._padding)
        tags = self._tags.padded(rows, width=width, filler=NO_TAG)
        lengths = self._ids.lengths[rows]
        inputs = TextInputs(torch.from_numpy(ids), torch.from_numpy(lengths), None, "words")
        shares = self._shares[indices][owners] if self._shares.ndim else self._shares
        labels = TagLabels(torch.from_numpy(tags), torch.tensor(shares), torch.from_numpy(owners))
        return Batch(inputs, labels, labels.sentence, places=inputs.lengths)

    def with_own_means(self) -> TaggedSentences:
        """The same sentences; the loss of each is the mean over its own words."""
        in_rows = np.add.reduceat(self._tags.values != NO_TAG, self._tags.starts[:-1], dtype=int)
        words = np.add.reduceat(in_rows, self._first[:-1])
        alone = copy(self)
        alone._shares = (1 / np.maximum(1, words)).astype(np.float32)
        return alone

    def fingerprint(self) -> str:
        """SHA-256 of pieces and tags."""
        pieces, tags = self._ids, self._tags
        return sha256_of(pieces.values, pieces.starts, tags.values, self._first, self._names)

    def _rows(self, indices: Indices) -> tuple[Ints, Ints]:
        """The rows of these sentences, and the sentence of each row."""
        firsts, counts = self._first[indices], np.diff(self._first)[indices]
        owners = np.repeat(np.arange(len(indices)), counts)
        if len(owners) == len(indices):
            return firsts, owners
        inside = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
        return firsts[owners] + inside, owners


def _commonest(tags: Iterable[str]) -> str:
    """Of those that say anything; the first by name of several."""
    counts = Counter(tag for tag in tags if tag != _NOTHING) or Counter({_NOTHING: 1})
    return min(counts, key=lambda tag: (-counts[tag], tag))
