"""Rows of a table with several seeds: the runs that they are, each in a folder of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.config.rows import ROWS
from tawt.paths import slug
from tawt.runs.folder import DATA, RECORD, RunFolder
from tawt.sweeps.runs import TrainRun
from tawt.sweeps.store import RecordStore
from tawt.sweeps.work import Plan, Work

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tawt.config.rows import Row
    from tawt.config.schema import RunConfig
    from tawt.runs import Options

SHARED = "clusters"
"""The folder of what several runs need and one makes for all."""


def run_key(row: Row, seed: int) -> str:
    """What a row's run with a seed is called in the folder."""
    return f"{slug(row.name)}/{seed}"


def run_folder(folder: Path, row: Row, seed: int) -> RunFolder:
    """Where a row's run with a seed is."""
    return RunFolder(folder / run_key(row, seed))


def applied(row: Row, config: RunConfig, seed: int, folder: Path) -> RunConfig:
    """The configuration of a row's run, weights taken over from another row's where it says so."""
    learned = None
    if row.weights_from is not None:
        learned = run_folder(folder, ROWS[row.weights_from], seed).record()["weights"]
    return row.applied(config, seed=seed, learned=learned)


def check_data(run: RunFolder, data: Mapping[str, Any]) -> None:
    """Refuse a finished run of other data than there is now.

    Args:
        run: Of the first seed.
        data: Size and fingerprint of every task's examples with that seed.

    Raises:
        RunError: Naming the task whose examples changed.
    """
    known = files.read_json(run.path / DATA)
    used = known if isinstance(known, dict) else {}
    run.check_data({name: found for name, found in data.items() if name in used})


@dataclass(frozen=True, kw_only=True)
class RowRuns:
    """The runs of a question: every row with every seed.

    Args:
        config: What all runs share.
        folder: Holds a folder for each run.
        rows: Of the table.
        seeds: Of each row.
        options: How to run.
        sizes: Training examples of each task.
        data: Size and fingerprint of every task's examples with the first seed.
    """

    config: RunConfig
    folder: Path
    rows: Sequence[Row]
    seeds: Sequence[int]
    options: Options
    sizes: Mapping[str, int]
    data: Mapping[str, Any]
    store: RecordStore = field(init=False)

    def __post_init__(self) -> None:
        store = RecordStore(self.folder, f"{{}}/{RECORD}", sealed=True)
        object.__setattr__(self, "store", store)

    def plan(self) -> Plan:
        """The runs; those that take over weights are known when these are there."""
        ready = [
            (row, seed)
            for seed in self.seeds
            for row in self.rows
            if row.weights_from is None
            or self.store.find(run_key(ROWS[row.weights_from], seed)) is not None
        ]
        later = len(self.rows) * len(self.seeds) - len(ready)
        return Plan([self._work(row, seed) for row, seed in ready], later)

    def check(self) -> None:
        """Refuse what is in the folders of the runs, if it is something else; touch nothing.

        Raises:
            RunError: A run there has another configuration or other data.
        """
        for row in self.rows:
            for seed in self.seeds if row.weights_from is None else ():
                run, overwrite = run_folder(self.folder, row, seed), self.options.overwrite
                run.check(row.applied(self.config, seed=seed), resume=True, overwrite=overwrite)
                if run.finished and seed == self.seeds[0] and not overwrite:
                    check_data(run, self.data)

    def clear(self) -> None:
        """Make room for all runs; what must not be touched is found before the first is."""
        runs = [run_folder(self.folder, row, seed) for seed in self.seeds for row in self.rows]
        for run in runs:
            run.check(self.config, resume=False, overwrite=True)
        for run in runs:
            with run.locked():
                run.clear()

    def _work(self, row: Row, seed: int) -> Work:
        config = applied(row, self.config, seed, self.folder)
        run = run_folder(self.folder, row, seed)
        run.check(config, resume=True, overwrite=False)
        options = replace(
            self.options,
            resume=True,
            overwrite=False,
            shared=self.folder / SHARED,
            save_page=False,
        )
        return Work(
            key=run_key(row, seed),
            name=config.name,
            make=TrainRun(config, run.path, options),
            size=_examples_seen(config, self.sizes),
        )


def _examples_seen(config: RunConfig, sizes: Mapping[str, int]) -> int:
    """By a run, roughly; the longest runs are begun first."""
    target = sum(sizes[name] for name in config.targets) * config.target_epochs
    sources = sum(size for name, size in sizes.items() if name not in config.targets)
    if config.paradigm == "single-task":
        return target
    if config.paradigm == "pre-training":
        return config.epochs * sources + target
    joint = config.epochs * sum(sizes.values())
    return joint + target if config.paradigm == "joint then fine-tuning" else joint
