"""Files of text, plain or compressed, decoded a chunk at a time."""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import zlib
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from tawt.errors import DataError
from tawt.paths import check_file, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Invalid = Literal["refuse", "replace"]
CHUNK = 2**20  # bytes


@contextlib.contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file to read bytes from, unpacked if it is compressed (.gz).

    Raises:
        DataError: If it is no regular file, or cannot be read to its end.
    """
    check_file(path)
    try:
        with path.open("rb") as file:
            if path.suffix == ".gz":
                with gzip.open(file) as unpacked:
                    yield cast("BinaryIO", unpacked)
            else:
                yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path} is damaged: {error}; compress it again.") from error
    except OSError as error:
        raise DataError(unreadable(path, error)) from error


def decoded(path: Path, *, encoding: str, invalid: Invalid) -> Iterator[str]:
    r"""The text of a file in chunks; every line ends with "\n", and there is no byte order mark.

    Args:
        path: The file.
        encoding: Its encoding.
        invalid: What becomes of bytes that are not in this encoding.

    Raises:
        DataError: If it cannot be read, or has such bytes and they are refused.
    """
    errors = "strict" if invalid == "refuse" else "replace"
    inner = codecs.getincrementaldecoder(encoding)(errors)
    decoder = io.IncrementalNewlineDecoder(inner, translate=True)
    offset, line = 0, 1
    with opened(path) as file:
        while True:
            chunk = file.read(CHUNK)
            held = len(inner.getstate()[0])
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeError as error:
                raise _undecodable(path, encoding, error, offset - held, line) from error
            text = text.removeprefix("\ufeff") if offset == 0 else text
            offset += len(chunk)
            line += text.count("\n")
            if text:
                yield text
            if not chunk:
                return


def lines(chunks: Iterator[str]) -> Iterator[str]:
    r"""Whole lines, however long, without their ends.

    Example:
        >>> list(lines(iter(["one\ntw", "o\n", "three"])))
        ['one', 'two', 'three']
    """
    rest: list[str] = []
    for chunk in chunks:
        head, *others = chunk.split("\n")
        rest.append(head)
        if others:
            yield "".join(rest)
            yield from others[:-1]
            rest = others[-1:]
    if any(rest):
        yield "".join(rest)


def _undecodable(
    path: Path, encoding: str, error: UnicodeError, offset: int, line: int
) -> DataError:
    if isinstance(error, UnicodeDecodeError):
        line += error.object.count(b"\n", 0, error.start)
        offset += error.start
    place = f"{path}:{line}: byte {offset + 1} of the text"
    instead = "utf-8" if encoding == "latin-1" else "latin-1"
    return DataError(
        f"{place} is not {encoding}; set `invalid: replace` to have such bytes replaced, or say "
        f"which encoding it is, for example `encoding: {instead}`."
    )
