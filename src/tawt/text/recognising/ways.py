"""How files are to be read: the fields of a task's section, and what is said of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tawt.errors import DataError
from tawt.modality.recognising import Commented
from tawt.text.reading import LAYERS, guess_format
from tawt.text.reading.columns import sample_columns
from tawt.text.reading.iob import is_iob
from tawt.text.reading.jsonl import record_of
from tawt.text.reading.options import ReadOptions
from tawt.text.recognising.forms import SEPARATORS, rows_of, separator_of
from tawt.text.recognising.roles import Roles, is_number, roles_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tawt.text.reading import TaskKind
    from tawt.text.reading.looking import ColumnSample
    from tawt.text.recognising.forms import Form
    from tawt.text.recognising.samples import TextSample

_CONLLU_COLUMNS = (("upos", 3), ("xpos", 4))
_LONGEST_NAME = 40  # signs; what is longer is a text, and no name of a column
_RECORDS = 1000


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way to read a file."""

    kind: TaskKind | None
    """Of the task; nothing where there are no labels."""
    taken_for: str
    options: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the task's section, as far as they are needed; some are `Commented`."""

    @property
    def values(self) -> dict[str, Any]:
        """The options, without what is said beside them."""
        return {
            name: value.value if isinstance(value, Commented) else value
            for name, value in self.options.items()
        }


def ways_of(path: Path, form: Form, sample: TextSample) -> list[Way]:
    """How a file may be read, the most probable first; the next where that fails.

    Args:
        path: The file.
        form: How it is written; not `plain`.
        sample: Its first lines.

    Raises:
        DataError: It is not seen where its examples are.
    """
    return _WAYS[form](path, sample)


def _columns(path: Path, sample: TextSample) -> list[Way]:
    between = ReadOptions().between_columns(path)
    columns = sample_columns(path, separator=between, encoding=sample.encoding)
    word, tag = _word_and_tag(columns)
    options: dict[str, Any] = {}
    if guess_format(path, kind="tagging", options=ReadOptions(encoding=sample.encoding)) != (
        "columns"
    ):
        options["format"] = "columns"
    if word:
        options["word_column"] = Commented(word, f"counted from 0: {columns.described(word)}, …")
    if word or tag != columns.width - 1:
        options["tag_column"] = Commented(tag, f"counted from 0: {columns.described(tag)}, …")
    where = f"columns: the word is column {word + 1}, the tag column {tag + 1} of {columns.width}"
    return [Way(kind="tagging", taken_for=where, options=options)]


def _word_and_tag(columns: ColumnSample) -> tuple[int, int]:
    """Usually the first column and the last, unless they look like something else."""
    last = columns.width - 1
    word, tag = columns.suggested()
    if columns.counts(0) and word is not None and tag is not None:
        return word, tag
    values = {cell for rows in columns.sentences for row in rows for cell in row[last:]}
    odd = len(values) == 1 or columns.counts(last)
    return (0, tag) if odd and tag and word == 0 else (0, last)


def _conllu(path: Path, sample: TextSample) -> list[Way]:
    cells = [line.split("\t") for line in sample.filled if line[0].isdigit()]
    rows = [row for row in cells if len(row) == 10 and row[0].isdecimal()]
    columns = {name: [row[index] for row in rows] for name, index in _CONLLU_COLUMNS}
    keys = dict.fromkeys(
        part.partition("=")[0] for row in rows for part in row[9].split("|") if "=" in part
    )
    filled = [name for name, tags in columns.items() if not {"", "_"} & set(tags)]
    varied = [name for name in filled if len(set(columns[name])) > 1]
    known = [f"misc:{key}" for key in keys if _has_spans(key, rows)]
    others = [*varied, *known] or filled or ["upos"]
    rest = f"; {' and '.join(others[1:4])} could be read too" if others[1:] else ""
    tag = Commented(others[0], f"which column is the tag{rest}")
    taken_for = f"CoNLL-U: tags from {others[0]}"
    return [Way(kind="tagging", taken_for=taken_for, options={"tag": tag})]


