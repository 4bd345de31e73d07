"""Masked windows as an encoder reads a text: between its own special tokens."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from tawt.corpora.windows.masked import NOT_ASKED, MaskedWindows, fractions
from tawt.errors import ConfigError
from tawt.tasks import Batch
from tawt.text.encoding import PieceInputs

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from transformers import PreTrainedTokenizerFast

    from tawt.corpora.shards import Shard
    from tawt.corpora.vocabularies import Vocabulary
    from tawt.tasks.examples import Indices


class Frame(NamedTuple):
    """The special tokens that stand around a text."""

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerFast) -> Frame:
        """What a tokenizer puts around one text.

        Args:
            tokenizer: A fast one.
        """
        encoded = tokenizer("a", return_special_tokens_mask=True)
        ids, special = encoded["input_ids"], encoded["special_tokens_mask"]
        first = special.index(0) if 0 in special else len(ids)
        last = len(ids) - special[::-1].index(0) if 0 in special else len(ids)
        return cls(tuple(ids[:first]), tuple(ids[last:]))


class FramedWindows(MaskedWindows):
    """A corpus for a text encoder, in windows with its special tokens around them.

    The same share of every window is asked about: equally many tokens of all full ones, so that
    a batch has the same shape whatever is in it. Inputs are `PieceInputs`, whose `places` say
    where; labels are the true tokens there, shape `(windows, asked)`, and `NOT_ASKED` where a
    window has fewer.

    Args:
        shard: The corpus.
        vocabulary: The one it was tokenised with; it must have a mask.
        max_length: Tokens of a row, special ones included.
        frame: The special tokens.
        share: Of the tokens, how many are asked about.
        seed: Of the draw.

    Raises:
        ConfigError: If the vocabulary has no mask, is another one, or a number is out of range.
    """

    def __init__(
        self,
        shard: Shard,
        vocabulary: Vocabulary,
        *,
        max_length: int,
        frame: Frame,
        share: float = 0.15,
        seed: int = 0,
    ) -> None:
        width = max_length - len(frame.before) - len(frame.after)
        if width < 1:
            raise ConfigError(
                f"`model.max_length` is {max_length}, and all of it is taken by the encoder's own "
                "special tokens; give a larger number."
            )
        super().__init__(shard, vocabulary, width=width, share=share, seed=seed)
        self.frame = frame
        self._slots = int(self._counts(np.array([width]))[0])

    def batch(self, indices: Indices) -> Batch:
        """The windows at these positions, with what is asked about them."""
        plain = super().batch(indices).inputs
        tokens, lengths = plain["tokens"].numpy(), plain["lengths"].numpy()
        answers = plain["answers"].numpy()
        # What is asked about comes first, in its order.
        order = np.argsort(answers == NOT_ASKED, axis=1, kind="stable")[:, : self._slots]
        labels = np.take_along_axis(answers, order, axis=1)
        before, after = self.frame
        around = ((0, 0), (len(before), len(after)))
        ids = np.pad(tokens, around, constant_values=self.vocabulary.padding)
        ids[:, : len(before)] = before
        ends = lengths[:, None] + len(before) + np.arange(len(after))
        np.put_along_axis(ids, ends, np.broadcast_to(np.array(after, np.int64), ends.shape), axis=1)
        places = np.where(labels == NOT_ASKED, 0, order + len(before))
        inputs = PieceInputs(
            torch.from_numpy(ids),
            torch.from_numpy(lengths + len(before) + len(after)),
            torch.from_numpy(places),
        )
        counts = torch.from_numpy((labels != NOT_ASKED).sum(axis=1))
        return Batch(inputs, torch.from_numpy(labels), places=counts)

    def fingerprint(self) -> str:
        """SHA-256 of the tokens and of how they are cut and asked about."""
        said = f"{super().fingerprint()} {self.frame} {self.share}"
        return hashlib.sha256(said.encode()).hexdigest()

    def _choose_tokens(
        self, seeds: NDArray[np.uint64], can_be_asked: NDArray[np.bool_], lengths: Indices
    ) -> NDArray[np.bool_]:
        draws = np.where(can_be_asked, fractions(seeds), np.inf)
        order = np.argsort(draws, axis=1, kind="stable")
        counts = np.minimum(self._counts(lengths), can_be_asked.sum(axis=1))
        asked = np.zeros_like(can_be_asked)
        np.put_along_axis(asked, order, np.arange(self.width) < counts[:, None], axis=1)
        return asked

    def _counts(self, lengths: Indices) -> Indices:
        """How many tokens of windows of so many are asked about: one at least."""
        wanted: Indices = np.maximum(np.rint(self.share * lengths).astype(np.int64), 1)
        return wanted
