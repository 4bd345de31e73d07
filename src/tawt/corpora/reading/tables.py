"""Columns of Parquet files and of saved datasets, a batch of rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import parquet

from tawt.errors import DataError
from tawt.paths import check_file
from tawt.text.reading.hub import load_split, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tawt.corpora.reading.documents import Document
    from tawt.corpora.reading.fields import Fields

_ROWS = 256  # held at once: few enough for long documents, and for short ones still quick


def read_parquet(path: Path, *, fields: Fields) -> Iterator[Document]:
    """The documents of a Parquet file.

    Args:
        path: The file.
        fields: Which columns are read.

    Raises:
        DataError: If the file cannot be read, or has no such columns of text.
    """
    check_file(path)
    try:
        with parquet.ParquetFile(path) as file:
            columns = _columns(path, file.schema_arrow.names, fields)
            batches = file.iter_batches(batch_size=_ROWS, columns=columns)
            yield from _documents(batches, path=path, fields=fields)
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise DataError(f"{path} cannot be read as Parquet: {reason}.") from error


def read_dataset(
    path: Path, *, fields: Fields, split: str | None, streaming: bool = False
) -> Iterator[Document]:
    """The documents of a dataset that `datasets` saved, or that is on the hub.

    Args:
        path: A folder, or `hub:NAME`; `#SPLIT` may follow a name.
        fields: Which columns are read.
        split: Which split.
        streaming: Of a name on the hub: read it as it arrives.

    Raises:
        DataError: If it cannot be loaded, or has no such split or columns.
    """
    source, dataset = load_split(path, split=split, streaming=streaming)
    features = getattr(dataset, "features", None)
    names = None if fields.group is None else _class_names(features or {}, fields.group)
    if features is not None:
        dataset = dataset.select_columns(_columns(path, features, fields))
    if streaming or names is not None:
        yield from _records(rows_of(source, dataset), path=path, fields=fields, names=names)
    else:
        batches = dataset.with_format("arrow").iter(batch_size=_ROWS)
        yield from _documents(rows_of(source, batches), path=path, fields=fields)


def _columns(path: Path, names: Any, fields: Fields) -> list[str]:
    try:
        return fields.columns(names)
    except LookupError as error:
        raise DataError(f"{path}: {error.args[0]}") from error


def _documents(batches: Iterator[Any], *, path: Path, fields: Fields) -> Iterator[Document]:
    row = 0
    for batch in batches:
        columns = [
            batch.column(name).to_pylist() if name != fields.text else _texts(batch.column(name))
            for name in batch.schema.names
        ]
        for values in zip(*columns, strict=True):
            row += 1
            record = dict(zip(batch.schema.names, values, strict=True))
            yield from fields.documents(record, path=path, line=row)


def _texts(column: Any) -> list[Any]:
    """As bytes: what is not UTF-8 is found where they are decoded."""
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        kind = kind.value_type
        column = column.cast(kind)
    if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
        column = column.cast(pyarrow.large_binary())
    values: list[Any] = column.to_pylist()
    return values


def _records(
    rows: Iterator[Any], *, path: Path, fields: Fields, names: list[str] | None
) -> Iterator[Document]:
    for number, row in enumerate(rows, start=1):
        record = row
        if names is not None and isinstance(row.get(fields.group), int):
            record = {**row, fields.group: names[row[fields.group]]}
        yield from fields.documents(record, path=path, line=number)


def _class_names(features: Mapping[str, Any], group: str) -> list[str] | None:
    """What the numbers of a column of classes stand for."""
    names = getattr(features.get(group), "names", None)
    return names if isinstance(names, list) else None
