"""What happens when a command fails: one line, and an exit status that says whose turn it is.

2    the user's: a mistake in a configuration or a file, no memory, no room on the disk
130  interrupted
1    ours: a bug, whose traceback is kept; or whoever read the output went away
"""

from __future__ import annotations

import os
import tempfile
import traceback
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from tawt.cli import together
from tawt.cli.plain import plain
from tawt.errors import Interrupted, TawtError, first_line, is_out_of_memory

if TYPE_CHECKING:
    from collections.abc import Callable

USER, BUG, INTERRUPTED = 2, 1, 130
_LONGEST = 2000  # signs of a message; what goes beyond is a value that is no use to anybody
_UsageError: type[Exception] = next(  # click's, or that of typer's own copy of it
    each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException"
)
_NO_ROOM = ("failed to map segment", "annot allocate memory")  # said while libraries are loaded


def exit_status(command: Callable[[], int]) -> int:
    """What a command returns, or the status after what went wrong was said.

    Args:
        command: What to do.
    """
    try:
        status = command()
    except (Exception, KeyboardInterrupt) as error:
        return together.failed(*_verdict(error))
    if status == INTERRUPTED:  # typer turns Ctrl-C into this
        return together.failed(status, partial(complain, "interrupted"))
    return status


def _verdict(error: BaseException) -> tuple[int, Callable[[], object]]:
    """The exit status, and what says why."""
    if isinstance(error, Interrupted | KeyboardInterrupt):
        return INTERRUPTED, partial(complain, str(error) or "interrupted")
    if isinstance(error, BrokenPipeError):  # `| head` has seen enough
        return BUG, lambda: None
    if isinstance(error, _UsageError):
        return int(getattr(error, "exit_code", USER)), partial(_misused, error)
    message = _users(error)
    if message is None:
        return BUG, partial(_bug, error)
    return USER, partial(complain, message)


def complain(message: str) -> None:
    """One line, whatever the message has in it."""
    line = plain(" ".join(message.split()))
    typer.secho("error: ", fg="red", bold=True, nl=False, err=True)
    typer.echo(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…", err=True)


def _users(error: BaseException) -> str | None:
    """What is said of an error that the user can do something about; none for a bug."""
    if isinstance(error, TawtError):
        return str(error)
    if isinstance(error, ImportError) and any(sign in str(error) for sign in _NO_ROOM):
        return (
            "Out of memory while loading tawt's libraries, which need about 2 GB of address space; "
            "raise the limit (ulimit -v), or run it where there is more memory."
        )
    if isinstance(error, RuntimeError | MemoryError) and is_out_of_memory(error):
        return (
            "Out of memory. Lower `training.batch_size` in the configuration, choose a smaller "
            "model, or run it where there is more memory."
        )
    if isinstance(error, OSError):  # a file or folder that cannot be had, wherever it turned up
        what = error.strerror or str(error)
        return f"{what}: {error.filename}" if error.filename else what
    return None


def _misused(error: Any) -> None:
    """Wrong options or arguments, or none at all, which shows the help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
    else:
        asked = error.ctx.command_path if getattr(error, "ctx", None) else "tawt"
        complain(f"{error.format_message().rstrip('.')}. See {asked} --help.")


def _bug(error: BaseException) -> None:
    """Ours: the traceback goes where it can be found, and is shown to those who ask for it.

    Raises:
        BaseException: The error, where the environment has `TAWT_TRACEBACK`.
    """
    if os.environ.get("TAWT_TRACEBACK"):
        raise error
    what = f"{type(error).__name__}: {first_line(error)}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="tawt-", suffix=".traceback.txt", delete=False, encoding="utf-8"
        ) as file:
            file.writelines(traceback.format_exception(error))
        kept = f"The traceback is in {file.name}; please report it with the command."
    except (OSError, ValueError):
        kept = "Set TAWT_TRACEBACK=1 to see the traceback, and please report it with the command."
    complain(f"This is a bug in tawt ({what}). {kept}")
