"""What is given for tasks, as groups of files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.config.drafting import grouped
from tawt.errors import ConfigError, DataError
from tawt.fitting.records import records_of
from tawt.modality.recognising import FileGroup
from tawt.modality.split_names import SPLITS
from tawt.paths import check_file
from tawt.text.sections import ENDINGS

if TYPE_CHECKING:
    from tawt.modality.split_names import Split

TARGET = "target"
"""What the target is called where it has no name of its own."""
_OTHER_NAMES: Mapping[str, Split] = {"valid": "dev", "validation": "dev", "val": "dev"}


def target_group(given: Any, test: Any, folder: Path) -> FileGroup:
    """The files of the target.

    Args:
        given: What is trained on, or its splits by name.
        test: More of it, to report on; or none.
        folder: Where rows that are in memory are written.

    Raises:
        TawtError: It is nothing that can be read.
    """
    group = _group(given, TARGET, folder)
    if test is None:
        return group
    if "test" in group.files:
        raise ConfigError("Test examples are given twice: as `test`, and with `target`.")
    path = _placed(test, TARGET, "test", folder)
    return replace(group, files={**group.files, "test": (path,)})


def source_groups(given: Any, folder: Path) -> list[FileGroup]:
    """The files of all sources.

    Args:
        given: By name; or files, whose names are theirs.
        folder: Where rows that are in memory are written.

    Raises:
        TawtError: They are nothing that can be read.
    """
    if isinstance(given, Mapping):
        return [
            replace(_group(each, str(name), folder), name=str(name)) for name, each in given.items()
        ]
    paths = [given] if isinstance(given, str | Path) else list(given)
    if not all(isinstance(path, str | Path) for path in paths):
        raise ConfigError(
            "Sources that are no files need names: give a dictionary, such as "
            "sources={'news': (texts, labels)}."
        )
    return grouped([Path(path) for path in paths], endings=ENDINGS)


def check_names(target: FileGroup, sources: list[FileGroup]) -> None:
    """Refuse two tasks with one name, or with names that files could not tell apart.

    Raises:
        ConfigError: There are.
    """
    names = [target.name, *(group.name for group in sources)]
    short = [_file_name(name).lower() for name in names]
    for name, found in zip(names, short, strict=True):
        if short.count(found) > 1:
            raise ConfigError(
                f"Two tasks are called {name!r}, or nearly; give the sources as a dictionary with "
                "other names."
            )


def _group(given: Any, name: str, folder: Path) -> FileGroup:
    if isinstance(given, str | Path):
        found = grouped([Path(given)], endings=ENDINGS)
        if len(found) > 1:
            listed = ", ".join(group.name for group in found)
            raise DataError(f"{given} holds several tasks ({listed}); give the files of one.")
        return found[0]
    names = {_split(key) for key in given} if isinstance(given, Mapping) else set()
    has_splits = bool(names) and names <= set(SPLITS)
    parts = given if has_splits else {"train": given}
    placed: dict[Split, tuple[Path, ...]] = {}
    for key, part in parts.items():
        placed[_split(key)] = (_placed(part, name, _split(key), folder),)
    return FileGroup(name=name, files={each: placed[each] for each in SPLITS if each in placed})


def _file_name(name: str) -> str:
    """A name that is good for a file, wherever it comes from."""
    return re.sub(r"[^\w-]+", "-", name)


def _split(key: Any) -> Any:
    """The split that a name means; the name itself, if it means none."""
    return _OTHER_NAMES.get(str(key), str(key))


def _placed(given: Any, name: str, split: str, folder: Path) -> Path:
    """The file that is given, or one with the rows that are."""
    if isinstance(given, str | Path):
        check_file(Path(given))
        return Path(given)
    what = name if split == "train" else f"{name} ({split})"
    lines = []
    for number, record in enumerate(records_of(given, what), start=1):
        try:
            lines.append(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
        except (TypeError, ValueError) as error:
            raise DataError(
                f"{what}: row {number} holds something that is no text, number or list of them "
                f"({error}); leave it out."
            ) from error
    path = folder / f"{_file_name(name)}.{split}.jsonl"
    files.write(path, "".join(lines))
    return path
