"""The files of a shard, appended to as text is tokenised."""

from __future__ import annotations

import contextlib
import hashlib
import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tawt import files
from tawt.corpora.shards.shard import (
    DIGESTS,
    ENDS,
    GROUPS,
    LINES,
    MEMBERS,
    TOKENS,
    ShardIndex,
    write_index,
)
from tawt.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import BinaryIO

    from numpy.typing import NDArray

    from tawt.corpora.vocabularies import Vocabulary


class ShardWriter:
    """Writes a shard to a folder; the index comes last, so a folder without one is not whole.

    Args:
        folder: There already, and empty.
        vocabulary: Of the tokens.
    """

    def __init__(self, folder: Path, vocabulary: Vocabulary) -> None:
        self._folder = folder
        self._vocabulary = vocabulary
        self._sha256 = hashlib.sha256()
        self._groups: dict[str, int] = {}
        self._stack = contextlib.ExitStack()
        self._files: dict[str, BinaryIO] = {}
        self.tokens = self.documents = self.bytes = self.lines = 0
        self.skipped = self.replaced = self.known = 0

    def __enter__(self) -> Self:
        for name in (TOKENS, ENDS, DIGESTS, LINES, MEMBERS):
            file = (self._folder / name).open("wb", buffering=2**20)
            self._files[name] = self._stack.enter_context(file)
        self._add_tokens(np.array([self._vocabulary.separator], self._vocabulary.dtype))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def add(self, tokens: NDArray[Any], sizes: NDArray[np.int64], ends: NDArray[np.bool_]) -> None:
        """More tokens.

        Args:
            tokens: Of parts of documents, one after the other.
            sizes: How many each part has.
            ends: Whether a document ends with the part.
        """
        places = self.tokens + np.cumsum(sizes)[ends]
        self._files[ENDS].write(places.astype(np.int64).tobytes())
        self.documents += len(places)
        self._add_tokens(tokens)

    def add_documents(self, digests: NDArray[np.uint64], groups: Sequence[str | None]) -> None:
        """What is known of the documents that have ended.

        Args:
            digests: Of what of their texts is compared.
            groups: What they are weighted with; none of them, or all.
        """
        self._files[DIGESTS].write(digests.astype(np.uint64).tobytes())
        if groups and groups[0] is not None:
            codes = (self._groups.setdefault(str(name), len(self._groups)) for name in groups)
            self._files[MEMBERS].write(np.fromiter(codes, np.int32, len(groups)).tobytes())

    def add_lines(self, digests: NDArray[np.uint64]) -> None:
        """What is known of the lines of documents that have several.

        Args:
            digests: Of what of the lines is compared.
        """
        self._files[LINES].write(digests.astype(np.uint64).tobytes())
        self.lines += len(digests)

    def finish(self) -> None:
        """Close the files, and write the index."""
        for file in self._files.values():
            file.flush()
            os.fsync(file.fileno())
        self._stack.close()
        if self._groups:
            files.write_json(self._folder / GROUPS, list(self._groups))
        else:
            (self._folder / MEMBERS).unlink()
        if not self.lines:
            (self._folder / LINES).unlink()
        index = ShardIndex(
            documents=self.documents,
            tokens=self.tokens,
            bytes=self.bytes,
            dtype=self._vocabulary.dtype.name,
            tokens_sha256=self._sha256.hexdigest(),
            separator=self._vocabulary.separator,
            vocabulary=self._vocabulary.fingerprint,
            skipped=self.skipped,
            replaced=self.replaced,
            known=self.known,
            lines=self.lines,
            groups=len(self._groups),
            tawt=__version__,
        )
        write_index(self._folder, index)

    def _add_tokens(self, tokens: NDArray[Any]) -> None:
        content = np.ascontiguousarray(tokens).data  # no copy
        self._files[TOKENS].write(content)
        self._sha256.update(content)
        self.tokens += len(tokens)
