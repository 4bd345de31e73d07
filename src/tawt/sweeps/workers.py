"""Processes that work side by side; one that dies costs its own piece of work.

`ProcessPoolExecutor` gives up on everything when a process dies. Here every worker has a pipe of
its own, so it is known what each was doing. A stop travels through the pipe as well, and so does
the parent's death, which closes it.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import queue
import signal
import threading
import traceback
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from typing import TYPE_CHECKING

import torch

from tawt.errors import Interrupted, RunError, TawtError, portable
from tawt.launch import forget_launch
from tawt.modality.registry import expect, registered
from tawt.modality.said import DATA_LOG
from tawt.sweeps.work import Context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from multiprocessing.connection import Connection

    from tawt.sweeps.work import Work

_POLL_SECONDS = 0.2
_STOP = b""


class WorkerDied(RunError):  # noqa: N818 - what happened, as a name
    """A process that was killed in the middle of its work."""


def in_processes(
    wanted: Sequence[Work],
    *,
    workers: int,
    wait: bool,
    should_stop: Callable[[], bool],
    on_end: Callable[[Work, Exception | None], None],
    on_share: Callable[[float], None],
    gpus: Sequence[str] = (),
) -> None:
    """Do work in processes, several at a time; each computes on one thread.

    So results do not depend on how many there are.

    Args:
        wanted: What to do, in this order.
        workers: Processes.
        wait: As in `Context`.
        should_stop: Asked now and then.
        on_end: Told of every piece of work that ended, and of its error if it failed. Should it
            raise, the other workers are asked to stop.
        on_share: Not told anything: several pieces are done in part at any time.
        gpus: Those that processes are spread over, as `CUDA_VISIBLE_DEVICES` names them; each
            process sees one of them alone. By default all see what this one sees.

    Raises:
        Interrupted: A stop was asked for; work in progress has saved its state.
    """
    left, team = list(wanted), list[_Worker]()
    try:
        while left or any(worker.work for worker in team):
            team = [worker for worker in team if worker.work or worker.can_begin]
            while left and (idle := _idle(team, workers, gpus)) is not None:
                idle.begin(left.pop(0), wait=wait)
            for worker in _wait([worker for worker in team if worker.work]):
                on_end(*worker.ended())
            if should_stop():
                raise Interrupted("Stopped as asked; run the same command again to go on.")
    except KeyboardInterrupt:  # a second Ctrl-C: at once
        _kill(team)
        raise
    finally:
        _dismiss(team)


class _Worker:
    """A process, and what it is doing."""

    def __init__(self, gpu: str | None) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, registered(), gpu))
        self.gpu = gpu
        self.work: Work | None = None
        self._leaves = False
        with _deaf_to_ctrl_c():
            self.process.start()
        theirs.close()

    @property
    def is_alive(self) -> bool:
        return self.process.is_alive()

    @property
    def can_begin(self) -> bool:
        return self.work is None and not self._leaves and self.is_alive

    def begin(self, work: Work, *, wait: bool) -> None:
        self.work = work
        self._send(pickle.dumps((work.make, wait)))

    def ask_to_stop(self) -> None:
        self._send(_STOP)

    def ended(self) -> tuple[Work, Exception | None]:
        """Its work, and the error that it came to, if any."""
        assert self.work is not None
        work, self.work = self.work, None
        error: Exception | None
        try:
            self._leaves, answer = pickle.loads(self._received())
            error = pickle.loads(answer)
        except (EOFError, OSError):
            self.process.join()
            error = WorkerDied(_cause_of_death(self.process.exitcode))
        return work, error

    def _received(self) -> bytes:
        # A child of a dead worker may hold the pipe open, so that its end is not seen.
        if not self.is_alive and not self.pipe.poll():
            raise EOFError
        return self.pipe.recv_bytes()

    def _send(self, content: bytes) -> None:
        try:
            self.pipe.send_bytes(content)
        except OSError:  # it is dead, which `ended` finds
            return


def _idle(team: list[_Worker], most: int, gpus: Sequence[str]) -> _Worker | None:
    """A worker with nothing to do, a new one if there may be more, where the fewest are."""
    for worker in team:
        if worker.can_begin:
            return worker
    if len(team) == most:
        return None
    taken = [worker.gpu for worker in team]
    team.append(_Worker(min(gpus, key=taken.count) if gpus else None))
    return team[-1]


def _wait(busy: Sequence[_Worker]) -> list[_Worker]:
    """Those that have ended their work, or died."""
    signs = [sign for worker in busy for sign in (worker.pipe, worker.process.sentinel)]
    ready = connection.wait(signs, timeout=_POLL_SECONDS)
    # Asked of the system too: children of a dead worker, which load its data, may hold its signs.
    return [each for each in busy if each.pipe in ready or not each.is_alive]


def _dismiss(team: Sequence[_Worker]) -> None:
    """Let all go when they have saved their work; a second Ctrl-C ends them at once."""
    try:
        for worker in team:
            worker.ask_to_stop()
        for worker in team:
            worker.process.join()
            worker.pipe.close()
    except KeyboardInterrupt:
        _kill(team)
        raise


def _kill(team: Sequence[_Worker]) -> None:
    for worker in team:
        worker.process.kill()


def _cause_of_death(status: int | None) -> str:
    """What is said of a process that left its work unfinished.

    Example:
        >>> _cause_of_death(1)
        'its process ended with exit status 1 in the middle of it; what that process printed says \
why. Run the same command again to go on from the last checkpoint.'
    """
    if status is None or status >= 0:
        return (
            f"its process ended with exit status {status} in the middle of it; what that process "
            "printed says why. Run the same command again to go on from the last checkpoint."
        )
    known = {each.value: each.name for each in signal.Signals}
    return (
        f"its process was killed by {known.get(-status, f'signal {-status}')}, perhaps because "
        "memory ran out; run the same command again to go on from the last checkpoint, with fewer "
        "--jobs if memory is short."
    )


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """A terminal's Ctrl-C reaches every process; the parent decides, so workers never hear it."""
    resource_tracker.ensure_running()  # which lets signals through again when it is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# In the worker


