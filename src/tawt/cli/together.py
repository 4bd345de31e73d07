"""Commands that a launcher started as several processes: one speaks, and all end alike."""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from tawt.errors import ConfigError
from tawt.launch import this_launch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_WITH_JOBS = ("compare", "demo", "distance", "mix", "reproduce")


def is_first() -> bool:
    """Whether this process shows progress and results."""
    return this_launch().number == 0


def listen_only() -> None:
    """Let warnings be said once: by the first process."""
    if not is_first():
        logging.disable()
        warnings.simplefilter("ignore")


def refuse(command: str) -> None:
    """Refuse to be several processes, to commands that are one.

    Args:
        command: What was asked for.

    Raises:
        ConfigError: Saying how to have several runs at a time.
    """
    several = this_launch()
    if command == "train" or not several.is_one_of_several:
        return
    instead = "; --jobs says how many runs it makes at a time" if command in _WITH_JOBS else ""
    raise ConfigError(
        f"`tawt {command}` is one process, and was started as {several.processes}: run it without "
        f"torchrun or accelerate launch{instead}. Only `tawt train` trains on several together."
    )


@contextmanager
def joined(device: str) -> Iterator[None]:
    """Be one of the processes that were started together, if there are several.

    Args:
        device: What the user wants.
    """
    if not this_launch().is_one_of_several:
        yield
        return
    from tawt.training.joining import join_group, leave_group

    join_group(device)
    yield
    leave_group()


def failed(status: int, say: Callable[[], object]) -> int:
    """The exit status after a failure, which one process says for all.

    Args:
        status: Of this process.
        say: Says what went wrong.
    """
    several = this_launch()
    if not several.is_one_of_several:
        say()
        return status
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a launcher sends it to those that are left
    if not _in_a_group():  # mistakes in the command itself, which all make
        if several.number_here == 0:
            say()
        return status
    from tawt.training.joining import agree_on_status, fails_first

    speaks = fails_first()
    if speaks:
        say()
    return agree_on_status(status, is_first=speaks)


def end_process(status: int) -> NoReturn:
    """End the process; at once, where it is in a group, in which others may be at work."""
    if _in_a_group():
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(status)
    sys.exit(status)


def _in_a_group() -> bool:
    """Without importing torch, where it was not needed yet."""
    if "torch" not in sys.modules or not this_launch().is_one_of_several:
        return False
    from tawt.training.joining import is_joined

    return is_joined()
