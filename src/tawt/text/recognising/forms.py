"""The form in which a file is written, from its name and its first lines."""

from __future__ import annotations

import contextlib
import csv
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from tawt.errors import DataError
from tawt.text.reading import ReadOptions, guess_format
from tawt.text.reading.columns import BLANK, DOCUMENT, RUN
from tawt.text.reading.guessing import is_object

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.text.recognising.samples import TextSample

Form: TypeAlias = Literal["columns", "conllu", "ontonotes", "jsonl", "table", "plain"]
"""`table`: CSV, TSV and what is like them; `plain`: lines of text without labels."""

SEPARATORS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "|"}
"""Of tables, with their names."""
_NAMED = {".tsv": "\t", ".csv": ",;\t|"}
"""Separators that the name of a file speaks of."""
_ALIKE = 0.95  # of the lines; a few may be damaged
_FEWEST = 2  # columns, and lines of a table


def form_of(path: Path, sample: TextSample) -> Form:
    """How a file is written.

    Args:
        path: For its name.
        sample: Its first lines.

    Raises:
        DataError: It is JSON, but not an object a line; or a table by its name alone.
    """
    if sample.filled[0].lstrip()[0] in "[{" and path.suffix.lower() == ".json":
        _check_json_lines(path, sample)
    guess = guess_format(path, options=ReadOptions(encoding=sample.encoding))
    if guess in ("conllu", "ontonotes", "jsonl"):
        return guess  # type: ignore[return-value]  # narrowed by the line above
    if has_words_in_columns(path, sample):
        return "columns"
    if separator_of(path, sample) is not None:
        return "table"
    if path.suffix.lower() in _NAMED:
        raise DataError(
            f"{path} has neither words in columns with blank lines between sentences, nor a first "
            "line that names columns; if it is plain text, call it .txt."
        )
    return "plain"


def has_words_in_columns(path: Path, sample: TextSample) -> bool:
    """Whether every line is a word with its tags, and blank lines are between sentences."""
    cut_at = "\t" if path.suffix.lower() == ".tsv" else None
    widths: Counter[int] = Counter()
    for line in sample.filled:
        if not line.startswith(("#", DOCUMENT)):
            widths[len(_cells(line, cut_at))] += 1
    if not widths or path.suffix.lower() == ".csv":
        return False
    width, count = widths.most_common(1)[0]
    is_divided = "" in [line.strip() for line in sample.lines[:-1]]
    return is_divided and width >= _FEWEST and count >= _ALIKE * widths.total()


def separator_of(path: Path, sample: TextSample) -> str | None:
    """What stands between the cells of a table; nothing where the file is none.

    Args:
        path: For its name.
        sample: Its first lines.
    """
    named = _NAMED.get(path.suffix.lower())
    for separator in named or "\t":
        if _is_table(sample.filled, separator, in_name=named is not None):
            return separator
    return None


def rows_of(sample: TextSample, separator: str, *, quote: str) -> list[list[str]]:
    """The cells of the first rows; those that are cut off, or broken, are left out."""
    rows: list[list[str]] = []
    reader = csv.reader(
        (f"{line}\n" for line in sample.lines),
        delimiter=separator,
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
    )
    with contextlib.suppress(csv.Error):  # what the reader of tables says with its line
        rows.extend(row for row in reader if any(cell.strip() for cell in row))
    return rows


def _is_table(lines: Sequence[str], separator: str, *, in_name: bool) -> bool:
    header = lines[0].count(separator)
    if len(lines) < _FEWEST or not header:
        return False
    if in_name:  # cells may have the separator, and line ends, in quotes
        return True
    return sum(line.count(separator) == header for line in lines) >= _ALIKE * len(lines)


def _cells(line: str, separator: str | None) -> list[str]:
    return line.split(separator) if separator else RUN.split(line.strip(BLANK))


def _check_json_lines(path: Path, sample: TextSample) -> None:
    if not is_object(sample.filled[0]):
        raise DataError(
            f"{path} is one JSON value over several lines, or a list; expected JSON lines, an "
            f"object a line. jq -c '.[]' {path.name} > {path.stem}.jsonl writes a list as those."
        )
