"""Text without labels, read line by line from a file or from standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from tawt.errors import ConfigError
from tawt.text.predicting.guessing import guessed_form
from tawt.text.predicting.splitting import split_words
from tawt.text.predicting.unlabelled import Sentence, Text
from tawt.text.reading.checks import checked_text, checked_word
from tawt.text.reading.columns import BLANK, DOCUMENT, METADATA, RUN
from tawt.text.reading.fields import MissingFieldError, fields_of
from tawt.text.reading.jsonl import record_of
from tawt.text.reading.problems import problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from tawt.text.predicting.guessing import InputFormat
    from tawt.text.predicting.unlabelled import Unlabelled
    from tawt.text.reading import TaskKind

_LONG_ENOUGH = 3  # words; fewer may happen to be 1 and 2
Lines: TypeAlias = "Iterable[tuple[int, str]]"


def lines_of(handle: BinaryIO, *, path: Path) -> Iterator[tuple[int, str]]:
    r"""Each line with its number, from 1, without its end; a byte order mark is left out.

    Args:
        handle: Open for reading; UTF-8.
        path: Its name, for errors.

    Raises:
        DataError: At the line that is not UTF-8.

    Example:
        >>> import io
        >>> from pathlib import Path
        >>> list(lines_of(io.BytesIO(b"one\r\n\ntwo"), path=Path("a.txt")))
        [(1, 'one'), (2, ''), (3, 'two')]
    """
    for number, line in enumerate(handle, start=1):
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise problem(
                path, number, "this line is not UTF-8; convert the file, for example with iconv."
            ) from error
        yield number, text.removeprefix("\ufeff" if number == 1 else "").rstrip("\r\n")


def read_unlabelled(
    lines: Lines,
    *,
    path: Path,
    kind: TaskKind,
    form: InputFormat | None = None,
    fields: Mapping[str, str] | None = None,
) -> Iterator[Unlabelled]:
    r"""The examples in the lines, one by one; of the lines no more are held than that takes.

    Args:
        lines: With their numbers.
        path: The file's name: for errors, and for its suffix where the form is to be guessed.
        kind: The kind of task. Tagging gives sentences, the others texts.
        form: `text`, a raw sentence (or text; or two with a tab between them) a line; `tokens`,
            words with blanks between them; `columns`, a word a line in the first column, blank
            lines between sentences; `conllu`; `jsonl`. Guessed by default: see `guess_form`.
        fields: For `jsonl`, our field name to the file's, where it differs.

    Raises:
        DataError: With the line, if something is wrong there.
        ConfigError: If that form cannot hold this kind of task.

    Example:
        >>> from pathlib import Path
        >>> lines = [(1, "It's true."), (2, ""), (3, "No!")]
        >>> for sentence in read_unlabelled(lines, path=Path("a.txt"), kind="tagging"):
        ...     print(sentence)
        Sentence(words=("It's", 'true', '.'), line=1)
        Sentence(words=(), line=2)
        Sentence(words=('No', '!'), line=3)
    """
    if form is None:
        form, lines = guessed_form(lines, path=path, kind=kind)
    if form in ("columns", "conllu") and kind != "tagging":
        raise ConfigError(
            f"The format {form} holds words that want tags, and this is a task of the kind {kind}; "
            "give text, a line each, or jsonl."
        )
    if form == "columns":
        return _not_counting(_columns(lines, path), path)
    if form == "conllu":
        return _conllu(lines, path)
    if form == "jsonl":
        return _jsonl(lines, path, kind, fields or {})
    if kind == "tagging":
        return (_sentence(line, number, path, form) for number, line in lines)
    return _alike((_text(line, number, path, kind) for number, line in lines), path, kind)


def _sentence(line: str, number: int, path: Path, form: InputFormat) -> Sentence:
    text = checked_text(line, path=path, line=number, what="sentence")
    if form == "text":
        return Sentence(split_words(text), number)
    text = text.strip(BLANK)
    words = RUN.split(text) if text else []
    return Sentence(tuple(checked_word(word, path=path, line=number) for word in words), number)


def _text(line: str, number: int, path: Path, kind: TaskKind) -> Text:
    text, second = checked_text(line, path=path, line=number), None
    if kind in ("pair", "regression") and text.strip():
        cells = text.split("\t")
        if len(cells) > 2 or (len(cells) < 2 and kind == "pair"):
            raise problem(
                path,
                number,
                f"expected two texts with one tab between them; got {len(cells) - 1} tabs: "
                f"{shown(text)}. Texts that have tabs in them can be given as jsonl.",
            )
        text, second = cells[0], cells[1] if len(cells) == 2 else None
    return Text(text, second, number)


def _alike(texts: Iterator[Text], path: Path, kind: TaskKind) -> Iterator[Text]:
    """A regression is of one text or of two; the first example says which."""
    first: Text | None = None
    for text in texts:
        if kind == "regression" and text.filled:
            first = first or text
            if (text.second is None) != (first.second is None):
                raise problem(
                    path,
                    text.line,
                    f"expected {'one text' if first.second is None else 'two texts'}, as at line "
                    f"{first.line}; got {'one' if text.second is None else 'two'}.",
                )
        yield text


def _columns(lines: Lines, path: Path) -> Iterator[Sentence]:
    words: list[str] = []
    start = 0
    for number, line in lines:
        if not line.strip(BLANK) or line.startswith(DOCUMENT):
            if words:
                yield Sentence(tuple(words), start)
                words = []
        elif words or not METADATA.match(line):
            start = start if words else number
            cell = line.split("\t")[0] if "\t" in line else RUN.split(line.strip(BLANK))[0]
            words.append(checked_word(cell.strip(BLANK), path=path, line=number))
    if words:
        yield Sentence(tuple(words), start)


def _not_counting(sentences: Iterator[Sentence], path: Path) -> Iterator[Sentence]:
    """Refuse numbers of words in the place of words; the first sentence of some length shows it."""
    looked = False
    for sentence in sentences:
        count = len(sentence.words)
        if not looked and count >= _LONG_ENOUGH:
            looked = True
            if sentence.words == tuple(map(str, range(1, count + 1))):
                raise problem(
                    path,
                    sentence.line,
                    "the first column holds running numbers (1, 2, 3, …), and words were expected "
                    "there; if they are in the second, give --format conllu.",
                )
        yield sentence


def _conllu(lines: Lines, path: Path) -> Iterator[Sentence]:
    words: list[str] = []
    start = 0
    for number, line in lines:
        if not line.strip(BLANK):
            if words:
                yield Sentence(tuple(words), start)
                words = []
        elif not line.startswith("#"):
            cells = line.split("\t")
            if len(cells) < 2:
                raise problem(
                    path, number, f"expected CoNLL-U's columns with tabs; got {shown(line)}."
                )
            if cells[0].isdigit():  # else a multiword token or an empty node
                start = start if words else number
                words.append(checked_word(cells[1], path=path, line=number))
    if words:
        yield Sentence(tuple(words), start)


def _jsonl(
    lines: Lines, path: Path, kind: TaskKind, fields: Mapping[str, str]
) -> Iterator[Unlabelled]:
    records = (
        (number, record_of(line.strip(), path=path, line=number))
        for number, line in lines
        if line.strip()
    )
    if kind == "tagging":
        return (_tokens(record, fields, path, number) for number, record in records)
    texts = (_pair(record, kind, fields, path, number) for number, record in records)
    return _alike(texts, path, kind)


def _tokens(
    record: Mapping[str, object], fields: Mapping[str, str], path: Path, line: int
) -> Sentence:
    names = {*record, fields.get("tags", "tags")}
    try:
        tokens = record[fields_of(names, kind="tagging", fields=fields)["tokens"]]
    except MissingFieldError as error:
        if "text" not in record:
            raise problem(path, line, f"{error} Or give a raw sentence as 'text'.") from error
        text = checked_text(record["text"], path=path, line=line)
        return Sentence(split_words(text), line)
    if not isinstance(tokens, list):
        raise problem(path, line, f"the tokens must be a list; got {shown(tokens)}.")
    return Sentence(tuple(checked_word(word, path=path, line=line) for word in tokens), line)


def _pair(
    record: Mapping[str, object],
    kind: TaskKind,
    fields: Mapping[str, str],
    path: Path,
    line: int,
) -> Text:
    try:
        names = fields_of({*record, fields.get("label", "label")}, kind=kind, fields=fields)
    except MissingFieldError as error:
        raise problem(path, line, str(error)) from error
    text = checked_text(record[names["text"]], path=path, line=line)
    second = record.get(names.get("second", ""))
    if second is None and kind != "pair":
        return Text(text, None, line)
    return Text(text, checked_text(second, path=path, line=line, what="second text"), line)
