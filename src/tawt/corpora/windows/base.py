"""What all windows of a corpus have in common."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.errors import ConfigError
from tawt.tasks import Examples, Shown
from tawt.units import Coded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tawt.corpora.shards import Shard
    from tawt.corpora.vocabularies import Vocabulary
    from tawt.tasks import Task
    from tawt.tasks.examples import Indices
    from tawt.units import Numbers

_SHOWN, _PREVIEWED = 300, 100  # characters
_AT_ONCE = 1 << 16  # windows
_BREAK = " ¶ "  # between documents


class CorpusWindows(Examples):
    """A tokenised corpus, cut into windows of equal length; the last may be shorter.

    Args:
        shard: The corpus.
        vocabulary: The one it was tokenised with.
        width: Tokens that a window is asked about.

    Raises:
        ConfigError: If the width is below 1, or the vocabulary is another one.
    """

    in_words = True

    def __init__(self, shard: Shard, vocabulary: Vocabulary, *, width: int) -> None:
        if width < 1:
            raise ConfigError(f"A window must have at least 1 token; got {width}.")
        if shard.index.vocabulary != vocabulary.fingerprint:
            raise ConfigError(
                f"{shard.folder} was tokenised with another vocabulary; give the one it was made "
                "with, or tokenise the corpus again."
            )
        self.shard = shard
        self.vocabulary = vocabulary
        self.width = width
        index = shard.index
        self.tokens = index.tokens
        self.notes = {
            "documents": index.documents,
            "tokens": index.tokens,
            "bytes": index.bytes,
            **({"skipped": index.skipped} if index.skipped else {}),
            **({"replaced": index.replaced} if index.replaced else {}),
        }

    @abstractmethod
    def starts(self, indices: Indices) -> Indices:
        """Where the tokens that windows are asked about begin in the stream.

        Args:
            indices: Of the windows.
        """

    def fingerprint(self) -> str:
        """SHA-256 of the tokens and of how they are cut."""
        index = self.shard.index
        said = [type(self).__name__, self.width, index.tokens_sha256, index.tokens, index.bytes]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    def digests(self) -> NDArray[np.uint64]:
        """Eight bytes of each document, not of each window: documents are what corpora share."""
        return self.shard.digests

    def groups(self) -> Coded | None:
        """The group of the document in which each window begins."""
        members = self.shard.members
        if members is None:
            return None
        numbers = np.empty(len(self), np.int32)
        for first in range(0, len(self), _AT_ONCE):
            part = np.arange(first, min(first + _AT_ONCE, len(self)))
            starts = np.maximum(self.starts(part), 1)
            numbers[part] = members[np.searchsorted(self.shard.ends, starts, side="right")]
        return Coded(self.shard.group_names, numbers)

    def clusters(self, count: int, *, seed: int) -> Numbers:
        """Which windows are alike in the tokens that stand side by side in them."""
        from tawt.corpora.windows.clustering import clusters

        return clusters(self, count, seed=seed)

    def label(self, index: int) -> None:
        """Windows have no labels; those of a batch are bytes, which scores are by."""
        del index

    def names(self) -> None:
        """Windows have no labels."""
        return

    def show(self, index: int) -> Shown:
        """The text, its end cut off if it is long."""
        return Shown(text=self._text(index, most=_SHOWN))

    def preview(self, index: int) -> str:
        """The beginning of the text."""
        return self._text(index, most=_PREVIEWED)

    def _text(self, index: int, *, most: int) -> str:
        [start] = self.starts(np.array([index])).tolist()
        # No character takes more than a few tokens, so no more of them need be decoded.
        tokens = self.shard.tokens[start : start + min(self.width, 4 * most)]
        places = np.flatnonzero(tokens == self.vocabulary.separator)
        parts = (self.vocabulary.decode(part) for part in np.split(tokens, places))
        text = _BREAK.join(" ".join(part.split()) for part in parts)
        return text if len(text) <= most else f"{text[: most - 1]}…"


def windows_of(task: Task) -> dict[str, CorpusWindows]:
    """The splits of a corpus, the text to train on first.

    Args:
        task: Of windows.
    """
    found: dict[str, CorpusWindows] = {}
    for split, examples in task.splits().items():
        assert isinstance(examples, CorpusWindows)
        found[split] = examples
    return found


def gathered(
    tokens: NDArray[Any], starts: Indices, *, width: int, filler: int
) -> tuple[NDArray[np.int64], Indices]:
    """Rows of equal length out of a stream, filled up where it ends.

    Args:
        tokens: The stream.
        starts: Where each row begins.
        width: Of a row.
        filler: What follows the end.

    Returns:
        The rows, of shape (rows, width), and how many tokens of each are from the stream.

    Example:
        >>> rows, lengths = gathered(np.arange(5), np.array([0, 3]), width=3, filler=9)
        >>> rows.tolist(), lengths.tolist()
        ([[0, 1, 2], [3, 4, 9]], [3, 2])
    """
    places = starts[:, None] + np.arange(width)
    rows = tokens[np.minimum(places, len(tokens) - 1)].astype(np.int64)
    lengths = np.minimum(len(tokens) - starts, width)
    rows[np.arange(width) >= lengths[:, None]] = filler
    return rows, lengths
