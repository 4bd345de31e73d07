"""JSON lines: one object a line."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn

from tawt.text.reading.lines import read_lines
from tawt.text.reading.problems import problem, shown
from tawt.text.reading.records import example_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tawt.text.reading.examples import Example, TaskKind


def read_jsonl(
    path: Path,
    *,
    kind: TaskKind,
    fields: Mapping[str, str] | None = None,
    encoding: str = "utf-8",
) -> Iterator[Example]:
    r"""The examples of a JSON lines file, one by one; blank lines are left out.

    Args:
        path: The file.
        kind: Tagging reads the fields `tokens` and `tags` (lists); the others `text` and `label`,
            and `second` where there are two texts. See `fields_of` for other names it knows.
        fields: Our field name to the file's, where it differs; `group` is read only if it is here.
        encoding: The file's encoding.

    Raises:
        DataError: If a line is no JSON object, has a key twice or NaN, or is no such example.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "train.jsonl")
        ...     _ = path.write_text('{"review": "good", "label": "pos"}\n')
        ...     list(read_jsonl(path, kind="classification", fields={"text": "review"}))
        [LabelledText(text='good', second=None, label='pos', line=1, group=None)]
    """
    for number, line in read_lines(path, encoding=encoding):
        if line.strip():
            record = record_of(line.strip(), path=path, line=number)
            yield example_of(record, kind=kind, fields=fields or {}, path=path, line=number)


class _RefusedError(ValueError):
    """JSON that Python would take."""


def record_of(text: str, *, path: Path, line: int) -> Mapping[str, object]:
    """The object on a line.

    Raises:
        DataError: If it is no JSON object, or has a key twice or NaN in it.

    Example:
        >>> from pathlib import Path
        >>> record_of('{"text": "good"}', path=Path("a.jsonl"), line=1)
        {'text': 'good'}
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except _RefusedError as error:
        raise problem(path, line, str(error)) from error
    except json.JSONDecodeError as error:
        raise problem(
            path,
            line,
            f"this is not JSON: {error.msg} at column {error.colno}. Expected one whole object a "
            "line.",
        ) from error
    except (ValueError, RecursionError) as error:  # a number, or a nesting, without bounds
        raise problem(path, line, "the JSON has a number too long, or is too deep.") from error
    if not isinstance(value, dict):
        raise problem(path, line, f"expected a JSON object, {{…}}; got {shown(value)}.")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise _RefusedError(f"the key {shown(twice)} occurs twice in one object; keep one.")
    return record


def _refuse_constant(name: str) -> NoReturn:
    raise _RefusedError(f"{name} is no JSON number; give a finite one.")
