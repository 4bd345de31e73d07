"""Documents tokenised a chunk at a time, by several threads, in order."""

from __future__ import annotations

import hashlib
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.corpora.reading.documents import without_blank
from tawt.corpora.vocabularies.pieces import without_own_threads
from tawt.tasks.examples import digests_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from tawt.corpora.reading import Document
    from tawt.corpora.vocabularies import Vocabulary

_CHARACTERS = 2**20  # of a chunk
_DOCUMENTS = 2**14  # of a chunk: short ones cost by their number
_LONG_ENOUGH = 16  # bytes of a line: shorter ones, such as headings, are alike by chance
_LOWER, _WHITE = bytes(range(256)).lower(), b" \t\n\r\v\f"


@dataclass(frozen=True)
class Chunk:
    """Documents, or parts of them, that are tokenised together."""

    parts: list[Document]
    skipped: int
    """Empty documents that were left out between them."""


@dataclass(frozen=True)
class Encoded:
    """A chunk as tokens; arrays have an entry for each of its parts, but for `tokens`."""

    tokens: NDArray[Any]
    """One part after the other; where a document ends, the separator follows."""
    sizes: NDArray[np.int64]
    """Tokens of each, the separator included."""
    bytes: NDArray[np.int64]
    """Of each in UTF-8; the end of a document counts as one."""
    digests: NDArray[np.uint64]
    """Of each as it is, which its split is decided by."""
    contents: NDArray[np.uint64]
    """Of what of each is `compared`."""
    lines: NDArray[np.uint64]
    """Of what is `compared` of the lines of those parts that have several, short ones left out."""
    line_counts: NDArray[np.int64]
    """How many of these each part has."""
    ends: NDArray[np.bool_]
    chunk: Chunk


def encoded(
    documents: Iterable[Document], vocabulary: Vocabulary, *, workers: int
) -> Iterator[Encoded]:
    """Documents as tokens, in the order in which they come.

    Args:
        documents: Long ones in parts.
        vocabulary: Whose tokens they become.
        workers: Threads; no more chunks than a few for each are held at once.
    """
    waiting: deque[Future[Encoded]] = deque()
    with without_own_threads(), ThreadPoolExecutor(workers) as pool:
        try:
            for chunk in chunks(documents):
                waiting.append(pool.submit(encode, chunk, vocabulary))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def chunks(documents: Iterable[Document]) -> Iterator[Chunk]:
    """Documents in chunks of a size that is quick and fits; empty ones are left out and counted."""
    parts: list[Document] = []
    characters = skipped = 0
    for document in without_blank(documents):
        if document is None:
            skipped += 1
            continue
        parts.append(document)
        characters += len(document.text)
        if characters >= _CHARACTERS or len(parts) >= _DOCUMENTS:
            yield Chunk(parts, skipped)
            parts, characters, skipped = [], 0, 0
    if parts or skipped:
        yield Chunk(parts, skipped)


def encode(chunk: Chunk, vocabulary: Vocabulary) -> Encoded:
    """A chunk as tokens."""
    texts = [part.text for part in chunk.parts]
    plain, counts = vocabulary.encode_joined(texts)
    in_utf8 = [text.encode() for text in texts]
    ends = np.fromiter((part.ends for part in chunk.parts), np.bool_, len(texts))
    sizes = counts + ends
    is_text = np.ones(int(sizes.sum()), np.bool_)
    is_text[np.cumsum(sizes)[ends] - 1] = False
    tokens = np.full(len(is_text), vocabulary.separator, vocabulary.dtype)
    tokens[is_text] = plain
    lines = [_lines(text) for text in in_utf8]
    return Encoded(
        tokens=tokens,
        sizes=sizes,
        bytes=np.fromiter(map(len, in_utf8), np.int64, len(texts)) + ends,
        digests=digests_of(in_utf8),
        contents=digests_of(map(compared, in_utf8)),
        lines=digests_of(line for of_part in lines for line in of_part),
        line_counts=np.fromiter(map(len, lines), np.int64, len(lines)),
        ends=ends,
        chunk=chunk,
    )


def compared(in_utf8: bytes) -> bytes:
    r"""What documents are held against each other by: no white space, and a to z for A to Z.

    Args:
        in_utf8: A document, or a part of one: parts give the parts of what the whole gives.

    Example:
        >>> compared(b"One  two \r\n"), compared("Ä b".encode()).decode()
        (b'onetwo', 'Äb')
    """
    return in_utf8.translate(_LOWER, _WHITE)


def _lines(in_utf8: bytes) -> list[bytes]:
    """What is `compared` of each line, where there are several."""
    if b"\n" not in in_utf8:
        return []
    found = (compared(line) for line in in_utf8.split(b"\n"))
    return [line for line in found if len(line) >= _LONG_ENOUGH]


class LongDigest:
    """The digest of what is `compared` of a document that comes in parts.

    Example:
        >>> from tawt.tasks.examples import digests_of
        >>> long = LongDigest()
        >>> long.add("One "); long.add("two")
        >>> bool(long.end() == digests_of([compared(b"One two")])[0])
        True
    """

    def __init__(self) -> None:
        self._hash: Any = None

    @property
    def has_begun(self) -> bool:
        """Whether there is a part that has not ended."""
        return self._hash is not None

    def add(self, text: str) -> None:
        """The next part."""
        self._hash = self._hash or hashlib.blake2b(digest_size=8)
        self._hash.update(compared(text.encode()))

    def end(self) -> np.uint64:
        """Of all parts since the last end."""
        found, self._hash = self._hash.digest(), None
        return np.uint64(np.frombuffer(found, np.uint64)[0])
