"""Datasets of the Hugging Face hub, and folders that `datasets` saved.

`hub:NAME`, `hub:OWNER/NAME`, `hub:OWNER/NAME/CONFIG`, or `hub:NAME/CONFIG` (taken so where there is
no `OWNER/NAME` of these names); `#SPLIT` may follow. A folder is one that `save_to_disk` wrote.
An example's `line` is its row, from 1.
"""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tawt.errors import DataError
from tawt.modality.split_names import split_of
from tawt.text.online import hub_if_reachable
from tawt.text.reading.arrow import check_saved
from tawt.text.reading.fields import MissingFieldError, fields_of, group_of
from tawt.text.reading.problems import problem, shown
from tawt.text.reading.records import example_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tawt.text.reading.examples import Example, TaskKind

_PREFIX = "hub:"
WHOLE = "(all)"
"""What a dataset that was saved without splits is called here."""


def is_hub(path: Path) -> bool:
    """Whether this is a name on the hub, or a folder that `datasets` saved.

    Example:
        >>> from pathlib import Path
        >>> is_hub(Path("hub:nyu-mll/glue/mrpc")), is_hub(Path("train.csv"))
        (True, False)
    """
    if str(path).startswith(_PREFIX):
        return True
    try:
        return any((path / name).is_file() for name in ("dataset_dict.json", "dataset_info.json"))
    except OSError:
        return False


def read_hub(
    path: Path,
    *,
    kind: TaskKind,
    fields: Mapping[str, str] | None = None,
    split: str | None = None,
) -> Iterator[Example]:
    """The examples of a dataset, one by one.

    Labels and tags of the type `ClassLabel` get their names.

    Args:
        path: A name on the hub, or a folder; see the module.
        kind: Which fields are read, as for JSON lines.
        fields: Our field name to the dataset's, where it differs; `group` is read only if it is
            here.
        split: Which split; `dev` also finds `validation`. May be left out where there is one.

    Raises:
        DataError: If `datasets` is not installed, cannot load it, there is no such split, or a row
            is no such example.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from datasets import Dataset
        >>> rows = Dataset.from_dict({"text": ["good"], "label": ["pos"]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rows.save_to_disk(folder)
        ...     list(read_hub(Path(folder), kind="classification"))
        [LabelledText(text='good', second=None, label='pos', line=1, group=None)]
    """
    source, dataset = load_split(path, split=split)
    features = getattr(dataset, "features", None) or {}
    try:
        found = fields_of(features.keys(), kind=kind, fields=fields or {})
        found |= group_of(features.keys(), fields=fields or {})
    except MissingFieldError as error:
        raise DataError(f"{source}: {error}") from error
    names = {name: _label_names(features[name]) for name in found.values()}
    for row, record in enumerate(rows_of(source, dataset.select_columns(list(names))), start=1):
        named = {
            field: _named(value, names[field], path=path, line=row)
            for field, value in record.items()
        }
        yield example_of(named, kind=kind, fields=fields or {}, path=path, line=row)


def split_names(path: Path) -> list[str]:
    """The splits that a dataset has; one made-up name where it was saved without splits.

    Raises:
        DataError: If `datasets` is not installed or cannot load it.
    """
    return list(_load(_source_and_split(path)[0]))


def load_split(path: Path, *, split: str | None = None, streaming: bool = False) -> tuple[str, Any]:
    """One split of a dataset, and what the dataset is called.

    Args:
        path: A name on the hub, or a folder; see the module.
        split: Which split; `dev` also finds `validation`. May be left out where there is one.
        streaming: Of a name on the hub: read it as it comes, instead of downloading it first.

    Raises:
        DataError: If `datasets` is not installed, cannot load it, or there is no such split.
    """
    source, wanted = _source_and_split(path)
    splits = _load(source, streaming=streaming)
    return source, splits[_choose(source, list(splits), wanted or split)]


def _source_and_split(path: Path) -> tuple[str, str | None]:
    if not str(path).startswith(_PREFIX):
        return str(path), None
    source, _, split = str(path).partition("#")
    return source, split or None


