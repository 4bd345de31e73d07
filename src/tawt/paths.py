"""Paths that a user gives: whether they can be read as a file, and where they lead."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from tawt.errors import DataError, TawtError, suggestion

if TYPE_CHECKING:
    from pathlib import Path


def check_file(path: Path, *, error: type[TawtError] = DataError) -> None:
    """Refuse what is no regular file before it is opened: a pipe would block whoever opens it.

    Args:
        path: What is to be read.
        error: What is raised.

    Raises:
        TawtError: If there is no such file, or it is a folder, a pipe, a socket or a device, or
            the path leads nowhere.

    Example:
        >>> from pathlib import Path
        >>> check_file(Path("/dev/null"))
        Traceback (most recent call last):
        ...
        tawt.errors.DataError: /dev/null is not a regular file; copy what it holds into one.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError) as missing:
        raise error(f"{path}: there is no such file.{_nearest(path)}") from missing
    except (OSError, ValueError) as reason:
        raise error(unreadable(path, reason)) from reason
    if stat.S_ISDIR(mode):
        raise error(f"{path} is a folder; expected a file.")
    if not stat.S_ISREG(mode):
        raise error(f"{path} is not a regular file; copy what it holds into one.")


def unreadable(path: Path, reason: OSError | ValueError) -> str:
    r"""What is said of a file that cannot be opened.

    Example:
        >>> from pathlib import Path
        >>> unreadable(Path("a.txt"), PermissionError(13, "Permission denied"))
        'a.txt cannot be read: Permission denied.'
        >>> unreadable(Path("a\0.txt"), ValueError("embedded null byte"))
        "'a\\x00.txt' cannot be read: embedded null byte."
    """
    if isinstance(reason, OSError):
        return f"{path} cannot be read: {reason.strerror or reason}."
    return f"{str(path)!r} cannot be read: {reason}."  # a NUL, or half of a surrogate pair


def home_expanded(path: Path, *, error: type[TawtError] = DataError) -> Path:
    """The path, with the home folder that `~` or `~user` stands for.

    Raises:
        TawtError: If there is no such user.

    Example:
        >>> from pathlib import Path
        >>> home_expanded(Path("data/train.tsv")).as_posix()
        'data/train.tsv'
    """
    try:
        return path.expanduser()
    except (RuntimeError, OSError, ValueError) as reason:
        raise error(
            f"{path}: there is no user {path.parts[0][1:]!r} whose home folder could be meant; "
            f"write the folder out, or ./{path.parts[0]} for a folder of that name."
        ) from reason


def resolved(path: Path, *, error: type[TawtError] = DataError) -> Path:
    """The absolute path, without `..` and symbolic links.

    Raises:
        TawtError: If its links lead in a circle, or it has a NUL in it.

    Example:
        >>> from pathlib import Path
        >>> resolved(Path("a.txt")) == Path.cwd() / "a.txt"
        True
    """
    try:
        return path.resolve()
    except RuntimeError as reason:
        raise error(f"{path} cannot be read: its symbolic links lead in a circle.") from reason
    except (OSError, ValueError) as reason:
        raise error(unreadable(path, reason)) from reason


def _nearest(path: Path) -> str:
    """A file of almost that name, where there is one."""
    try:
        siblings = [each.name for each in path.parent.iterdir()]
    except OSError:
        return ""
    hint = suggestion(path.name, siblings) if siblings else ""
    return f" In that folder, {hint}" if hint.startswith("did you mean") else ""


def slug(name: str) -> str:
    """A name as part of a folder's name.

    Example:
        >>> slug("joint then fine-tuning")
        'joint-then-fine-tuning'
    """
    return "-".join(name.split())
