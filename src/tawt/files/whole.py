"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tawt.errors import RunError

_PARTIAL, _SEAL = ".partial", "sha256"


def write(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old one or the new one, never a part.

    Raises:
        RunError: If it cannot be written; the old file is as it was.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write(Path(folder, "note.txt"), "hello")
        ...     Path(folder, "note.txt").read_text()
        'hello'
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        with whole(path) as file:
            file.write(data)
    except OSError as error:
        raise not_written(path, error) from error


def not_written(path: Path, error: OSError) -> RunError:
    """What to say of a file that could not be written."""
    return RunError(
        f"Could not write {path}: {error.strerror or error}. What was there before is intact; "
        "make room (or fix the permissions) and run again with --resume."
    )


@contextlib.contextmanager
def whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write piece by piece, which takes its name when all is written, or never.

    Raises:
        OSError: If it cannot be written; the old file is as it was.

    Example:
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with whole(Path(folder, "note.txt")) as file:
        ...         _ = file.write(b"hello")
        ...     Path(folder, "note.txt").read_text()
        'hello'
    """
    if path.exists() and not path.is_file():  # a rename would replace even a device
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_PARTIAL)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())  # mkstemp makes it private
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):  # the disk may refuse this too
            temporary.unlink(missing_ok=True)
        raise


def sweep(folder: Path) -> None:
    """Remove the unfinished files that a killed process left in a folder.

    Only the one writer of the folder may do this: another would take them from under its hands.
    """
    for path in folder.glob(f".*{_PARTIAL}"):
        path.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Write a value as readable JSON, whole or not at all."""
    write(path, json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read JSON.

    Raises:
        RunError: If the file is missing or is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not whole JSON"
        raise RunError(f"Cannot read {path}: {reason}.") from error


def write_sealed(path: Path, value: Mapping[str, Any]) -> None:
    """Write a mapping as readable JSON with its own checksum, whole or not at all."""
    kept = _finite(value)
    write_json(path, {**kept, _SEAL: _digest(kept)})


def read_sealed(path: Path) -> dict[str, Any]:
    """What `write_sealed` wrote; a file of an older version, without a checksum, is taken as it is.

    Raises:
        RunError: If the file is missing, is not a mapping, or has changed since it was written.
    """
    value = read_json(path)
    if not isinstance(value, dict):
        raise RunError(f"{path} is damaged: it must hold an object, and holds {value!r:.40}.")
    seal = value.pop(_SEAL, None)
    if seal is not None and seal != _digest(value):
        raise RunError(f"{path} is damaged: its checksum does not match.")
    return value


def checksum(path: Path) -> str:
    """SHA-256 of a file's contents.

    Raises:
        RunError: If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise RunError(f"Cannot read {path}: {error.strerror or error}.") from error


def _digest(value: Mapping[str, Any]) -> str:
    # As it is read back: JSON has text for keys, and lists for tuples.
    plain = json.loads(json.dumps(value))
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _finite(value: Any) -> Any:
    """The value with `None` where JSON has no number for it."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(part) for key, part in value.items()}
    return [_finite(part) for part in value] if isinstance(value, list | tuple) else value
