"""An example from a record: a mapping from field names to values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.text.reading.checks import checked_name, labelled, tagged
from tawt.text.reading.fields import MissingFieldError, fields_of, group_of
from tawt.text.reading.problems import problem, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tawt.text.reading.examples import Example, TaskKind


def example_of(
    record: Mapping[str, object],
    *,
    kind: TaskKind,
    fields: Mapping[str, str],
    path: Path,
    line: int,
) -> Example:
    """The example that a record holds.

    Args:
        record: For tagging lists of tokens and of tags; else one text or two, and a label.
        kind: The kind of task.
        fields: Our field name to the record's, where it differs; a `group` is read if it is here.
        path: Where the record is from, for errors.
        line: Its line there.

    Raises:
        DataError: If a field is missing or is not what it should be.

    Example:
        >>> from pathlib import Path
        >>> example_of(
        ...     {"text": "good", "label": 1},
        ...     kind="classification", fields={}, path=Path("a.jsonl"), line=1,
        ... )
        LabelledText(text='good', second=None, label='1', line=1, group=None)
    """
    try:
        names = fields_of(record.keys(), kind=kind, fields=fields)
        names |= group_of(record.keys(), fields=fields)
    except MissingFieldError as error:
        raise problem(path, line, str(error)) from error
    group = None
    if "group" in names:
        group = checked_name(record[names["group"]], path=path, line=line, what="group")
    if kind == "tagging":
        words = _list(record[names["tokens"]], name=names["tokens"], path=path, line=line)
        tags = _list(record[names["tags"]], name=names["tags"], path=path, line=line)
        return tagged(words, tags, path=path, line=line, group=group)
    second = record[names["second"]] if "second" in names else None
    if "second" in names and second is None and kind == "pair":
        raise problem(path, line, f"the second text, {names['second']!r}, is null; fill it in.")
    return labelled(
        record[names["text"]],
        second,
        record[names["label"]],
        kind=kind,
        path=path,
        line=line,
        group=group,
    )


def _list(value: object, *, name: str, path: Path, line: int) -> Sequence[object]:
    if not isinstance(value, list):
        raise problem(
            path, line, f"{name!r} must be a list with an entry for each word; got {shown(value)}."
        )
    return value
