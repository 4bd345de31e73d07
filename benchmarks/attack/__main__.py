"""Kill running commands at random moments, and hold what they leave to an undisturbed run.

`python -m benchmarks.attack` makes a hundred kills and more over train, compare and distance,
prints a line for each, and writes its record to `docs/results/attack.md`; `--kills 10 --out FILE`
fewer, elsewhere. It exits with 1 if anything is not as it should be.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import torch

from benchmarks import machine
from benchmarks.attack.cases import Case, cases
from benchmarks.attack.forks import Forks
from benchmarks.attack.record import Record
from benchmarks.attack.rounds import Arena, Kill, Round

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PAGE = Path(__file__).parents[2] / "docs" / "results" / "attack.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, attack, print, write; returns the exit status."""
    options = _parser().parse_args(arguments)
    began = time.monotonic()
    rounds = attack(options.kills, seed=options.seed, lanes=options.lanes, names=options.case)
    record = Record(
        day=datetime.now(tz=UTC).date(),
        command=f"python -m benchmarks.attack --kills {options.kills} --seed {options.seed}",
        machine=machine.description(torch.device("cpu")),
        seconds=time.monotonic() - began,
        rounds=rounds,
    )
    record.write(options.out)
    print(f"\n{len(record.kills)} kills in {len(rounds)} folders, {len(record.failures)} failures")
    for failure in record.failures:
        print(f"FAILED {failure}")
    return 1 if record.failures else 0


def attack(kills: int, *, seed: int, lanes: int, names: Iterable[str] | None = None) -> list[Round]:
    """At least so many kills, several folders at a time."""
    made: list[Kill] = []
    rounds: list[Round] = []

    def tell(kill: Kill) -> None:
        made.append(kill)
        more = "".join(f", {each}" for each in (kill.damage, kill.rival) if each)
        print(f"{len(made):4d} {kill.case}: {kill.moment}, {kill.weapon}{more}", flush=True)

    with tempfile.TemporaryDirectory() as place, Forks() as forks:
        chosen = [each for each in cases(Path(place)) if not names or each.name in names]
        arena = Arena(forks, Path(place, "work"), seed=seed, on_kill=tell)
        for case in chosen:
            seconds = arena.undisturbed(case).seconds
            print(f"{case.name}: {seconds:.1f} seconds undisturbed", flush=True)
        numbers = count()

        def lane(_: int) -> None:
            while len(made) < kills:
                number = next(numbers)
                rounds.append(arena.round(_case(chosen, seed, number), number))

        with ThreadPoolExecutor(lanes) as pool:
            list(pool.map(lane, range(lanes)))
    return rounds


def _case(chosen: Sequence[Case], seed: int, number: int) -> Case:
    """The first rounds take each once."""
    if number < len(chosen):
        return chosen[number]
    draw = Random(f"{seed}, case {number}")
    return draw.choices(chosen, weights=[case.often for case in chosen])[0]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=main.__doc__)
    parser.add_argument("--kills", type=int, default=120, help="at least so many")
    parser.add_argument("--seed", type=int, default=0, help="of every random choice")
    parser.add_argument("--lanes", type=int, default=os.cpu_count() or 1, help="folders at a time")
    parser.add_argument("--case", action="append", help="of the commands; all by default")
    parser.add_argument("--out", type=Path, default=_PAGE, metavar="FILE", help="the page")
    return parser


if __name__ == "__main__":
    sys.exit(main())
