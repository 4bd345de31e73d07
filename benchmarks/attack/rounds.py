"""A round: a folder, some strikes at commands that write to it, and an undisturbed end."""

from __future__ import annotations

import shutil
import signal
import time
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from benchmarks.attack.cases import Case, outcome, torn
from benchmarks.attack.forks import Forks, Running, real
from benchmarks.attack.strikes import damage, damaged_file, drawn, strike

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_HANGS = 600.0
_GOES_ON_FROM = "going on from the one before"
_IN_USE = "is being written by"


@dataclass(frozen=True)
class Reference:
    """What an undisturbed command takes and leaves."""

    seconds: float
    outcome: dict[str, Any]


@dataclass
class Kill:
    """One kill, for the record."""

    case: str
    moment: str
    weapon: str
    damage: str | None = None
    rival: str | None = None


@dataclass
class Round:
    """What came of a round."""

    case: str
    kills: list[Kill] = field(default_factory=list)
    ended_before: int = 0
    """Strikes that came too late."""
    failures: list[str] = field(default_factory=list)


class Arena:
    """Makes rounds.

    Args:
        forks: Starts processes.
        folder: For all that is left behind.
        seed: Of every random choice.
        on_kill: Told of each.
    """

    def __init__(
        self, forks: Forks, folder: Path, *, seed: int, on_kill: Callable[[Kill], None]
    ) -> None:
        self._forks, self._folder, self._seed = forks, folder, seed
        self._on_kill = on_kill
        self._references: dict[str, Reference] = {}

    def undisturbed(self, case: Case) -> Reference:
        """Run a command once without a strike."""
        folder = self._folder / "undisturbed" / case.name
        began = time.monotonic()
        process = self._forks.start(case.arguments(folder), folder.with_name(f"{case.name} notes"))
        if process.ended(seconds=_HANGS) != 0:
            raise RuntimeError(f"{case.name} fails even undisturbed: {process.said}")
        found = Reference(time.monotonic() - began, outcome(folder))
        self._references[case.name] = found
        return found

    def round(self, case: Case, number: int) -> Round:
        """Strike several times, end in peace, compare."""
        draw = Random(f"{self._seed}, round {number}")
        place = self._folder / f"round {number}"
        found = Round(case.name)
        try:
            self._attacked(case, place, draw, found)
        except (OSError, RuntimeError) as error:  # a process that hangs, or cannot be started
            found.failures.append(f"{type(error).__name__}: {error}")
        if not found.failures:
            shutil.rmtree(place, ignore_errors=True)
        return found

    def _attacked(self, case: Case, place: Path, draw: Random, found: Round) -> None:
        folder = place / "folder"
        for attempt in range(draw.randint(1, 5)):
            kill = self._struck(case, place, draw, found, attempt=attempt)
            if kill is None:
                found.ended_before += 1
                break
            if case.command == "train" and draw.random() < 0.35:
                kill.damage = damage(folder, draw)
            found.kills.append(kill)
            self._on_kill(kill)
        last = self._started(case, place, "the last", real_one=False)
        status = last.ended(seconds=_HANGS)
        damaged = found.kills and found.kills[-1].damage and not found.ended_before
        if status != 0:
            found.failures.append(f"going on ended with {status}: {last.said.strip()}")
        elif damaged and _GOES_ON_FROM not in last.said:
            found.failures.append(f"nothing was said of a damaged checkpoint: {last.said!r}")
        found.failures += _differences(outcome(folder), self._references[case.name].outcome)

    def _struck(
        self, case: Case, place: Path, draw: Random, found: Round, *, attempt: int
    ) -> Kill | None:
        """Start the command and strike at it; none if it came to an end before."""
        folder = place / "folder"
        process = self._started(case, place, f"attempt {attempt}", real_one=draw.random() < 0.1)
        has_workers = case.command != "train" and "--no-training" not in case.options
        seconds = self._references[case.name].seconds
        plan = drawn(draw, seconds=seconds, has_workers=has_workers)
        rival = None
        if draw.random() < 0.15:
            rival = self._forks.start(case.arguments(folder), place / f"rival {attempt}")
        killed = strike(plan, process, folder)
        _check_said(process, found)
        kill = Kill(case.name, plan.moment, plan.weapon)
        if rival is not None:
            kill.rival = _ended_rival(rival, found)
        if not process.group_ended(seconds=60):
            found.failures.append("workers outlived their parent by a minute")
        damaged = {damaged_file(folder)} if any(each.damage for each in found.kills) else set()
        found.failures += [f"{name} is torn" for name in torn(folder, but=damaged)]
        return kill if killed else None

    def _started(self, case: Case, place: Path, notes: str, *, real_one: bool) -> Running:
        start = real if real_one else self._forks.start
        return start(case.arguments(place / "folder"), place / notes)


def _check_said(process: Running, found: Round) -> None:
    """No traceback, whatever happened; a stop in order is 130, and anything else a kill or 0.

    A signal ends a command at once as long as it has not begun; Ctrl-C in the start of Python
    itself leaves Python's traceback.
    """
    if "Traceback" in process.said and process.status != -signal.SIGINT:
        found.failures.append(f"a traceback: {process.said.strip()[-400:]}")
    allowed = {0, 130, -signal.SIGINT, -signal.SIGKILL, -signal.SIGTERM}
    refused = process.status == 2 and _IN_USE in process.said
    if process.status not in allowed and not refused:
        found.failures.append(f"ended with {process.status}: {process.said.strip()[-400:]}")


def _ended_rival(rival: Running, found: Round) -> str:
    """A second command in the same folder: it shares the work, or says why not."""
    status = rival.ended(seconds=_HANGS)
    if not rival.group_ended(seconds=60):
        found.failures.append("workers of a rival outlived it by a minute")
    if status == 0:
        return "went on"
    if status == 2 and _IN_USE in rival.said:
        return "was refused"
    found.failures.append(f"a rival ended with {status}: {rival.said.strip()[-400:]}")
    return "failed"


def _differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    def how(name: str) -> str:
        if name not in found:
            return "not there"
        return "different" if name in expected else "left over"

    names = sorted({*found, *expected})
    return [f"{name} is {how(name)}" for name in names if found.get(name) != expected.get(name)]
