"""The beginning of a text file, and its encoding."""

from __future__ import annotations

import codecs
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.errors import DataError
from tawt.paths import unreadable
from tawt.text.reading.lines import read_lines

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = 1 << 16  # bytes in which binary data shows itself
_CHUNK = 1 << 20
_LOOKED_AT = 2000  # lines
_WIDE = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")  # what no text has in it
_OTHERS = ("cp1252", "latin-1")  # in which files are that are no UTF-8, if they are text


@dataclass(frozen=True)
class TextSample:
    r"""The first lines of a file.

    Example:
        >>> TextSample("utf-8", ("EU\tB-ORG", "", "rejects\tO")).filled
        ['EU\tB-ORG', 'rejects\tO']
    """

    encoding: str
    lines: tuple[str, ...]
    """Without what ends them."""

    @property
    def filled(self) -> list[str]:
        """Those that are not blank."""
        return [line for line in self.lines if line.strip()]


def sample_of(path: Path) -> TextSample | None:
    """The first lines of a file, if it is text.

    Args:
        path: The file.

    Raises:
        DataError: It cannot be read, or is nothing but blank lines.
    """
    encoding = _encoding_of(path)
    if encoding is None:
        return None
    lines = itertools.islice(read_lines(path, encoding=encoding), _LOOKED_AT)
    sample = TextSample(encoding, tuple(line.rstrip("\n") for _, line in lines))
    if not sample.filled:
        raise DataError(f"{path} holds blank lines alone; expected examples.")
    return sample


def _encoding_of(path: Path) -> str | None:
    """In what the file is text; nothing where it is none."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
        for mark, encoding in _WIDE.items():
            if head.startswith(mark):
                return encoding if _decodes(path, encoding) else None
        if _CONTROLS.search(head):
            return None
        return next(name for name in ("utf-8", *_OTHERS) if _decodes(path, name))
    except OSError as error:
        raise DataError(unreadable(path, error)) from error


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True
