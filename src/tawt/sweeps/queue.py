"""Many runs on one machine, several at a time."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import torch

from tawt.errors import FolderInUse, Interrupted, RunError, TawtError
from tawt.modality.registry import expect, registered
from tawt.modality.said import DATA_LOG
from tawt.runs.run import Options, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from types import FrameType

    from tawt.config.schema import RunConfig

_POLL_SECONDS = 0.2
_stop = threading.Event()
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Job:
    """A run to be made, and where."""

    config: RunConfig
    path: Path


def run_all(
    jobs: Sequence[Job],
    *,
    workers: int,
    options: Options,
    should_stop: Callable[[], bool],
    on_done: Callable[[Job], None],
) -> None:
    """Make every run; those that fail are named when the others are done.

    Runs that other processes are making are left for last, and waited for.

    Raises:
        Interrupted: A stop was asked for; runs in flight have saved their state.
        TawtError: A run failed; the others were finished first.
    """
    elsewhere: list[Job] = []

    def sort_out(job: Job, done: bool) -> None:
        if done:
            on_done(job)
        else:
            elsewhere.append(job)

    for patience in (options, replace(options, wait=True)):
        left = jobs if patience is options else elsewhere
        if left:
            do_all(
                partial(_made, options=patience),
                left,
                workers=min(workers, len(left)),
                called=lambda job: job.config.name,
                should_stop=should_stop,
                on_done=sort_out,
            )


def do_all(
    work: Callable[[T, Callable[[], bool]], R],
    items: Sequence[T],
    *,
    workers: int,
    called: Callable[[T], str],
    should_stop: Callable[[], bool],
    on_done: Callable[[T, R], None],
) -> None:
    """Do the same work for many items; failures are named when the others are done.

    Each worker computes on one thread, so that results do not depend on how many there are.

    Args:
        work: What to do for an item, and to stop when the function it is given says so. It is
            sent to other processes, so it has to have a name there.
        items: What to do it for.
        workers: Items at a time.
        called: What to call an item in a message.
        should_stop: Asked now and then.
        on_done: Told an item, and what came of it.

    Raises:
        Interrupted: A stop was asked for.
        TawtError: Work failed; the rest was finished first.
    """
    context = multiprocessing.get_context("spawn")
    failures: list[str] = []
    with ProcessPoolExecutor(
        workers,
        mp_context=context,
        initializer=_prepare_worker,
        initargs=(registered(),),
    ) as pool:
        # A terminal's Ctrl-C reaches every process. Workers are born deaf to it: the parent
        # decides, and tells them by SIGTERM.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pending = {pool.submit(_work, work, item): item for item in items}
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        try:
            for future in _as_completed(set(pending), should_stop):
                if (failure := _failure(future)) is not None:
                    failures.append(f"{called(pending[future])}: {failure}")
                else:
                    on_done(pending[future], future.result())
        except BaseException as error:
            _end(
                pool, ask=isinstance(error, Interrupted), kill=isinstance(error, KeyboardInterrupt)
            )
            raise
    if failures:
        raise TawtError(f"{len(failures)} of {len(items)} runs failed; the first: {failures[0]}")


def _end(pool: ProcessPoolExecutor, *, ask: bool, kill: bool) -> None:
    """Wait for the workers, which may be asked to stop; a second Ctrl-C ends them at once."""
    workers = list(pool._processes.values())
    try:
        for worker in workers if ask else ():
            worker.terminate()  # SIGTERM, which workers take as a request
        for worker in workers if kill else ():
            worker.kill()
        # Waited for here: a pool that the interpreter's exit finds half shut complains there.
        pool.shutdown(wait=True, cancel_futures=True)
    except KeyboardInterrupt:
        for worker in workers:
            worker.kill()
        raise


def _failure(future: Future[R]) -> TawtError | None:
    """What the user has to hear of when all is done; what is nobody's mistake is raised at once."""
    error = future.exception()
    if isinstance(error, BrokenProcessPool):
        raise RunError(
            "A worker process died (was it out of memory?); run the same command again to go on, "
            "with fewer --jobs."
        ) from error
    if error is not None and not isinstance(error, TawtError):
        raise error
    return error


def _as_completed(futures: set[Future[R]], should_stop: Callable[[], bool]) -> Iterator[Future[R]]:
    while futures:
        done, futures = wait(futures, timeout=_POLL_SECONDS, return_when="FIRST_COMPLETED")
        yield from done
        if should_stop():
            raise Interrupted("Stopped as asked; run the same command again to go on.")


def _prepare_worker(modalities: Mapping[str, str]) -> None:
    expect(modalities)
    torch.set_num_threads(1)
    # What there is to say about the data was said before the first run, once.
    DATA_LOG.setLevel(logging.ERROR)
    signal.signal(signal.SIGTERM, _ask_to_stop)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever.

    It ends at once, as if it had been killed too: what it writes is whole or not there.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _ask_to_stop(number: int, frame: FrameType | None) -> None:
    _stop.set()


def _work(work: Callable[[T, Callable[[], bool]], R], item: T) -> R:
    return work(item, _stop.is_set)


def _made(job: Job, should_stop: Callable[[], bool], *, options: Options) -> bool:
    """Make a run; false if another process is at it."""
    try:
        run(job.config, job.path, options=options, should_stop=should_stop)
    except FolderInUse:
        return False
    return True
