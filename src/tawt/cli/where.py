"""Where runs are made, as it is said when they begin."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from tawt.cli import console
from tawt.launch import this_launch
from tawt.training.devices import chosen_device, device_name

if TYPE_CHECKING:
    from tawt.sweeps import Progress, Sweep


def run_place(device: torch.device) -> str:
    """Where one run is trained.

    Args:
        device: Of this process.
    """
    several = this_launch()
    together = f", in {several.processes} processes" if several.is_one_of_several else ""
    return f"Training on {_named(device, threads=torch.get_num_threads())}{together}."


def sweep_place(sweep: Sweep, device: str) -> str:
    """Where many runs are trained.

    Args:
        sweep: How they are made; each on one thread.
        device: What the user wants.
    """
    place = chosen_device(device)
    if sweep.gpus:
        named = f"{len(sweep.gpus)} GPUs ({device_name(place)})"
    else:
        named = _named(place, threads=1)
    at_once = "1 run" if sweep.workers == 1 else f"{sweep.workers} runs"
    return f"Training on {named}, {at_once} at a time."


def _named(device: torch.device, *, threads: int) -> str:
    if device.type != "cpu":
        return device_name(device)
    return f"cpu ({threads} thread{'' if threads == 1 else 's'})"


def announced(sweep: Sweep, device: str, *, quiet: bool) -> Sweep:
    """The sweep, saying where runs are made before the first of them is.

    Args:
        sweep: How they are made, and who is told of progress.
        device: What the user wants.
        quiet: Whether it says nothing.
    """
    if quiet:
        return sweep
    return replace(sweep, on_progress=_Announcing(sweep, device))


@dataclass
class _Announcing:
    """Progress of a sweep, with a sentence before the first run."""

    sweep: Sweep
    device: str
    _is_said: bool = False

    def __call__(self, now: Progress) -> None:
        if not self._is_said and now.done < now.total:  # else all is there, and nothing is made
            self._is_said = True
            console.note(sweep_place(self.sweep, self.device))
        self.sweep.on_progress(now)
