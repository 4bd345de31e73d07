"""Files told apart by what is in them, not by where they are."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


# Read once a process: a command works with the data as it found it.
_KNOWN: dict[str, str] = {}


def forget() -> None:
    """Read files again that may have changed."""
    _KNOWN.clear()


def known() -> dict[str, str]:
    """What was found so far, by path."""
    return dict(_KNOWN)


def remember(found: Mapping[str, str]) -> None:
    """Take over what was found earlier: the files need not be there any more."""
    _KNOWN.update(found)


def by_contents(value: Any) -> Any:
    """A JSON value with every file's and folder's name in it replaced by what it holds.

    Args:
        value: Any nest; strings that name no file or folder are kept.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for name in ("a", "b"):
        ...         _ = Path(folder, name).write_text("same")
        ...     first, second = (by_contents({"train": str(Path(folder, n))}) for n in "ab")
        >>> first == second, by_contents({"train": "hub:name"})
        (True, {'train': 'hub:name'})
    """
    if isinstance(value, dict):
        return {key: by_contents(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [by_contents(part) for part in value]
    if isinstance(value, str) and Path(value).is_absolute():
        return _digest(Path(value))
    return value


def record_by_contents(value: Any) -> Any:
    """The same for a record: what is not there is `None`, and folders are not named.

    Example:
        >>> record_by_contents({"train": "/nowhere/at/all.tsv", "encoder": "bert-base-cased"})
        {'train': None, 'encoder': 'bert-base-cased'}
    """
    if isinstance(value, dict):
        return {key: record_by_contents(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [record_by_contents(part) for part in value]
    if isinstance(value, str) and Path(value).is_absolute():
        return by_contents(value) if value in _KNOWN or Path(value).exists() else None
    return value


def _digest(path: Path) -> str:
    if str(path) not in _KNOWN:
        found = _read(path)
        if found is None:
            return str(path)
        _KNOWN[str(path)] = found
    return _KNOWN[str(path)]


def _read(path: Path) -> str | None:
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file())
        parts = [f"{each.relative_to(path)} {_read(each)}" for each in files]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return None
