"""Windows in which every token is predicted from those before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tawt.corpora.windows.base import CorpusWindows, gathered
from tawt.tasks import Batch

if TYPE_CHECKING:
    from tawt.tasks.examples import Indices


class Windows(CorpusWindows):
    r"""A corpus for a causal language model: every token but the first is predicted exactly once.

    Window i has the tokens from i · width to i · width + width, both included: the last token of a
    window is the first of the next, where it is seen but not predicted.

    The inputs of a batch are a mapping: `tokens`, of shape (windows, width + 1), padded; and
    `lengths`, of shape (windows,), how many tokens of each row are no padding, of which all but the
    first are predicted. Labels, of shape (windows,), are the bytes that the predicted tokens stand
    for: a token's share of all bytes of the corpus, so that they add up to these.

    Args:
        shard: The corpus.
        vocabulary: The one it was tokenised with.
        width: Tokens that are predicted in a window.

    Raises:
        ConfigError: If the width is below 1, or the vocabulary is another one.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tawt.corpora import Bytes, CorpusFiles, tokenised
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a.txt")
        ...     _ = path.write_text("ab\nc\n")
        ...     shard = tokenised(CorpusFiles(train=path), Bytes(), cache=Path(folder, "cache"))
        ...     windows = Windows(shard, Bytes(), width=4)
        ...     batch = windows.batch(np.array([0, 1]))
        >>> batch.inputs["tokens"]
        tensor([[  1, 100, 101,   1, 102],
                [102,   1,   0,   0,   0]])
        >>> batch.inputs["lengths"], batch.labels
        (tensor([5, 2]), tensor([4., 1.]))
    """

    def __len__(self) -> int:
        return (self.predicted + self.width - 1) // self.width

    @property
    def predicted(self) -> int:
        """Tokens that are predicted, in all windows."""
        return self.shard.index.tokens - 1

    @property
    def bytes_per_token(self) -> float:
        """The mean over predicted tokens."""
        return self.shard.index.bytes / self.predicted

    def starts(self, indices: Indices) -> Indices:
        """Where the predicted tokens of windows begin."""
        return np.asarray(indices, np.int64) * self.width + 1

    def batch(self, indices: Indices) -> Batch:
        """The windows at these positions."""
        rows, lengths = gathered(
            self.shard.tokens,
            np.asarray(indices, np.int64) * self.width,
            width=self.width + 1,
            filler=self.vocabulary.padding,
        )
        inputs = {"tokens": torch.from_numpy(rows), "lengths": torch.from_numpy(lengths)}
        labels = ((lengths - 1) * self.bytes_per_token).astype(np.float32)
        return Batch(inputs, torch.from_numpy(labels))
