"""A tokenised corpus: a folder with an index, whose arrays are mapped into memory."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt import files
from tawt.errors import DataError, RunError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FORMAT = 4
"""Of the folders; shards of another format are made again."""
INDEX, GROUPS = "index.json", "groups.json"
TOKENS, ENDS, DIGESTS, MEMBERS = "tokens.bin", "ends.bin", "digests.bin", "groups.bin"
LINES = "lines.bin"

_AT_ONCE = 2**22  # tokens


@dataclass(frozen=True, kw_only=True)
class ShardIndex:
    """What a shard holds."""

    documents: int
    tokens: int
    """Separators included: one before the first document, and one after each."""
    bytes: int
    """Of the text in UTF-8; the end of a document counts as one."""
    dtype: str
    """Of the tokens, as NumPy calls it."""
    tokens_sha256: str
    """Of the tokens."""
    separator: int
    vocabulary: str
    """Fingerprint of the vocabulary."""
    skipped: int = 0
    """Empty documents that were left out."""
    replaced: int = 0
    """Characters U+FFFD, which stand for bytes that could not be decoded; counted where those
    are replaced."""
    known: int = 0
    """Lines that are known from elsewhere: left out, or only counted, as was asked for."""
    lines: int = 0
    """Lines of documents that have several, but for short ones."""
    groups: int = 0
    """How many groups documents are in; 0 if that is unknown."""
    format: int = FORMAT
    tawt: str = ""
    """The version that made it."""


class Shard:
    """A tokenised corpus on disk; opening one reads its index, and nothing else.

    The stream of tokens begins with the separator, and every document ends with one. It is pickled
    as the name of its folder.

    Args:
        folder: One that `tokenised` made.

    Raises:
        DataError: If the folder is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index = _index(folder)
        for name, size in self._sizes().items():
            _check_size(folder / name, size)

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "index": self.index}

    @cached_property
    def tokens(self) -> NDArray[Any]:
        """The stream, of shape (tokens,)."""
        return self._mapped(TOKENS, self.index.dtype)

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """Where each document ends, its separator included; of shape (documents,)."""
        return self._mapped(ENDS, "int64")

    @cached_property
    def digests(self) -> NDArray[np.uint64]:
        """Eight bytes of each document's text but white space and case; of shape (documents,)."""
        return self._mapped(DIGESTS, "uint64")

    @cached_property
    def lines(self) -> NDArray[np.uint64]:
        """The same of each line of documents that have several; of shape (lines,)."""
        return self._mapped(LINES, "uint64") if self.index.lines else np.empty(0, np.uint64)

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """The groups that documents are in; empty if that is unknown."""
        if not self.index.groups:
            return ()
        try:
            return tuple(files.read_json(self.folder / GROUPS))
        except RunError as error:
            raise _damaged(self.folder, str(error)) from error

    @cached_property
    def members(self) -> NDArray[np.int32] | None:
        """Each document's group, by its position among the names; of shape (documents,)."""
        return self._mapped(MEMBERS, "int32") if self.index.groups else None

    def document(self, number: int) -> NDArray[Any]:
        """The tokens of a document, without its separator.

        Args:
            number: Which, from 0.
        """
        start = int(self.ends[number - 1]) if number else 1
        return self.tokens[start : int(self.ends[number]) - 1]

    def verify(self) -> None:
        """Read all of it, and hold it to what the index says.

        Raises:
            DataError: If the folder is damaged.
        """
        sha256 = hashlib.sha256()
        for start in range(0, len(self.tokens), _AT_ONCE):
            sha256.update(self.tokens[start : start + _AT_ONCE].data)
        if sha256.hexdigest() != self.index.tokens_sha256:
            raise _damaged(self.folder, f"{TOKENS} is not what {INDEX} has the checksum of")
        starts = np.concatenate([[1], self.ends[:-1]])
        if (self.ends <= starts).any() or self.ends[-1] != self.index.tokens:
            raise _damaged(self.folder, f"{ENDS} is not in order")

    def _sizes(self) -> dict[str, int]:
        """Bytes that each file must have."""
        index = self.index
        sizes = {
            TOKENS: index.tokens * np.dtype(index.dtype).itemsize,
            ENDS: index.documents * 8,
            DIGESTS: index.documents * 8,
        }
        if index.lines:
            sizes[LINES] = index.lines * 8
        return {**sizes, MEMBERS: index.documents * 4} if index.groups else sizes

    def _mapped(self, name: str, dtype: str) -> NDArray[Any]:
        try:
            # A plain view: memmap's own class costs time at every access.
            return np.asarray(np.memmap(self.folder / name, dtype, "r"))
        except (OSError, ValueError) as error:
            raise _damaged(self.folder, f"{name}: {error}") from error


def write_index(folder: Path, index: ShardIndex) -> None:
    """Leave word of what a shard holds, with a checksum of that."""
    files.write_sealed(folder / INDEX, asdict(index))


def _index(folder: Path) -> ShardIndex:
    try:
        found = files.read_sealed(folder / INDEX)
    except RunError as error:
        raise _damaged(folder, str(error).rstrip(".")) from error
    known = {field.name for field in fields(ShardIndex)}
    if found.get("format") != FORMAT or found.keys() != known:
        raise _damaged(folder, f"{INDEX} is of another format than {FORMAT}")
    return ShardIndex(**found)


def _check_size(path: Path, expected: int) -> None:
    try:
        found = path.stat().st_size
    except OSError as error:
        raise _damaged(path.parent, f"{path.name}: {error.strerror or error}") from error
    if found != expected:
        raise _damaged(path.parent, f"{path.name} has {found} bytes, and {INDEX} says {expected}")


def _damaged(folder: Path, reason: str) -> DataError:
    return DataError(
        f"The tokenised corpus {folder} is damaged: {reason}. Delete that folder, and it is made "
        "again."
    )
