"""Windows in which some tokens are hidden, and predicted from all the others."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import torch

from tawt.corpora.windows.base import CorpusWindows, gathered
from tawt.errors import ConfigError
from tawt.tasks import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tawt.corpora.shards import Shard
    from tawt.corpora.vocabularies import Vocabulary
    from tawt.tasks.examples import Indices

NOT_ASKED = -100
"""The answer at a place that nothing is asked about; cross-entropy ignores it."""
_MASKED, _REPLACED = 0.8, 0.1  # of the tokens asked about; the rest stay as they are


class MaskedWindows(CorpusWindows):
    """A corpus for a masked language model, in windows that do not overlap.

    Of the tokens that a window is asked about, four in five become the mask, one in ten becomes
    another token, and one in ten stays as it is. Separators and other special tokens are never
    asked about; a window that has any other token is asked about at least one.

    The draw has no state. With `fixed`, it depends on the seed and on each window's position, so
    that scores are of the same question every time; else on the seed and on all positions of the
    batch, so that a window is asked something else in another batch.

    The inputs of a batch are a mapping: `tokens`, of shape (windows, width), after the draw and
    padded; `answers`, of the same shape, the true token where one is asked and `NOT_ASKED` (-100)
    elsewhere; and `lengths`, of shape (windows,), how many tokens of each row are no padding.
    Labels, of shape (windows,), are the bytes that the tokens asked about stand for, by the mean
    over the corpus.

    Args:
        shard: The corpus.
        vocabulary: The one it was tokenised with; it must have a mask.
        width: Tokens of a window.
        share: Of the tokens, how many are asked about.
        seed: Of the draw.
        fixed: Whether the same is asked every time.

    Raises:
        ConfigError: If the vocabulary has no mask, is another one, or a number is out of range.
    """

    def __init__(
        self,
        shard: Shard,
        vocabulary: Vocabulary,
        *,
        width: int,
        share: float = 0.15,
        seed: int = 0,
        fixed: bool = False,
    ) -> None:
        super().__init__(shard, vocabulary, width=width)
        if not 0 < share < 1:
            raise ConfigError(f"The masked share must lie between 0 and 1; got {share}.")
        if vocabulary.mask is None:
            raise ConfigError(
                "A masked language model needs a tokenizer with a mask token, and this one has "
                "none; choose the tokenizer of a model such as BERT, or `bytes`."
            )
        self.share, self.seed, self.fixed = share, seed, fixed
        self._mask = vocabulary.mask
        is_special = np.zeros(max(vocabulary.size, 1 + max(vocabulary.specials)), np.bool_)
        is_special[list(vocabulary.specials)] = True
        self._is_special = is_special
        self._plain = np.flatnonzero(~is_special[: vocabulary.size])

    def __len__(self) -> int:
        return (self.shard.index.tokens + self.width - 1) // self.width

    @property
    def bytes_per_token(self) -> float:
        """The mean over tokens that are no separators."""
        index = self.shard.index
        return (index.bytes - index.documents) / max(1, index.tokens - 1 - index.documents)

    def starts(self, indices: Indices) -> Indices:
        """Where windows begin."""
        return np.asarray(indices, np.int64) * self.width

    def batch(self, indices: Indices) -> Batch:
        """The windows at these positions, with what is asked about them."""
        starts = self.starts(indices)
        rows, lengths = gathered(
            self.shard.tokens, starts, width=self.width, filler=self.vocabulary.padding
        )
        can_be_asked = ~self._is_special[rows]
        can_be_asked &= np.arange(self.width) < lengths[:, None]
        seeds = self._seeds(starts)
        asked = self._choose_tokens(seeds, can_be_asked, lengths)
        inputs = {
            "tokens": torch.from_numpy(self._corrupted(rows, asked, seeds)),
            "answers": torch.from_numpy(np.where(asked, rows, NOT_ASKED)),
            "lengths": torch.from_numpy(lengths),
        }
        labels = (asked.sum(axis=1) * self.bytes_per_token).astype(np.float32)
        return Batch(inputs, torch.from_numpy(labels))

    def _seeds(self, starts: Indices) -> NDArray[np.uint64]:
        """A number for each place of the windows, from which its draws are made."""
        known = b"" if self.fixed else np.ascontiguousarray(starts).tobytes()
        key = hashlib.blake2b(known, digest_size=8, salt=self.seed.to_bytes(16, "little"))
        first = np.frombuffer(key.digest(), np.uint64)[0]
        places = (starts[:, None] + np.arange(self.width)).astype(np.uint64)
        return mixed(places + first)

    def _choose_tokens(
        self, seeds: NDArray[np.uint64], can_be_asked: NDArray[np.bool_], lengths: Indices
    ) -> NDArray[np.bool_]:
        del lengths
        draws = np.where(can_be_asked, fractions(seeds), np.inf)
        asked: NDArray[np.bool_] = draws < self.share
        smallest = draws.argmin(axis=1)
        rows = np.flatnonzero(can_be_asked.any(axis=1))
        asked[rows, smallest[rows]] = True
        return asked

    def _corrupted(
        self, rows: NDArray[np.int64], asked: NDArray[np.bool_], seeds: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        fates = mixed(seeds)
        draws = fractions(fates)
        found = np.where(asked & (draws < _MASKED), self._mask, rows)
        is_replaced = asked & (draws >= _MASKED) & (draws < _MASKED + _REPLACED)
        others = mixed(fates[is_replaced]) % np.uint64(len(self._plain))
        found[is_replaced] = self._plain[others]
        return found


def mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Each number as one that looks drawn at random, and is always the same (SplitMix64).

    Example:
        >>> int(mixed(np.array([0], np.uint64))[0]) == 0xE220A8397B1DCDAF  # as published
        True
    """
    found = numbers + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed_up: NDArray[np.uint64] = found ^ (found >> np.uint64(31))
    return mixed_up


def fractions(numbers: NDArray[np.uint64]) -> NDArray[np.float64]:
    """As numbers from 0 to 1."""
    return (numbers >> np.uint64(11)).astype(np.float64) * 2.0**-53
