"""New text in rows that a language model is given, so that every token is asked for once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from tawt.corpora.windows import NOT_ASKED

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

    from tawt.corpora.model_sections import Objective
    from tawt.corpora.vocabularies import Vocabulary


@dataclass(frozen=True, kw_only=True)
class RowLayout:
    """How texts become rows.

    Args:
        vocabulary: Of the model.
        objective: Of the model.
        window: Most tokens that the model sees at once.
        masked_share: Of the tokens that are masked at a time.
    """

    vocabulary: Vocabulary
    objective: Objective
    window: int
    masked_share: float = 0.15

    def size(self, text: str) -> int:
        """Bytes that a text's predicted tokens stand for; its end, a line's, is one of them."""
        return len(text.encode()) + (self.objective == "causal")

    def rows(self, tokens: NDArray[np.integer]) -> list[dict[str, NDArray[np.int64]]]:
        """The rows of one text.

        A causal model is asked for every token and for the text's end, a window at a time. A
        masked model is asked for every token once, in several rows of which each masks some.

        Args:
            tokens: Of the text.
        """
        separator = self.vocabulary.separator
        whole = np.concatenate([[separator], tokens, [separator]]).astype(np.int64)
        if self.objective == "causal":
            starts = range(0, len(whole) - 1, self.window)
            return [{"tokens": whole[start : start + self.window + 1]} for start in starts]
        starts = range(0, len(whole), self.window)
        return [row for start in starts for row in self._masked(whole[start : start + self.window])]

    def batch(self, rows: list[dict[str, NDArray[np.int64]]]) -> dict[str, Tensor]:
        """Rows as one batch, padded to the longest."""
        lengths = np.array([len(row["tokens"]) for row in rows])
        found = {"lengths": torch.from_numpy(lengths)}
        for name in rows[0]:
            padding = NOT_ASKED if name == "answers" else self.vocabulary.padding
            filled = np.full((len(rows), int(lengths.max())), padding, np.int64)
            for place, row in zip(filled, rows, strict=True):
                place[: len(row[name])] = row[name]
            found[name] = torch.from_numpy(filled)
        return found

    def _masked(self, tokens: NDArray[np.int64]) -> list[dict[str, NDArray[np.int64]]]:
        mask = self.vocabulary.mask
        assert mask is not None
        times = max(1, round(1 / self.masked_share))
        open_ = np.flatnonzero(~np.isin(tokens, list(self.vocabulary.specials)))
        rows = []
        for turn in range(times):
            asked = open_[turn::times]
            if len(asked):
                answers = np.full(len(tokens), NOT_ASKED, np.int64)
                answers[asked] = tokens[asked]
                shown = tokens.copy()
                shown[asked] = mask
                rows.append({"tokens": shown, "answers": answers})
        return rows
