"""Which format a file is in, from its name and its first lines."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING

from tawt.text.reading.fields import COMMON_NAMES
from tawt.text.reading.hub import is_hub
from tawt.text.reading.lines import read_lines
from tawt.text.reading.options import ReadOptions

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.text.reading.examples import TaskKind

_LOOKED_AT = 1000  # lines; a column file has a blank one among them
_SUFFIXES = {".conllu": "conllu", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv"}
_USUAL = ReadOptions()


def guess_format(path: Path, *, kind: TaskKind | None = None, options: ReadOptions = _USUAL) -> str:
    r"""The format of a file, one of `FORMATS`.

    By its name: `hub:…` or a folder that `datasets` saved, `.conllu`, `_conll` (OntoNotes),
    `.jsonl`, `.ndjson`, `.csv`. A `.tsv` file is a table if its first line names two fields that
    we know (or that `options.fields` names); else the kind of task decides; else it is a column
    file if it has a blank line, or no cell with a blank in it. Any other file is judged by its
    first lines alone, and is a column file if nothing else fits.

    Args:
        path: The file.
        kind: The kind of task, where it is known.
        options: For the encoding and the names of fields.

    Raises:
        DataError: If the file cannot be read, or is no text.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> guess_format(Path("fr_sequoia-ud-dev.conllu"))
        'conllu'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "train.tsv")
        ...     _ = path.write_text("EU\tB-ORG\nrejects\tO\n\n")
        ...     guess_format(path)
        'columns'
    """
    name = path.name.lower()
    if is_hub(path):
        return "hub"
    if name.endswith("_conll"):
        return "ontonotes"
    if path.suffix.lower() in _SUFFIXES:
        return _SUFFIXES[path.suffix.lower()]
    lines = [
        line.rstrip("\n")
        for _, line in itertools.islice(read_lines(path, encoding=options.encoding), _LOOKED_AT)
    ]
    known = COMMON_NAMES | set(options.fields.values())
    if name.endswith(".tsv"):
        return _of_tsv(lines, known, kind)
    return _of_content(lines, known)


def _of_tsv(lines: list[str], known: frozenset[str], kind: TaskKind | None) -> str:
    if _is_header(lines, "\t", known):
        return "tsv"
    if kind is not None:
        return "columns" if kind == "tagging" else "tsv"
    whole = not any(" " in line for line in lines)
    return "columns" if whole or "" in lines[:-1] else "tsv"


def _of_content(lines: list[str], known: frozenset[str]) -> str:
    filled = [line for line in lines if line.strip()]
    if filled and filled[0].startswith("#begin document"):
        return "ontonotes"
    if filled and is_object(filled[0]):
        return "jsonl"
    for separator, name in (("\t", "tsv"), (",", "csv")):
        if _is_header(filled, separator, known):
            return name
    tokens = [line.split("\t") for line in filled if not line.startswith("#")]
    if tokens and len(tokens[0]) == 10 and tokens[0][0].split("-")[0] == "1":
        return "conllu"
    return "columns"


def _is_header(lines: list[str], separator: str, known: frozenset[str]) -> bool:
    cells = lines[0].split(separator) if lines else []
    return sum(cell.strip().strip('"') in known for cell in cells) >= 2


def is_object(line: str) -> bool:
    """Whether a line is an object of JSON."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
