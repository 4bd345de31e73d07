"""In which form text without labels is written, from its name and its first lines."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tawt.text.reading.columns import METADATA
from tawt.text.reading.guessing import is_object

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from tawt.text.reading import TaskKind

InputFormat: TypeAlias = Literal["text", "tokens", "columns", "conllu", "jsonl"]
INPUT_FORMATS: tuple[InputFormat, ...] = get_args(InputFormat)

_LOOKED_AT = 100  # lines


def guessed_form(
    lines: Iterable[tuple[int, str]], *, path: Path, kind: TaskKind
) -> tuple[InputFormat, Iterator[tuple[int, str]]]:
    """The form, and all the lines again, of which the first were looked at.

    Args:
        lines: With their numbers.
        path: The file's name.
        kind: The kind of task.
    """
    stream = iter(lines)
    head = list(itertools.islice(stream, _LOOKED_AT))
    form = guess_form([line for _, line in head], path=path, kind=kind)
    return form, itertools.chain(head, stream)


def guess_form(head: list[str], *, path: Path, kind: TaskKind) -> InputFormat:
    r"""What the first lines look like.

    By the name: `.jsonl`, `.ndjson`, `.conllu`. Else by the lines: JSON objects; for tagging,
    CoNLL-U if there are ten columns and the first word is number 1, and columns if every line but
    blank ones has a tab, and no blank before it. Everything else is text.

    Example:
        >>> from pathlib import Path
        >>> guess_form(["EU\tB-ORG", "!\tO", ""], path=Path("a.txt"), kind="tagging")
        'columns'
        >>> guess_form(["A text.\tAnother."], path=Path("a.txt"), kind="pair")
        'text'
    """
    named: dict[str, InputFormat] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".conllu": "conllu"}
    if path.suffix.lower() in named:
        return named[path.suffix.lower()]
    filled = [line for line in head if line.strip() and not METADATA.match(line)]
    if filled and is_object(filled[0]):
        return "jsonl"
    if kind != "tagging" or not filled:
        return "text"
    cells = [line.split("\t") for line in filled]
    if len(cells[0]) == 10 and cells[0][0].split("-")[0] == "1":
        return "conllu"
    columns = all(len(row) > 1 and " " not in row[0].strip() for row in cells)
    return "columns" if columns else "text"
