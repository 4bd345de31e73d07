"""The files of each split, found in a folder by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import DataError
from tawt.modality.split_names import SPLITS, split_of, without_split
from tawt.text.reading.hub import WHOLE, is_hub, split_names

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.modality.split_names import Split

Found = dict["Split", list["Path"]]


def find_splits(folder: Path, *, pattern: str | None = None) -> Found:
    """The files of each split in a folder and its subfolders, sorted.

    A file belongs to the split that its name speaks of (`ner.dev.tsv`), or else the nearest folder
    above it (`test/0001.txt`). Other files, and hidden ones, are left out. A folder that `datasets`
    saved, or a name on the hub, has the splits that it has.

    Args:
        folder: Where to look.
        pattern: Only files whose names match, for example `ner.*`. Needed where there are files
            of several tasks.

    Raises:
        DataError: If there is no such folder, no training file in it, or files of several tasks.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("ner.train.tsv", "ner.dev.tsv", "README.md"):
        ...         Path(folder, name).touch()
        ...     found = find_splits(Path(folder))
        >>> {split: [path.name for path in paths] for split, paths in found.items()}
        {'train': ['ner.train.tsv'], 'dev': ['ner.dev.tsv']}
    """
    if is_hub(folder):
        return _of_dataset(folder)
    if not folder.is_dir():
        raise DataError(f"{folder} is no folder; expected one with files of train, dev and test.")
    found: Found = {split: [] for split in SPLITS}
    for path in _files(folder, pattern or "*"):
        parts = path.relative_to(folder).parts
        split = next((s for s in map(split_of, reversed(parts)) if s), None)
        if split:
            found[split].append(path)
    if pattern is None:
        _check_one_task(folder, found)
    if not found["train"]:
        which = f" that match {pattern!r}" if pattern else ""
        raise DataError(
            f"{folder} has no files{which} whose name (or folder) has the word train in it; "
            "rename them, or name the files of each split."
        )
    return {split: paths for split, paths in found.items() if paths}


def _of_dataset(folder: Path) -> Found:
    names = split_names(folder)
    if names == [WHOLE]:
        return {"train": [folder]}
    roles = {split_of(name) for name in names}
    if "train" not in roles:
        raise DataError(
            f"{folder} has no split that is called train, but {', '.join(names) or 'none'}; give "
            "it as `train` (and `dev`, `test`), with the `split` that is meant."
        )
    return {split: [folder] for split in SPLITS if split in roles}


def _files(folder: Path, pattern: str) -> list[Path]:
    try:
        paths = sorted(path for path in folder.rglob(pattern) if path.is_file())
    except (OSError, ValueError, NotImplementedError) as error:  # an absolute or empty pattern
        raise DataError(f"{folder} cannot be searched for {pattern!r}: {error}.") from error
    return [p for p in paths if not any(x.startswith(".") for x in p.relative_to(folder).parts)]


def _check_one_task(folder: Path, found: Found) -> None:
    named = [path for paths in found.values() for path in paths if split_of(path.name)]
    tasks = {(without_split(path.stem), path.suffix): path for path in reversed(named)}
    if len(tasks) > 1:
        names = sorted(path.name for path in tasks.values())
        suffixes = sorted({suffix for _, suffix in tasks})
        pattern = f"*{suffixes[0]}" if len(suffixes) > 1 else f"*{min(tasks)[0]}*"
        raise DataError(
            f"{folder} has files of several tasks or formats: {', '.join(names[:6])}"
            f"{', …' if len(names) > 6 else ''}. Choose with `pattern`, for example "
            f"`pattern: {pattern!r}`."
        )
