"""Files told apart by what is in them, not by where they are."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any


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


def _digest(path: Path) -> str:
    if path.is_file():
        about = path.stat()
        return _of_file(path, about.st_size, about.st_mtime_ns)
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file())
        parts = [f"{each.relative_to(path)} {_digest(each)}" for each in files]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return str(path)


@lru_cache(maxsize=4096)
def _of_file(path: Path, size: int, changed: int) -> str:
    """SHA-256; `size` and `changed` make a file that was written again another one."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
