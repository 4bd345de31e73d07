"""One way into every reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import ConfigError, DataError, suggestion
from tawt.text.reading.columns import read_columns
from tawt.text.reading.conllu import read_conllu
from tawt.text.reading.documents import Documents
from tawt.text.reading.examples import KINDS
from tawt.text.reading.guessing import guess_format
from tawt.text.reading.hub import read_hub
from tawt.text.reading.jsonl import read_jsonl
from tawt.text.reading.ontonotes import read_ontonotes
from tawt.text.reading.options import ReadOptions
from tawt.text.reading.tables import read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from tawt.text.reading.examples import Example, TaggedSentence, TaskKind

_USUAL = ReadOptions()


def read(
    path: Path,
    *,
    kind: TaskKind,
    options: ReadOptions = _USUAL,
    documents: Documents | None = None,
) -> Iterator[Example]:
    r"""The examples of a file in any format, one by one; the file is never held as a whole.

    Args:
        path: A file, a folder that `datasets` saved, or `hub:NAME`.
        kind: The kind of task. Tagging gives tagged sentences, the others labelled texts.
        options: What cannot be seen from the file.
        documents: Where there are several files: names the documents of all of them.

    Raises:
        DataError: At once if the file cannot be opened or does not hold this kind of task; while
            reading, with the line, if something is wrong there; at the end if it had no examples.
        ConfigError: If there is no such kind, or an option cannot be.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "train.csv")
        ...     _ = path.write_text("sentence;label\nGood;pos\n")
        ...     list(read(path, kind="classification", options=ReadOptions(separator=";")))
        [LabelledText(text='Good', second=None, label='pos', line=2, group=None)]
    """
    if kind not in KINDS:
        raise ConfigError(
            f"There is no kind of task {kind!r}; {suggestion(kind, KINDS)}", place=("kind",)
        )
    name = options.format or guess_format(path, kind=kind, options=options)
    if name in _TAGGED:
        if kind != "tagging":
            raise DataError(
                f"{path} is in the format {name}, which holds tagged words; a task of the kind "
                f"{kind} is read from jsonl, csv, tsv or hub. If that was guessed wrong, give "
                "`format`."
            )
        return _at_least_one(path, _TAGGED[name](path, options, documents or Documents()))
    return _at_least_one(path, _RECORDS[name](path, kind, options))


def _columns(path: Path, options: ReadOptions, documents: Documents) -> Iterator[TaggedSentence]:
    return read_columns(
        path,
        separator=options.between_columns(path),
        word_column=options.word_column,
        tag_column=options.tag_column,
        encoding=options.encoding,
        documents=documents,
    )


def _conllu(path: Path, options: ReadOptions, documents: Documents) -> Iterator[TaggedSentence]:
    return read_conllu(path, tag=options.tag, encoding=options.encoding, documents=documents)


def _ontonotes(path: Path, options: ReadOptions, documents: Documents) -> Iterator[TaggedSentence]:
    return read_ontonotes(path, layer=options.layer, encoding=options.encoding, documents=documents)


def _jsonl(path: Path, kind: TaskKind, options: ReadOptions) -> Iterator[Example]:
    return read_jsonl(path, kind=kind, fields=options.fields, encoding=options.encoding)


def _csv(path: Path, kind: TaskKind, options: ReadOptions) -> Iterator[Example]:
    return _table(path, kind, options, ",")


def _tsv(path: Path, kind: TaskKind, options: ReadOptions) -> Iterator[Example]:
    return _table(path, kind, options, "\t")


def _table(path: Path, kind: TaskKind, options: ReadOptions, usual: str) -> Iterator[Example]:
    separator = options.between or usual
    if len(separator) != 1 or separator in {"\n", "\r", options.quote}:
        raise ConfigError(
            f"`separator` of a table must be one character, neither a newline nor the quote; got "
            f"{separator!r}.",
            place=("separator",),
        )
    return read_table(
        path,
        kind=kind,
        separator=separator,
        quote=options.quote,
        fields=options.fields,
        encoding=options.encoding,
    )


def _hub(path: Path, kind: TaskKind, options: ReadOptions) -> Iterator[Example]:
    return read_hub(path, kind=kind, fields=options.fields, split=options.split)


_TAGGED: Mapping[str, Callable[[Path, ReadOptions, Documents], Iterator[TaggedSentence]]] = {
    "columns": _columns,
    "conllu": _conllu,
    "ontonotes": _ontonotes,
}
_RECORDS: Mapping[str, Callable[[Path, TaskKind, ReadOptions], Iterator[Example]]] = {
    "jsonl": _jsonl,
    "csv": _csv,
    "tsv": _tsv,
    "hub": _hub,
}


def _at_least_one(path: Path, examples: Iterator[Example]) -> Iterator[Example]:
    example = None
    for example in examples:
        yield example
    if example is None:
        raise DataError(f"{path} holds no examples; expected at least one.")
