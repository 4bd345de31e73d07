"""Joining the processes that a launcher started, and leaving them, whatever happens.

Processes that wait for each other must not wait for one that has failed. Who fails says so in the
group's store, before its connections end and wake those that wait: so these know that all was said.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from accelerate.state import PartialState
from torch import distributed as dist

from tawt.training.devices import wanted_device

_FAILED, _STATUS, _GONE = "tawt/failed", "tawt/status", "tawt/gone"
_POLL_SECONDS = 0.02


def join_group(device: str) -> None:
    """Have the processes that a launcher started meet, before any of them reads or writes.

    Args:
        device: As in `accelerator_for`, which would have them meet later.
    """
    wanted = wanted_device(device)
    PartialState(cpu=wanted is not None and wanted.type == "cpu")


def leave_group() -> None:
    """Part when all have come to their end, which is that of the program as well.

    A group of gloo's is left to the end of the process: taking it apart aborted one process in some
    dozens, with all of them waiting for each other before. End it by `os._exit`.
    """
    state = PartialState()
    state.wait_for_everyone()
    if dist.get_backend() != "gloo":
        state.destroy_process_group()


def is_joined() -> bool:
    """Whether this process is in a group with others that it has not left."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def fails_first() -> bool:
    """Say that this process fails; whether none of the others has said so before."""
    try:
        return bool(_store().add(_FAILED, 1) == 1)
    except RuntimeError:  # whoever kept the store is gone
        return True


def agree_on_status(status: int, *, is_first: bool, seconds: float = 2.0) -> int:
    """The exit status of the process that failed first.

    Then give the others time to fail as well: a launcher ends those that are left when one ends.

    Args:
        status: Of this process.
        is_first: Whether it is that one.
        seconds: To wait for the others.
    """
    try:
        store = _store()
        if is_first:
            store.set(_STATUS, str(status))
        else:
            store.wait([_STATUS], timedelta(seconds=seconds))
            status = int(store.get(_STATUS))
        gone, until = store.add(_GONE, 1), time.monotonic() + seconds
        while gone < dist.get_world_size() and time.monotonic() < until:
            time.sleep(_POLL_SECONDS)
            gone = store.add(_GONE, 0)
        if dist.get_rank() == 0:  # which may keep the store: the others must have read it
            time.sleep(10 * _POLL_SECONDS)
    except RuntimeError:  # whoever kept the store is gone, and this need not wait
        pass
    return status


def _store() -> Any:
    return dist.distributed_c10d._get_default_store()