def _serve(pipe: Connection, modalities: Mapping[str, str], gpu: str | None) -> None:
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu  # before CUDA looks, when it is first used
    forget_launch()  # a launcher's group, if any, is the parent's
    expect(modalities)
    torch.set_num_threads(1)
    # What there is to say about the data was said before the first run, once.
    DATA_LOG.setLevel(logging.ERROR)
    stop, orders = threading.Event(), queue.SimpleQueue[bytes]()

    def stop_worker(*_: object) -> None:
        stop.set()
        orders.put(_STOP)

    # From others than the parent, such as a scheduler that ends the whole group.
    signal.signal(signal.SIGTERM, stop_worker)
    threading.Thread(target=_listen, args=(pipe, orders, stop), daemon=True).start()
    while not stop.is_set() and (order := orders.get()) != _STOP:
        answer = _answer(order, stop)
        # With the answer the parent learns whether another order would be lost on this process.
        leaves = stop.is_set()
        pipe.send_bytes(pickle.dumps((leaves, answer)))
        if leaves:
            return


def _listen(pipe: Connection, orders: queue.SimpleQueue[bytes], stop: threading.Event) -> None:
    """Pass on what the parent says, and end with it.

    A worker whose parent was killed ends at once, as if it had been killed too: what it writes is
    whole or not there.
    """
    while True:
        try:
            order = pipe.recv_bytes()
        except (EOFError, OSError):
            os._exit(1)
        if order == _STOP:
            stop.set()
        orders.put(order)


def _answer(order: bytes, stop: threading.Event) -> bytes:
    """Do the work; what is sent back is the error that it came to, or nothing."""
    try:
        make, wait = pickle.loads(order)
        make(Context(should_stop=stop.is_set, wait=wait))
    except Exception as error:
        return _pickled(error)
    return pickle.dumps(None)


def _pickled(error: Exception) -> bytes:
    if not isinstance(error, TawtError):
        error.add_note(f"In a worker:\n{traceback.format_exc()}")
    return pickle.dumps(portable(error))
