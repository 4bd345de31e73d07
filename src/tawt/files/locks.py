"""One writer a folder: a lock that ends with its owner, however that ends."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from tawt import files
from tawt.errors import FolderInUse, Interrupted, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_LOCK, _WRITER = ".lock", ".writer"
_POLL_SECONDS = 0.2


@contextlib.contextmanager
def locked(folder: Path, *, wait_unless: Callable[[], bool] | None = None) -> Iterator[None]:
    """Be the only process that writes to a folder, until the block or the process ends.

    The operating system holds the lock, so it is free again when its owner dies. Blocks of one
    process may be nested. On a shared disk the lock holds between machines if the file system has
    locks; where it has none at all, a marker file with process and host takes their place.

    Args:
        folder: Made if it is not there.
        wait_unless: Wait for another owner to end, as long as this returns false. By default
            nobody waits.

    Raises:
        FolderInUse: Another process holds the folder.
        Interrupted: `wait_unless` returned true.
        RunError: The folder cannot be made or locked.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as parent, locked(Path(parent, "run")):
        ...     Path(parent, "run").is_dir()
        True
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # One object a path and process, so that blocks can be nested.
        lock = FileLock(folder.resolve() / _LOCK, is_singleton=True, thread_local=False)
        _acquire(lock, folder, wait_unless)
    except OSError as error:
        raise RunError(f"Cannot lock {folder}: {error.strerror or error}.") from error
    try:
        if lock.lock_counter == 1:
            files.sweep(folder)
            _sign(folder)
        yield
    finally:
        if lock.lock_counter == 1:
            (folder / _WRITER).unlink(missing_ok=True)
        lock.release()


def _acquire(lock: FileLock, folder: Path, wait_unless: Callable[[], bool] | None) -> None:
    while True:
        try:
            lock.acquire(blocking=False)
        except Timeout:
            if wait_unless is None:
                raise FolderInUse(
                    f"{folder} is being written by {_writer(folder)}; wait until that ends, or "
                    "give another folder."
                ) from None
            if wait_unless():
                raise Interrupted(f"Stopped as asked, waiting for {folder}.") from None
            time.sleep(_POLL_SECONDS)
        else:
            return


def _sign(folder: Path) -> None:
    """Leave word of who holds the folder, for the message to others."""
    since = datetime.now(UTC).isoformat(timespec="seconds")
    writer = {"process": os.getpid(), "host": socket.gethostname(), "since": since}
    files.write_json(folder / _WRITER, writer)


def _writer(folder: Path) -> str:
    try:
        found = json.loads((folder / _WRITER).read_text(encoding="utf-8"))
        return f"process {found['process']} on {found['host']} (since {found['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"  # which has not signed yet
