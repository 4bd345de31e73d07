"""Plain text: documents without labels."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tawt.text.reading.lines import read_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tawt.text.recognising.samples import TextSample

_PARAGRAPH = 2  # lines; shorter ones between blank lines are documents by themselves


def is_in_paragraphs(sample: TextSample) -> bool:
    """Whether blank lines are between documents of several lines.

    Example:
        >>> from tawt.text.recognising.samples import TextSample
        >>> is_in_paragraphs(TextSample("utf-8", ("One", "two.", "", "Three", "four.", "five.")))
        True
    """
    sizes = [
        len(list(group)) for blank, group in itertools.groupby(sample.lines, _is_blank) if not blank
    ]
    return len(sizes) > 1 and sum(sizes) >= _PARAGRAPH * len(sizes)


def documents(paths: Iterable[Path], *, encoding: str, in_paragraphs: bool) -> Iterator[str]:
    """The documents of files: their paragraphs, or their lines, that are not blank.

    Args:
        paths: The files.
        encoding: Of the files.
        in_paragraphs: Whether a document ends with a blank line.
    """
    for path in paths:
        lines = (line.strip() for _, line in read_lines(path, encoding=encoding))
        if not in_paragraphs:
            yield from filter(None, lines)
            continue
        for blank, group in itertools.groupby(lines, lambda line: not line):
            if not blank:
                yield " ".join(group)


def shortened(text: str, most: int = 100) -> str:
    """The beginning of a text, on one line.

    Example:
        >>> shortened("a long text", 7)
        'a long…'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _is_blank(line: str) -> bool:
    return not line.strip()
