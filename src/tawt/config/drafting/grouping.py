"""Which files belong together, as the splits of one task."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tawt.errors import DataError
from tawt.modality.recognising import FileGroup
from tawt.modality.split_names import SPLITS, split_of, task_in
from tawt.paths import check_file, resolved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tawt.modality.split_names import Split

_OF_NO_TASK = re.compile(r"(readme|licen[cs]e|notice|requirements|manifest)\b.*", re.IGNORECASE)
_PLAIN = (".txt", ".txt.gz")
_SAVED = ("dataset_dict.json", "dataset_info.json")
"""One of these is in a folder that `datasets` saved, which is a file as it were."""
_MANY = 30
"""Files of plain text in a folder. More are the documents of one corpus, and no corpora each."""

_Key = tuple[Path, str, str]


def grouped(paths: Sequence[Path], *, endings: Sequence[str]) -> list[FileGroup]:
    r"""The tasks that files are, by their names.

    Those that differ in a word for a split alone (`ner.train.tsv` and `ner.dev.tsv`) are one task;
    so are `train`, `dev` and `test` in a folder, which is then the task's name.

    Args:
        paths: Files and folders.
        endings: How files end that are looked for in folders.

    Raises:
        DataError: One of them does not exist or is empty, or a folder holds nothing to look for.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     names = ("ner.train.tsv", "ner.dev.tsv", "pos.tsv")
        ...     for name in names:
        ...         _ = Path(folder, name).write_text("EU\tO")
        ...     found = grouped([Path(folder, name) for name in names], endings=[])
        >>> [(group.name, list(group.files)) for group in found]
        [('ner', ['train', 'dev']), ('pos', ['train'])]
    """
    found: dict[_Key, dict[Split, list[Path]]] = {}
    named: set[_Key] = set()
    seen: set[Path] = set()
    for path in paths:
        for file, top in _files(path, endings):
            if resolved(file) in seen:
                continue
            seen.add(resolved(file))
            key, split = _place(file, top)
            found.setdefault(key, {}).setdefault(split, []).append(file)
            if top is None:
                named.add(key)
    return _named(
        [
            (key, FileGroup(name=_name(key), files=_in_order(files), by_itself=key in named))
            for key, files in found.items()
        ]
    )


def beside(group: FileGroup) -> list[Path]:
    """Files of splits that a task lacks, beside those that it has.

    Args:
        group: The files that were given.
    """
    first = group.first
    key, _ = _place(first, None)
    found: list[Path] = []
    for path in sorted(first.parent.iterdir()):
        if path.is_file() and path.suffix == first.suffix and _speaks_of_one_split(path):
            other, split = _place(path, None)
            if other == key and split not in group.files:
                found.append(path)
    return found


def _speaks_of_one_split(path: Path) -> bool:
    try:
        return split_of(path.name) is not None
    except DataError:
        return False


def _files(path: Path, endings: Sequence[str]) -> Iterator[tuple[Path, Path | None]]:
    """A file; or those in a folder, with the folder."""
    if not path.is_dir():
        check_file(path)
        _check_filled(path)
        yield path, None
        return
    if any((path / name).is_file() for name in _SAVED):
        yield path, None
        return
    inside = sorted(
        each
        for each in path.rglob("*")
        if each.is_file()
        and each.name.lower().endswith(tuple(endings))
        and not _OF_NO_TASK.fullmatch(each.name)
        and not any(part.startswith(".") for part in each.relative_to(path).parts)
    )
    if not inside:
        raise DataError(
            f"{path} has no files in it that end with one of {', '.join(sorted(endings))}; give "
            "the files themselves."
        )
    many = Counter(each.parent for each in inside if _is_document(each))
    for folder, count in many.items():
        if count > _MANY:
            yield folder, path
    for each in inside:
        if not (_is_document(each) and many[each.parent] > _MANY):
            yield each, path


def _is_document(path: Path) -> bool:
    return path.name.lower().endswith(_PLAIN) and split_of(path.name) is None


def _check_filled(path: Path) -> None:
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty; expected examples.")


def _place(path: Path, top: Path | None) -> tuple[_Key, Split]:
    """The task that a file is of, and the split; without a word for it, train.

    A folder below the one that was given may speak of the split too.
    """
    suffix = path.suffix.lower()
    stem = path.stem if path.suffix else path.name
    split = split_of(path.name)
    if split is not None:
        return (path.parent, task_in(stem), suffix), split
    if top is not None and path.parent != top:
        of_folder = split_of(path.parent.name)
        if of_folder is not None:
            return (path.parent.parent, "", suffix), of_folder
    return (path.parent, stem, ""), "train"


def _in_order(files: dict[Split, list[Path]]) -> dict[Split, tuple[Path, ...]]:
    return {split: tuple(sorted(files[split])) for split in SPLITS if split in files}


def _name(key: _Key) -> str:
    parent, name, _ = key
    return _safe(name or resolved(parent).name) or "task"


def _safe(name: str) -> str:
    """A name that is good for a task, a folder and a command line."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")


def _named(groups: Sequence[tuple[_Key, FileGroup]]) -> list[FileGroup]:
    """Groups whose names differ: those of one name get their folder's before it."""
    counts = Counter(group.name for _, group in groups)
    taken: Counter[str] = Counter()
    found: list[FileGroup] = []
    for (parent, _, _), group in groups:
        name = group.name
        if counts[name] > 1:
            name = f"{_safe(resolved(parent).name)}-{name}".strip("-")
        taken[name] += 1
        unique = name if taken[name] == 1 else f"{name}-{taken[name]}"
        found.append(replace(group, name=unique))
    return found