def _has_spans(key: str, rows: Sequence[Sequence[str]]) -> bool:
    parts = (part.partition("=") for row in rows for part in row[9].split("|"))
    return is_iob({value for name, _, value in parts if name == key})


def _ontonotes(path: Path, sample: TextSample) -> list[Way]:
    del path, sample
    rest = " or ".join(layer for layer in LAYERS if layer != "pos")
    layer = Commented("pos", f"which layer is the tag; or {rest}")
    return [Way(kind="tagging", taken_for="OntoNotes: tags from pos", options={"layer": layer})]


def _jsonl(path: Path, sample: TextSample) -> list[Way]:
    lines = [(n, line) for n, line in enumerate(sample.lines, 1) if line.strip()]
    records = [record_of(line, path=path, line=n) for n, line in lines[:_RECORDS]]
    if not records[0]:
        raise DataError(f"{path}: the first object has no fields; expected a text and a label.")
    form = guess_format(path, options=ReadOptions(encoding=sample.encoding))
    options = {} if form == "jsonl" else {"format": "jsonl"}
    return [_of_records(path, records, "JSON lines", options)]


def _table(path: Path, sample: TextSample) -> list[Way]:
    """Quotes around cells are tried first."""
    separator = separator_of(path, sample)
    assert separator is not None  # or it were no table
    form = "tsv" if separator == "\t" else "csv"
    options: dict[str, Any] = {}
    if separator not in "\t,":
        options["separator"] = Commented(separator, "between cells")
    if path.suffix.lower() != f".{form}":
        options["format"] = form
    said = f"a table, {SEPARATORS[separator]}-separated"
    plain = {"quote": Commented("", 'a " in a cell means itself')}
    ways: list[Way] = []
    first: DataError | None = None
    for quote, more in (('"', {}), ("", plain)):
        try:
            records = _with_header(path, rows_of(sample, separator, quote=quote))
            ways.append(_of_records(path, records, said, {**options, **more}))
        except DataError as error:
            first = first or error
    if first is not None and not ways:
        raise first
    return ways


def _with_header(path: Path, rows: Sequence[Sequence[str]]) -> list[dict[str, object]]:
    header = [name.strip() for name in rows[0]] if rows else []
    whole = [row for row in rows[1 : _RECORDS + 1] if len(row) == len(header)]
    if not whole:
        raise DataError(f"{path} is a table without rows like its first line; expected examples.")
    columns = list(zip(*whole, strict=True))
    is_data = any(
        len(name) > _LONGEST_NAME or is_number(name) or (name in values and len(set(values)) > 1)
        for name, values in zip(header, columns, strict=True)
    )
    if is_data:
        raise DataError(
            f"{path}:1: the first line is an example, not the names of the columns; put a line "
            "with their names above it, such as text and label."
        )
    return [dict(zip(header, row, strict=True)) for row in whole]


def _of_records(
    path: Path,
    records: Sequence[Mapping[str, object]],
    written: str,
    options: Mapping[str, Any],
) -> Way:
    roles = roles_of(records)
    if roles is None:
        listed = ", ".join(map(repr, itertools.islice(records[0], 12)))
        raise DataError(f"{path}: none of its fields is a text; there are {listed}.")
    return Way(
        kind=roles.kind,
        taken_for=f"{written}: {in_words(roles)}",
        options={**options, **fields_in(roles)},
    )


def fields_in(roles: Roles) -> dict[str, Any]:
    """The field `fields`, where the file has other names than we do."""
    theirs = {ours: name for ours, name in roles.fields.items() if ours != name}
    if not theirs:
        return {}
    others = ", ".join(roles.others[:6])
    return {"fields": Commented(theirs, f"not read: {others}" if others else "")}


def in_words(roles: Roles) -> str:
    """Where text and label are."""
    parts = " and ".join(f"{ours} from {name!r}" for ours, name in roles.fields.items())
    others = ", ".join(map(repr, roles.others[:6]))
    return f"{parts} ({others} not read)" if others else parts


_WAYS: Mapping[str, Callable[[Path, TextSample], list[Way]]] = {
    "columns": _columns,
    "conllu": _conllu,
    "ontonotes": _ontonotes,
    "jsonl": _jsonl,
    "table": _table,
}
