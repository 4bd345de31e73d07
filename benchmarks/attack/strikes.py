"""When and how a process is struck, and what is done to its checkpoint afterwards."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from random import Random

    from benchmarks.attack.forks import Running

Moment = Literal["any", "writing", "start"]
Weapon = Literal["SIGKILL", "SIGINT, SIGKILL", "SIGTERM, SIGKILL", "SIGKILL to the parent alone"]
_LAST = Path("checkpoints", "state.safetensors")
_PREVIOUS = Path("checkpoints", "previous.safetensors")


@dataclass(frozen=True)
class Strike:
    """One attempt on a process."""

    moment: Moment
    weapon: Weapon
    seconds: float
    """After its start, at any moment; or between two signals."""
    writes: int
    """How many files are let pass before the one that is struck at."""


def drawn(draw: Random, *, seconds: float, has_workers: bool) -> Strike:
    """A strike by chance.

    Args:
        draw: The chance.
        seconds: That an undisturbed command takes.
        has_workers: Whether the command has processes of its own.
    """
    moments: list[Moment] = ["any", "any", "writing", "writing", "start"]
    weapons: list[Weapon] = ["SIGKILL"] * 5 + ["SIGINT, SIGKILL", "SIGTERM, SIGKILL"]
    if has_workers:
        weapons += ["SIGKILL to the parent alone"]
    return Strike(
        draw.choice(moments), draw.choice(weapons), draw.uniform(0, seconds), draw.randrange(12)
    )


def strike(plan: Strike, process: Running, folder: Path) -> bool:
    """Wait for the moment and kill; whether it was the kill that ended the process."""
    _wait(plan, process, folder)
    alone = plan.weapon == "SIGKILL to the parent alone"
    first = {"SIGINT, SIGKILL": signal.SIGINT, "SIGTERM, SIGKILL": signal.SIGTERM}.get(plan.weapon)
    if first is not None and process.status is None:
        process.send(first, group=first == signal.SIGINT)  # a terminal sends it to all
        limit = time.monotonic() + plan.seconds % 0.3
        while process.status is None and time.monotonic() < limit:
            time.sleep(0.001)
    if process.status is None:
        process.send(signal.SIGKILL, group=not alone)
    status = process.ended(seconds=120)
    if not alone:
        process.send(signal.SIGKILL, group=True)  # workers that outlived a stop
    return status == -signal.SIGKILL


def _wait(plan: Strike, process: Running, folder: Path) -> None:
    began = time.monotonic()
    if plan.moment == "any":
        while process.status is None and time.monotonic() - began < plan.seconds:
            time.sleep(0.001)
        return
    before, left = _hidden(folder), 0 if plan.moment == "start" else plan.writes
    while process.status is None:
        new = _hidden(folder) - before
        if new and left == 0:
            return
        left -= bool(new)
        before |= new
        time.sleep(0.0002)


def _hidden(folder: Path) -> set[str]:
    """Files that are being written, under their temporary names."""
    found = set()
    for parent, folders, names in os.walk(folder):
        if parent.count(os.sep) - str(folder).count(os.sep) > 3:
            folders.clear()
        found |= {f"{parent}/{name}" for name in names if name.endswith(".partial")}
    return found


def damage(folder: Path, draw: Random) -> str | None:
    """Damage the newest checkpoint, if there is one before it; how it was done."""
    path = folder / _LAST
    if not path.exists() or not (folder / _PREVIOUS).exists():
        return None
    content = bytearray(path.read_bytes())
    how = draw.choice(["a bit flipped", "cut off", "a page of zeros"])
    place = draw.randrange(len(content))
    if how == "a bit flipped":
        content[place] ^= 1 << draw.randrange(8)
    elif how == "cut off":
        del content[place:]
    else:
        page = range(place, min(len(content), place + 4096))
        if not any(content[each] for each in page):
            return None  # they are zeros already
        content[page.start : page.stop] = bytes(len(page))
    with contextlib.suppress(OSError):
        path.write_bytes(content)
    return how


def damaged_file(folder: Path) -> Path:
    """The file that `damage` is done to."""
    return folder / _LAST
