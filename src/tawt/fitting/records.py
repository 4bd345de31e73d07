"""Rows that are in memory, as records with named fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tawt.errors import DataError

_AS_RECORDS = ("to_pylist", "to_dicts", "to_list")
"""How tables of pyarrow, polars and datasets give their rows."""
_WANTED = (
    "expected a file, a table, a pair (texts, labels), or rows: (text, label), (tokens, tags) or "
    "dictionaries"
)


def records_of(given: Any, name: str) -> list[dict[str, Any]]:
    """The rows of a table, whatever holds them.

    Args:
        given: A data frame or dataset; columns by name; a pair of texts and labels; or rows.
        name: What they are called in messages.

    Raises:
        DataError: They are none of these.

    Example:
        >>> records_of((["good", "bad"], [1, 0]), "reviews")
        [{'text': 'good', 'label': 1}, {'text': 'bad', 'label': 0}]
        >>> records_of([(["EU", "!"], ["B-ORG", "O"])], "names")
        [{'tokens': ['EU', '!'], 'tags': ['B-ORG', 'O']}]
    """
    rows = _rows(given, name)
    if not rows:
        raise DataError(f"{name}: there are no rows.")
    return [_record(row, name, number) for number, row in enumerate(rows, start=1)]


def _rows(given: Any, name: str) -> list[Any]:
    for method in _AS_RECORDS:
        if hasattr(given, method):
            return list(getattr(given, method)())
    if isinstance(given, Mapping):
        return _of_columns({str(key): list(column) for key, column in given.items()}, name)
    if hasattr(given, "to_dict"):  # a data frame of pandas
        return list(given.to_dict("records"))
    if isinstance(given, tuple) and len(given) == 2 and not isinstance(given[0], str):
        inputs, answers = map(list, given)
        _check_lengths({"texts": len(inputs), "labels": len(answers)}, name)
        return list(zip(inputs, answers, strict=True))
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return list(given)
    raise DataError(f"{name}: {_WANTED}; got {type(given).__name__}.")


def _of_columns(columns: Mapping[str, list[Any]], name: str) -> list[dict[str, Any]]:
    _check_lengths({f"{key!r}": len(column) for key, column in columns.items()}, name)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _check_lengths(lengths: Mapping[str, int], name: str) -> None:
    if len(set(lengths.values())) > 1:
        said = " and ".join(f"{count} {what}" for what, count in lengths.items())
        raise DataError(f"{name}: there must be one label for each text; got {said}.")


def _record(row: Any, name: str, number: int) -> dict[str, Any]:
    if isinstance(row, Mapping):
        return {str(key): _plain(value) for key, value in row.items()}
    if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 2:
        raise DataError(f"{name}: {_WANTED}; row {number} is {row!r:.60}.")
    text, answer = _plain(row[0]), _plain(row[1])
    if isinstance(answer, list):
        return {"tokens": text, "tags": answer}
    if isinstance(text, list) and len(text) == 2:
        return {"text": text[0], "second": text[1], "label": answer}
    if isinstance(text, str) and isinstance(answer, str | int | float):
        return {"text": text, "label": answer}
    raise DataError(f"{name}: {_WANTED}; row {number} is {row!r:.60}.")


def _plain(value: Any) -> Any:
    """As JSON has it: numbers and arrays of numpy are numbers and lists."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value
