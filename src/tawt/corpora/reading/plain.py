"""Plain text: a document to a line, to a paragraph or to a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.corpora.reading.documents import LONGEST, Document, Growing
from tawt.corpora.reading.opening import decoded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tawt.corpora.reading.opening import Invalid
    from tawt.corpora.sections import DocumentUnit


def read_plain(
    path: Path,
    *,
    documents: DocumentUnit = "line",
    encoding: str = "utf-8",
    invalid: Invalid = "refuse",
) -> Iterator[Document]:
    r"""The documents of a text file, those that are empty included.

    Args:
        path: The file; unpacked if it is compressed (.gz).
        documents: What a document is.
        encoding: Of the file.
        invalid: What becomes of bytes that are not in this encoding.

    Raises:
        DataError: If the file cannot be read, or decoded.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a.txt")
        ...     _ = path.write_bytes(b"one\r\ntwo\n\nthree")
        ...     by_line = [document.text for document in read_plain(path)]
        ...     by_blank = [document.text for document in read_plain(path, documents="blank line")]
        >>> by_line, by_blank
        (['one', 'two', '', 'three'], ['one\ntwo', 'three'])
    """
    chunks = decoded(path, encoding=encoding, invalid=invalid)
    if documents == "line":
        return _by_line(chunks)
    return _by_file(chunks) if documents == "file" else _by_blank_line(_by_line(chunks))


def _by_line(chunks: Iterator[str]) -> Iterator[Document]:
    open_line = Growing()
    for chunk in chunks:
        head, *lines = chunk.split("\n")
        yield from open_line.add(head)
        if not lines:
            continue
        yield from open_line.end()
        rest = lines.pop()
        for line in lines:
            if len(line) <= LONGEST:
                yield Document(line)
            else:
                yield from open_line.add(line)
                yield from open_line.end()
        yield from open_line.add(rest)
    if open_line.has_begun:
        yield from open_line.end()


def _by_blank_line(lines: Iterator[Document]) -> Iterator[Document]:
    document = Growing()
    is_new = True  # whether the next text begins a line
    for text, _, ends in lines:
        if is_new and ends and not text.strip():
            if document.has_begun:
                yield from document.end()
        else:
            yield from document.add(f"\n{text}" if is_new and document.has_begun else text)
        is_new = ends
    if document.has_begun:
        yield from document.end()


def _by_file(chunks: Iterator[str]) -> Iterator[Document]:
    # The newline at the end of a file is where its document ends, which counts as a byte anyway.
    document = Growing(ending="\n")
    for chunk in chunks:
        yield from document.add(chunk)
    yield from document.end()
