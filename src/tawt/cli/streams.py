"""What a command is given by the shell: arguments, and streams that may be closed."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from pathlib import Path

from tawt.errors import ConfigError

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def occupy_closed() -> None:
    """Let no file that is opened later become standard input, output or error by its number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)  # worker processes need it as much
    os.close(number)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the exit


def check_open() -> None:
    """Refuse to work for a result that nobody could read.

    Raises:
        ConfigError: Standard output is closed.
    """
    if sys.stdout is None:
        raise ConfigError("Standard output is closed; to do without it, send it to /dev/null.")


def check_arguments(arguments: list[str]) -> None:
    r"""Refuse what no file can be called, and no page could show.

    Raises:
        ConfigError: An argument has a NUL in it, or is not text in the encoding of the system.

    Example:
        >>> check_arguments(["train", "caf\udce9.yaml"])
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: The argument 'caf\udce9.yaml' is not valid text; rename the file.
    """
    for argument in arguments:
        if _UNWRITABLE.search(argument):
            raise ConfigError(f"The argument {argument!r} is not valid text; rename the file.")


def flush() -> None:
    """Write what standard output still holds, now that somebody can be told if it fails.

    Raises:
        OSError: It could not be written. The interpreter does not try again.
    """
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):  # a stream that has no number has nothing to lose
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise
