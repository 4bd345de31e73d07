"""Tables with a header: CSV and TSV."""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import TYPE_CHECKING

from tawt.text.reading.fields import MissingFieldError, fields_of, group_of
from tawt.text.reading.lines import read_lines
from tawt.text.reading.problems import problem, shown
from tawt.text.reading.records import example_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tawt.text.reading.examples import Example, TaskKind

_WORD = re.compile(r"[^ \t\r\n]+")  # a no-break space may be part of a word


def read_table(
    path: Path,
    *,
    kind: TaskKind,
    separator: str = ",",
    quote: str = '"',
    fields: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
) -> Iterator[Example]:
    r"""The examples of a table, one by one; blank lines are left out.

    Args:
        path: The file; its first line names the columns.
        kind: Tagging reads the columns `tokens` and `tags`, each a cell of words with blanks
            between; the others `text` and `label`, and `second` where there are two texts. See
            `fields_of` for other names it knows.
        separator: The character between cells.
        quote: The character around a cell that has a separator or a newline in it; empty where
            there is no such character and `"` means itself, as in the TSV files of GLUE.
        fields: Our column name to the file's, where it differs; `group` is read only if it is here.
        encoding: The file's encoding.

    Raises:
        DataError: If a row has another number of cells than the header, a column is missing, a
            quote is never closed, and the like.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "train.csv")
        ...     _ = path.write_text('text,label\n"Good,\nvery good",pos\nBad,neg\n')
        ...     for example in read_table(path, kind="classification"):
        ...         print(example)
        LabelledText(text='Good,\nvery good', second=None, label='pos', line=2, group=None)
        LabelledText(text='Bad', second=None, label='neg', line=4, group=None)
    """
    rows = _rows(path, separator=separator, quote=quote, encoding=encoding)
    header: list[str] = []
    for line, row in rows:
        header = [name.strip() for name in row]
        _check_header(header, kind=kind, fields=fields or {}, path=path, line=line)
        break
    for line, row in rows:
        if len(row) != len(header):
            raise problem(
                path,
                line,
                f"expected {len(header)} cells, as in the header; got {len(row)}. Quote cells that "
                f"have {separator!r} in them; where quotes have no meaning, give `quote: ''`.",
            )
        record: dict[str, object] = dict(zip(header, row, strict=True))
        if kind == "tagging":
            names = fields_of(header, kind=kind, fields=fields or {})
            record |= {name: _WORD.findall(str(record[name])) for name in names.values()}
        yield example_of(record, kind=kind, fields=fields or {}, path=path, line=line)


def _rows(
    path: Path, *, separator: str, quote: str, encoding: str
) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not blank, with the number of its first line."""
    lines = (line for _, line in read_lines(path, encoding=encoding, newline=""))
    reader = csv.reader(
        lines,
        delimiter=separator,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        strict=True,
    )
    while True:
        start = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise problem(
                path,
                start,
                f"the row that begins here cannot be read: {error}. Check its quotes; where quotes "
                "have no meaning, give `quote: ''`.",
            ) from error
        if row is None:
            return
        if any(cell.strip() for cell in row):
            yield start, row


def _check_header(
    header: list[str], *, kind: TaskKind, fields: Mapping[str, str], path: Path, line: int
) -> None:
    twice = sorted(name for name, count in Counter(header).items() if name and count > 1)
    if twice:
        raise problem(path, line, f"the header names {shown(twice[0])} twice; rename one column.")
    try:
        fields_of(header, kind=kind, fields=fields)
        group_of(header, fields=fields)
    except MissingFieldError as error:
        hint = " Or give the table's `separator`." if len(header) == 1 else ""
        raise problem(path, line, f"in the header {error}{hint}") from error
