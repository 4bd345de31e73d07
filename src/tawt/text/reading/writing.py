"""Examples as text, in the formats that the readers read."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from tawt.errors import DataError
from tawt.text.reading.examples import TaggedSentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tawt.text.reading.examples import Example

_BLANK = re.compile(r"[ \t\r\n]")


def columns_text(sentences: Iterable[TaggedSentence]) -> Iterator[str]:
    r"""A column file, sentence by sentence: word, tab, tag; a blank line after each.

    Raises:
        DataError: If a word has a blank in it, which a column file cannot hold.

    Example:
        >>> list(columns_text([TaggedSentence(("EU", "!"), ("B-ORG", "O"), line=1)]))
        ['EU\tB-ORG\n!\tO\n\n']
    """
    for sentence in sentences:
        _check_no_blanks(sentence)
        pairs = zip(sentence.words, sentence.tags, strict=True)
        yield "".join(f"{word}\t{tag}\n" for word, tag in pairs) + "\n"


def jsonl_text(examples: Iterable[Example]) -> Iterator[str]:
    r"""A JSON lines file, line by line; groups too, to be read with `fields: {group: group}`.

    Example:
        >>> list(jsonl_text([TaggedSentence(("EU",), ("B-ORG",), line=1)]))
        ['{"tokens": ["EU"], "tags": ["B-ORG"]}\n']
    """
    for example in examples:
        group = {} if example.group is None else {"group": example.group}
        yield json.dumps(_record(example) | group, ensure_ascii=False, allow_nan=False) + "\n"


def csv_text(examples: Iterable[Example], *, separator: str = ",") -> Iterator[str]:
    r"""A table with a header, row by row; all examples are of one kind.

    Raises:
        DataError: If a word has a blank in it, or only some examples have a second text.

    Example:
        >>> from tawt.text.reading.examples import LabelledText
        >>> list(csv_text([LabelledText("Good, very", None, "pos", line=1)]))
        ['text,label\r\n', '"Good, very",pos\r\n']
    """
    header: list[str] = []
    for example in examples:
        if isinstance(example, TaggedSentence):
            _check_no_blanks(example)
        record = {
            name: " ".join(value) if isinstance(value, list) else value
            for name, value in _record(example).items()
        }
        if not header:
            header = list(record)
            yield _row(header, separator)
        if list(record) != header:
            raise DataError(f"Expected every example to have {header}; one has {list(record)}.")
        yield _row(list(record.values()), separator)


def write_columns(target: Path | TextIO, sentences: Iterable[TaggedSentence]) -> None:
    """Write a column file, as UTF-8 where a path is given; an error leaves it half written.

    Example:
        >>> handle = io.StringIO()
        >>> write_columns(handle, [TaggedSentence(("EU",), ("B-ORG",), line=1)])
        >>> handle.getvalue().split()
        ['EU', 'B-ORG']
    """
    _write(target, columns_text(sentences))


def write_jsonl(target: Path | TextIO, examples: Iterable[Example]) -> None:
    """Write a JSON lines file, as `write_columns` does.

    Example:
        >>> handle = io.StringIO()
        >>> write_jsonl(handle, [TaggedSentence(("EU",), ("B-ORG",), line=1)])
        >>> json.loads(handle.getvalue())["tags"]
        ['B-ORG']
    """
    _write(target, jsonl_text(examples))


def write_csv(target: Path | TextIO, examples: Iterable[Example], *, separator: str = ",") -> None:
    r"""Write a table, as `write_columns` does.

    Example:
        >>> handle = io.StringIO()
        >>> write_csv(handle, [TaggedSentence(("EU",), ("B-ORG",), line=1)], separator="\t")
        >>> handle.getvalue()
        'tokens\ttags\r\nEU\tB-ORG\r\n'
    """
    _write(target, csv_text(examples, separator=separator))


def _write(target: Path | TextIO, parts: Iterable[str]) -> None:
    if isinstance(target, Path):
        with target.open("w", encoding="utf-8", newline="") as file:
            file.writelines(parts)
    else:
        target.writelines(parts)


def _record(example: Example) -> dict[str, object]:
    if isinstance(example, TaggedSentence):
        return {"tokens": list(example.words), "tags": list(example.tags)}
    second = {} if example.second is None else {"second": example.second}
    return {"text": example.text, **second, "label": example.label}


def _row(cells: list[object] | list[str], separator: str) -> str:
    text = io.StringIO()
    # "\r\n", so that the writer quotes cells with either of them.
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerow(cells)
    return text.getvalue()


def _check_no_blanks(sentence: TaggedSentence) -> None:
    for word in (*sentence.words, *sentence.tags):
        if _BLANK.search(word):
            raise DataError(
                f"{word!r} has a blank in it, which this format cannot hold; write JSON lines."
            )
