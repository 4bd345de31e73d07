"""Clocks that wait for the device, and sides of a comparison taken in turns."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, TypeVar

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Outcome = TypeVar("Outcome")


def now(device: torch.device) -> float:
    """Seconds, once everything that was asked of the device is done.

    On a GPU, and on a CPU with several threads, these are seconds of the wall clock. With one
    thread they are seconds of work by this process: the same on an idle machine, and on a busy
    one not lengthened by the turns that other programs take.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif torch.get_num_threads() == 1:
        return time.process_time()
    return time.perf_counter()


def seconds(action: Callable[[], object], *, device: torch.device) -> float:
    """How long an action takes."""
    start = now(device)
    action()
    return now(device) - start


def in_turns(
    sides: Mapping[str, Callable[[], Outcome]], *, repeats: int, warm_up: int = 1
) -> dict[str, list[Outcome]]:
    """What each side returns, over repeats in which every side has its turn.

    A slow spell of the machine then falls on all sides alike. The order is turned round at every
    repeat, so that no side always follows the same other.

    Args:
        sides: What to run, by name.
        repeats: How often.
        warm_up: Rounds before that, whose outcomes are dropped.
    """
    outcomes: dict[str, list[Outcome]] = {name: [] for name in sides}
    order = list(sides)
    for repeat in range(-warm_up, repeats):
        for name in order:
            outcome = sides[name]()
            if repeat >= 0:
                outcomes[name].append(outcome)
        order.reverse()
    return outcomes


def medians(runs: list[list[float]]) -> list[float]:
    """The median of each position over the runs."""
    return [median(position) for position in zip(*runs, strict=True)]
