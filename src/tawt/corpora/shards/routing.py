"""Which split each document goes to, by its own text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tawt.corpora.shards.encoding import LongDigest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tawt.corpora.sections import HeldOut
    from tawt.corpora.shards.encoding import Encoded
    from tawt.corpora.shards.writing import ShardWriter
    from tawt.tasks import SplitName


class Router:
    """Gives each document to the writer of its split.

    The text decides, by the digest of its first part: one document is always in the same split,
    whatever is read before it, and so are two that are the same.

    Args:
        writers: By split. The first gets what is not held out.
        held_out: Fractions for the others.
    """

    def __init__(
        self, writers: Mapping[SplitName, ShardWriter], *, held_out: Mapping[HeldOut, float]
    ) -> None:
        self._writers = list(writers.values())
        self._names = list(writers)
        self._held_out = held_out
        self._long = LongDigest()
        self._open: int | None = None  # the split of a document that has not ended

    def add(self, chunk: Encoded, *, count_replaced: bool) -> None:
        """Write a chunk to the splits of its documents."""
        self._writers[0].skipped += chunk.chunk.skipped
        if not len(chunk.sizes):
            return
        splits = self._splits(chunk)
        digests = self._digests(chunk)
        for number, writer in enumerate(self._writers):
            mine = splits == number
            if mine.any():
                self._write(writer, chunk, mine, digests, count_replaced=count_replaced)

    @staticmethod
    def _write(
        writer: ShardWriter,
        chunk: Encoded,
        mine: NDArray[np.bool_],
        digests: NDArray[np.uint64],
        *,
        count_replaced: bool,
    ) -> None:
        parts = chunk.chunk.parts
        tokens, ending = chunk.tokens, mine & chunk.ends
        if not mine.all():
            tokens = tokens[np.repeat(mine, chunk.sizes)]
        writer.add(tokens, chunk.sizes[mine], chunk.ends[mine])
        writer.add_documents(digests[ending], [parts[i].group for i in np.flatnonzero(ending)])
        writer.add_lines(chunk.lines[np.repeat(mine, chunk.line_counts)])
        writer.bytes += int(chunk.bytes[mine].sum())
        if count_replaced:
            writer.replaced += sum(parts[i].text.count("\ufffd") for i in np.flatnonzero(mine))

    def _splits(self, chunk: Encoded) -> NDArray[np.int64]:
        """The number of each part's split."""
        shares = chunk.digests / np.float64(2**64)
        splits = np.zeros(len(shares), np.int64)
        # From both ends, so that a fraction for one does not move the documents of the other.
        if "dev" in self._held_out:
            splits[shares < self._held_out["dev"]] = self._names.index("dev")
        if "test" in self._held_out:
            splits[shares >= 1 - self._held_out["test"]] = self._names.index("test")
        if self._open is not None:
            splits[0] = self._open
        for place in (
            np.flatnonzero(~chunk.ends[:-1]) + 1
        ):  # parts that go on, of which there are few
            splits[place] = splits[place - 1]
        self._open = None if chunk.ends[-1] else int(splits[-1])
        return splits

    def _digests(self, chunk: Encoded) -> NDArray[np.uint64]:
        """Of what of whole documents is compared, at the parts that they end with."""
        found = chunk.contents.copy()
        is_long = ~chunk.ends
        is_long[1:] |= ~chunk.ends[:-1]
        is_long[0] |= self._long.has_begun
        for place in np.flatnonzero(is_long):
            part = chunk.chunk.parts[place]
            self._long.add(part.text)
            if part.ends:
                found[place] = self._long.end()
        return found
