"""The command line in processes of its own, forked from one that has imported everything.

Importing torch takes longer than most of the runs that are killed here. Worker processes of a
comparison or of distances import it all the same, as they do for a user.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

_SERVE = "from benchmarks.attack.forks import serve; serve()"
_LOADED_LATER = (
    *("jinja2", "torch._dynamo", "transformers"),
    *("tawt.cli.actions", "tawt.cli.distances", "tawt.text.encoding"),
)
_ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join(
        [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    ),
}


@dataclass(frozen=True)
class Running:
    """A process, and the files that tell of it."""

    pid: int
    notes: Path
    """Folder of its output and its exit status."""

    @property
    def status(self) -> int | None:
        """Exit status, negative for a signal; none while it runs."""
        try:
            return int((self.notes / "status").read_text())
        except FileNotFoundError:
            return None

    @property
    def said(self) -> str:
        """Standard error."""
        return (self.notes / "err").read_text(errors="replace")

    def send(self, number: int, *, group: bool) -> None:
        """A signal, to it alone or to its workers too."""
        with contextlib.suppress(ProcessLookupError):
            if group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def ended(self, *, seconds: float) -> int:
        """Wait for it.

        Raises:
            TimeoutError: It hangs; it is killed then.
        """
        limit = time.monotonic() + seconds
        while (status := self.status) is None:
            if time.monotonic() > limit:
                self.send(signal.SIGKILL, group=True)
                raise TimeoutError(f"process {self.pid} did not end in {seconds:.0f} seconds")
            time.sleep(0.002)
        return status

    def group_ended(self, *, seconds: float) -> bool:
        """Wait until no worker is left either; false if some had to be killed."""
        limit = time.monotonic() + seconds
        while time.monotonic() < limit:
            try:
                os.killpg(self.pid, 0)
            except ProcessLookupError:
                return True
            time.sleep(0.01)
        self.send(signal.SIGKILL, group=True)
        return False


class Forks:
    """Starts processes; use it as a context manager."""

    def __enter__(self) -> Forks:
        self._lock = threading.Lock()
        self._mother = subprocess.Popen(
            [sys.executable, "-c", _SERVE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_ENVIRONMENT,
        )
        if self._out.readline() != "ready\n":
            raise RuntimeError("The process that others are forked from did not start.")
        return self

    def __exit__(self, *error: object) -> None:
        assert self._mother.stdin is not None
        self._mother.stdin.close()
        self._mother.wait(timeout=60)
        self._out.close()

    def start(self, arguments: Sequence[object], notes: Path) -> Running:
        """`tawt` with these arguments, in a session of its own."""
        notes.mkdir(parents=True)
        order = json.dumps([[str(each) for each in arguments], str(notes)])
        with self._lock:
            assert self._mother.stdin is not None
            print(order, file=self._mother.stdin, flush=True)
            return Running(int(self._out.readline()), notes)

    @property
    def _out(self) -> Any:
        return self._mother.stdout


def real(arguments: Sequence[object], notes: Path) -> Running:
    """`python -m tawt` itself, as a user has it."""
    notes.mkdir(parents=True)
    with (notes / "out").open("wb") as out, (notes / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "tawt", *(str(each) for each in arguments)],
            stdout=out,
            stderr=err,
            env=_ENVIRONMENT,
            start_new_session=True,
        )
    threading.Thread(
        target=lambda: _tell_status(notes, process.wait()), name="waits", daemon=True
    ).start()
    return Running(process.pid, notes)


def serve() -> None:
    """Fork a process for every line of standard input, and answer with its id."""
    for name in _LOADED_LATER:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    print("ready", flush=True)
    for line in sys.stdin:
        arguments, notes = json.loads(line)
        reader, writer = os.pipe()
        if os.fork() == 0:  # waits for the one that works, while we answer the next line
            _keep(arguments, Path(notes), writer)
        os.close(writer)
        with os.fdopen(reader) as answer:
            print(answer.readline().strip(), flush=True)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _keep(arguments: list[str], notes: Path, writer: int) -> None:
    child = os.fork()
    if child == 0:
        os.close(writer)
        _work(arguments, notes)
    os.write(writer, f"{child}\n".encode())
    os.close(writer)
    _tell_status(notes, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os._exit(0)


def _work(arguments: list[str], notes: Path) -> None:
    from tawt.cli.app import main  # noqa: PLC0415 - in the forked process alone

    os.setsid()
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(notes / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdin = Path(os.devnull).open()  # noqa: SIM115 - to the end of the process
    sys.argv = ["tawt", *arguments]
    status: Any = 1
    try:
        main()
        status = 0
    except SystemExit as stopped:
        status = stopped.code or 0
    except BaseException:
        import traceback  # noqa: PLC0415 - seldom

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _tell_status(notes: Path, status: int) -> None:
    (notes / "status.part").write_text(str(status))
    (notes / "status.part").rename(notes / "status")
