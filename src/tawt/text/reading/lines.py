"""The lines of a text file, decoded, with their numbers."""

from __future__ import annotations

import codecs
import io
from typing import TYPE_CHECKING

from tawt.errors import ConfigError, DataError
from tawt.paths import check_file, unreadable
from tawt.text.reading.problems import problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HEAD = 8192  # bytes in which a binary file shows itself
_CHUNK = 1 << 16
_WIDE = ("utf-16", "utf-32")  # encodings in which plain text has NUL bytes


def read_lines(
    path: Path, *, encoding: str = "utf-8", newline: str | None = None
) -> Iterator[tuple[int, str]]:
    r"""Each line with its number, from 1; a byte order mark is left out.

    Args:
        path: The file.
        encoding: Its encoding.
        newline: As for `open`: by default every line ends with "\n", whatever ends it in the
            file; with an empty string line ends are as they are.

    Raises:
        DataError: If there is no such file, it is a folder, empty, binary, not in this encoding,
            or has a NUL in it.
        ConfigError: If there is no such encoding.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a.txt")
        ...     _ = path.write_bytes(b"\xef\xbb\xbfone\r\ntwo")
        ...     list(read_lines(path))
        [(1, 'one\n'), (2, 'two')]
    """
    _check(path, codec_named(encoding))
    try:
        with path.open(encoding=encoding, newline=newline) as file:
            for number, line in enumerate(file, start=1):
                if "\0" in line:
                    raise problem(
                        path,
                        number,
                        "there is a NUL character here; the file is damaged or binary.",
                    )
                yield number, line.removeprefix("\ufeff") if number == 1 else line
    except UnicodeError as error:
        raise _undecodable(path, encoding) from error
    except OSError as error:
        raise DataError(unreadable(path, error)) from error


def codec_named(encoding: str) -> str:
    """The own name of a codec.

    Raises:
        ConfigError: If there is no such text encoding.

    Example:
        >>> codec_named("UTF8")
        'utf-8'
    """
    try:
        "".encode(encoding)  # refuses codecs that are not of text, such as base64
        return codecs.lookup(encoding).name
    except (LookupError, ValueError) as error:
        raise ConfigError(
            f"`encoding` must be a text encoding that Python knows, such as utf-8 or latin-1; got "
            f"{encoding!r}.",
            place=("encoding",),
        ) from error


def _check(path: Path, codec: str) -> None:
    try:
        if path.is_dir():
            raise DataError(
                f"{path} is a folder; expected a file. Give the file, or the folder as `folder` "
                "where its files are named train, dev and test."
            )
        check_file(path)
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError as error:
        raise DataError(unreadable(path, error)) from error
    _check_head(path, head, codec)


def _check_head(path: Path, head: bytes, codec: str) -> None:
    if not head:
        raise DataError(f"{path} is empty; expected labelled examples.")
    if codec.startswith(_WIDE):
        return
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{path} begins as UTF-16 does, not {codec}; give `encoding: utf-16`.")
    if b"\0" in head:
        raise DataError(
            f"{path} is binary (it has NUL bytes); expected text. If it is an archive, unpack it."
        )


def _undecodable(path: Path, encoding: str) -> DataError:
    line, offset = _first_undecodable(path, encoding)
    instead = "utf-8" if encoding == "latin-1" else "latin-1"
    return problem(
        path,
        line,
        f"byte {offset} of the file is not {encoding}; say which encoding it is, for example "
        f"`encoding: {instead}`.",
    )


def _first_undecodable(path: Path, encoding: str) -> tuple[int, int]:
    """Line and byte of the first problem, from 1; in a second pass, as `open` decodes in blocks."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(), translate=True)
    line, offset = 1, 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            state = decoder.getstate()
            try:
                line += decoder.decode(chunk).count("\n")
                offset += len(chunk)
            except UnicodeError:
                decoder.setstate(state)
                return _within(decoder, chunk, line, offset)
    # The file ends in the middle of a character.
    return line, _next_character(decoder, offset)


def _within(
    decoder: io.IncrementalNewlineDecoder, chunk: bytes, line: int, offset: int
) -> tuple[int, int]:
    for index in range(len(chunk)):
        first = _next_character(decoder, offset + index)
        try:
            line += decoder.decode(chunk[index : index + 1]).count("\n")
        except UnicodeError:
            return line, first
    return line, _next_character(decoder, offset + len(chunk))


def _next_character(decoder: io.IncrementalNewlineDecoder, offset: int) -> int:
    """The byte, from 1, with which the character begins that is to be decoded next."""
    begun, _ = decoder.getstate()
    return offset - len(begun) + 1
