"""JSON lines: an object to a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tawt.corpora.reading.opening import decoded, lines
from tawt.text.reading.problems import problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tawt.corpora.reading.documents import Document
    from tawt.corpora.reading.fields import Fields


def read_jsonl(path: Path, *, fields: Fields, encoding: str = "utf-8") -> Iterator[Document]:
    """The documents of a file of JSON lines; lines that are empty are passed over.

    Args:
        path: The file; unpacked if it is compressed (.gz).
        fields: Which fields are read.
        encoding: Of the file.

    Raises:
        DataError: If the file cannot be read or decoded, or a line is no such object.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tawt.corpora.reading.fields import Fields
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a.jsonl")
        ...     _ = path.write_text('{"text": "one", "from": "web"}')
        ...     list(read_jsonl(path, fields=Fields(text="text", group="from")))
        [Document(text='one', group='web', ends=True)]
    """
    chunks = decoded(path, encoding=encoding, invalid=fields.invalid)
    for number, line in enumerate(lines(chunks), start=1):
        if not line or line.isspace():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
            raise problem(
                path, number, f"expected a JSON object on every line; {reason}."
            ) from error
        # Only an escape can make half of a surrogate pair.
        may_have_halves = "\\ud" in line or "\\uD" in line
        for document in fields.documents(record, path=path, line=number):
            if may_have_halves:
                text = fields.well_formed(document.text, field=fields.text, path=path, line=number)
                yield document._replace(text=text)
            else:
                yield document
