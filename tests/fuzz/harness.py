"""The command line in this process, as far as the first step of training.

The rule, whatever it is given: exit status 0, or one line on standard error and exit status 2.
Never a traceback, never a hang, nothing half-written.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import os
import signal
import sys
import traceback
import unittest.mock
from dataclasses import dataclass
from pathlib import Path

import typer.main

from tawt.cli.app import app, main

_TRAINS = (  # where work begins that takes more than a moment
    ("tawt.runs.run", "train"),
    ("tawt.sweeps.workers", "in_processes"),
    ("tawt.distance.study", "estimated"),
    ("tawt.cli.reproducing", "_run_experiment"),
)


class Started(BaseException):
    """Everything was accepted, and training would begin."""


class Hung(BaseException):
    """A case took longer than it may."""


@dataclass(frozen=True)
class Outcome:
    """What a command came to.

    Attributes:
        code: The exit status: 0 where training would have begun, 1 for an unhandled exception.
        out: Standard output.
        err: Standard error; with the traceback, where there was one.
        started: Whether training would have begun.
        configs: Configurations that were accepted on the way.
    """

    code: int
    out: str
    err: str
    started: bool
    configs: tuple = ()


def run_cli(arguments, *, seconds, stdin=b""):
    """Run `tawt` with these arguments; training is not begun.

    Args:
        arguments: Of the command line, without the program's name.
        seconds: Longer than this is a hang, and raises `Hung`.
        stdin: Standard input.
    """
    out, err = _stream(), _stream()
    configs = []
    with contextlib.ExitStack() as stack:
        for module, name in _TRAINS:
            patched = unittest.mock.patch.object(importlib.import_module(module), name, _start)
            stack.enter_context(patched)
        stack.enter_context(unittest.mock.patch("tawt.cli.app.app", _command()))
        stack.enter_context(_noting_configs(configs))
        stack.enter_context(unittest.mock.patch("huggingface_hub.constants.HF_HUB_OFFLINE", True))
        stack.enter_context(unittest.mock.patch.dict(os.environ, TAWT_TRACEBACK="1"))
        for name, stream in (("stdin", _stream(stdin)), ("stdout", out), ("stderr", err)):
            stack.enter_context(unittest.mock.patch.object(sys, name, stream))
        stack.enter_context(unittest.mock.patch.object(sys, "argv", ["tawt", *map(str, arguments)]))
        stack.enter_context(_limited(seconds, arguments))
        code, started = _code()
    return Outcome(code, _text(out), _text(err), started, tuple(configs))


def broken_rule(outcome):
    """What an outcome has against the rule, in words; none where it meets it.

    Example:
        >>> broken_rule(Outcome(2, "", "error: there is no such file\\n", started=False))
        >>> broken_rule(Outcome(1, "", "Traceback …", started=False))
        'exit status 1'
    """
    if outcome.code not in (0, 2):
        return f"exit status {outcome.code}"
    if "Traceback" in outcome.err:
        return "a traceback"
    if outcome.code == 0:
        return None
    lines = outcome.err.removesuffix("\n").split("\n")
    if len(lines) != 1 or not lines[0].startswith("error: ") or not lines[0][7:].strip():
        return f"{len(lines)} lines on standard error"
    return "something on standard output" if outcome.out else None


def listing(folder):
    """Every file under a folder with what is in it, to show that nothing was touched."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(Path(folder).rglob("*"))
    }


@functools.cache
def _command():
    """Every command, which typer would build again for each case."""
    return typer.main.get_command(app)


def _start(*arguments, **named):
    raise Started


def _code():
    try:
        main()
    except SystemExit as stop:
        return (stop.code if isinstance(stop.code, int) else int(stop.code is not None)), False
    except Started:
        return 0, True
    except Hung:
        raise
    except BaseException:  # the interpreter would print it and exit with 1
        sys.stderr.write(traceback.format_exc())
        return 1, False
    return 0, False


def _noting_configs(configs):
    """Keep every configuration that a command loads."""
    actions = importlib.import_module("tawt.cli.actions")
    load = actions.load

    def noting(*arguments, **named):
        configs.append(load(*arguments, **named))
        return configs[-1]

    return unittest.mock.patch.object(actions, "load", noting)


@contextlib.contextmanager
def _limited(seconds, arguments):
    def hang(number, frame):
        raise Hung(f"more than {seconds} s: tawt {' '.join(map(repr, map(str, arguments)))}")

    before = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _stream(content=b""):
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8", write_through=True)


def _text(stream):
    with contextlib.suppress(ValueError):  # closed by the command
        stream.flush()
    return stream.buffer.getvalue().decode(errors="replace") if not stream.closed else ""