def _load(source: str, *, streaming: bool = False) -> Mapping[str, Any]:
    """Its splits by name."""
    try:
        datasets = importlib.import_module("datasets")
    except ImportError as error:
        raise DataError(
            f"{source} is read with the package datasets, which is not installed; "
            "pip install tawt[hub]"
        ) from error
    if not source.startswith(_PREFIX):
        check_saved(Path(source))
    tried: list[str] = []
    unreachable = None
    how = {"streaming": True} if streaming and source.startswith(_PREFIX) else {}
    for load, arguments in _attempts(datasets, source):
        try:
            with contextlib.ExitStack() as stack:
                if source.startswith(_PREFIX):
                    unreachable = stack.enter_context(hub_if_reachable())
                loaded = load(*arguments, **how)
        except Exception as error:  # whatever it raises, and it raises many things
            reason = " ".join(str(error).split())[:300] or type(error).__name__
            tried.append(f"{load.__name__}{_call(arguments)}: {reason}")
        else:
            return loaded if isinstance(loaded, dict) else {WHOLE: loaded}
    if unreachable is not None:
        raise DataError(
            f"{source} was not downloaded before, and {unreachable}. Where there is a network, "
            "save the dataset with save_to_disk, and give the folder."
        )
    raise DataError(
        f"{source} could not be loaded ({'; '.join(tried)}). Check the name and the network, or "
        "save the dataset with save_to_disk and give the folder."
    )


def _attempts(datasets: Any, source: str) -> list[tuple[Any, tuple[str, ...]]]:
    if not source.startswith(_PREFIX):
        return [(datasets.load_from_disk, (source,))]
    parts = [part for part in source.removeprefix(_PREFIX).split("/") if part]
    if not 1 <= len(parts) <= 3:
        raise DataError(f"{source!r} names no dataset; expected hub:OWNER/NAME or …/CONFIG.")
    ways = [("/".join(parts[:2]), *parts[2:])]
    if len(parts) == 2:
        ways.append((parts[0], parts[1]))
    return [(datasets.load_dataset, way) for way in ways]


def _call(arguments: tuple[str, ...]) -> str:
    return f"({', '.join(map(repr, arguments))})"


def _choose(source: str, splits: list[str], wanted: str | None) -> str:
    if wanted in splits:
        return wanted
    if splits == [WHOLE] or (wanted is None and len(splits) == 1):
        return splits[0]
    role = split_of(wanted) if wanted else None
    same = [name for name in splits if role and split_of(name) == role]
    if len(same) == 1:
        return same[0]
    asked = f"has no single split {wanted!r}" if wanted else "has several splits"
    raise DataError(
        f"{source} {asked}; it has {', '.join(splits) or 'none'}. Choose one with `split`, or as "
        f"{source}#SPLIT on the hub."
    )


def _label_names(feature: Any) -> list[str] | None:
    """Names of the labels, where the field holds their positions, or lists of positions."""
    names = getattr(getattr(feature, "feature", feature), "names", None)
    return names if isinstance(names, list) else None


def _named(value: object, names: list[str] | None, *, path: Path, line: int) -> object:
    if names is None:
        return value
    if isinstance(value, list):
        return [_named(part, names, path=path, line=line) for part in value]
    if not isinstance(value, int) or not 0 <= value < len(names):
        raise problem(
            path,
            line,
            f"the label {shown(value)} has no name; expected 0 to {len(names) - 1}. A split whose "
            "labels are -1 is kept secret by its makers; use another.",
        )
    return names[value]


def rows_of(source: str, dataset: Any) -> Iterator[Any]:
    """What a dataset holds, one by one.

    Args:
        source: What the dataset is called.
        dataset: Or another iterable over it.

    Raises:
        DataError: If it cannot be read on.
    """
    rows = iter(dataset)
    while True:
        try:
            row = next(rows, None)
        except Exception as error:  # a damaged file shows only now
            raise DataError(f"{source} cannot be read: {' '.join(str(error).split())}") from error
        if row is None:
            return
        yield row
