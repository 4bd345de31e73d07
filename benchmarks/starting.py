"""From the command `tawt train` to its first step, on corpora that are tokenised already.

The command is run in a process of its own and ends after the first step of training: Python's own
start, all imports, reading the configuration, the data and the model are in it. The text is that of
the benchmark `tokenising`, as bytes: a source and a small target; the model is the default one. The
process that tokenises is not timed. Times are those of the wall clock, so measure on an idle
machine; the work of the process in all its threads is beside them.

With weights on clusters of windows, those of the source are found before the first step; that is
measured on 100 MB.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import yaml

from benchmarks.finding import Finding
from benchmarks.tokenising import call, text

if TYPE_CHECKING:
    import torch

_GOAL = 5.0
_SIZES = (100, 1000)  # megabytes
_REPEATS = 5

_PROGRAM = """
import os, sys
from tawt.cli.collecting import collect_rarely
collect_rarely()
from tawt.cli import actions, main

def run(config, path, *, on_progress, **rest):
    def stop(progress):
        print("{}", flush=True)
        os._exit(0)
    return whole(config, path, on_progress=stop, **rest)

whole, actions.run = actions.run, run
sys.argv = ["tawt", "train", sys.argv[1], "--out", sys.argv[2], "--overwrite", "--quiet"]
main()
"""


def run(*, device: torch.device, quick: bool) -> list[Finding]:
    """The start with weights on corpora, and on clusters of their windows."""
    del device  # small models start on the CPU
    group = {"unit": "group", "group": {"by": "cluster"}}
    with tempfile.TemporaryDirectory() as name:
        found = []
        for size in (1,) if quick else _SIZES:
            folder = _folder(Path(name), size)
            what = f"until the first step on {size} MB of tokenised text"
            found.append(_measured(folder, {}, what=what, goal=_GOAL))
            if len(found) == 1:
                what = "the same, with weights on clusters of windows"
                found.append(_measured(folder, group, what=what))
        return found


def _folder(parent: Path, size: int) -> Path:
    """With so many megabytes of a source, and a target."""
    folder = parent / f"{size} MB"
    folder.mkdir()
    text(folder, size, name="docs")
    text(folder, 1, name="goal")
    return folder


def _measured(
    folder: Path, weighting: dict[str, Any], *, what: str, goal: float | None = None
) -> Finding:
    corpora = {
        "docs": {"train": "docs.txt", "documents": "blank line"},
        "goal": {"train": "goal.txt", "documents": "blank line", "held_out": {"dev": 0.2}},
    }
    values = {
        "data": {"kind": "corpora", "corpora": corpora, "cache": str(folder / "cache")},
        "target": "goal",
        "paradigm": "sources only",
        "weighting": weighting,
        "training": {"steps": 10},
    }
    config = folder / "run.yaml"
    config.write_text(yaml.safe_dump(values), encoding="utf-8")
    call(_PROGRAM, str(config), str(folder / "run"))
    runs = [call(_PROGRAM, str(config), str(folder / "run")) for _ in range(_REPEATS)]
    seconds = [each["whole"] for each in runs]
    work = [each["whole work"] for each in runs]
    return Finding(
        benchmark="starting",
        what=what,
        value=median(seconds),
        unit="s",
        goal=goal,
        spread=(min(seconds), max(seconds)),
        note=f"{median(work):.1f} s of work",
        numbers={"seconds of wall clock": seconds, "seconds of work": work},
    )
