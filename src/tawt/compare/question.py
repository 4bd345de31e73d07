"""Ways of training beside each other, over several seeds, with tests of their differences."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tawt import files
from tawt.compare import folder as comparison_folder
from tawt.compare.folder import SHARED, run_folder, run_key
from tawt.compare.page import comparison_page
from tawt.compare.same_rows import Start, same_rows
from tawt.compare.tables import markdown
from tawt.compare.tabulating import tabulated
from tawt.config.rows import ROWS, chosen
from tawt.errors import ConfigError, TawtError
from tawt.files import locks
from tawt.runs import building
from tawt.runs.folder import COMPARISON, PAGE, RECORD
from tawt.sweeps import Plan, Store, TrainRun, Work
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.compare.comparison import Comparison
    from tawt.config.rows import Row
    from tawt.config.schema import RunConfig
    from tawt.runs.run import Options
    from tawt.sweeps import Sweep
    from tawt.tasks import Task

MARKDOWN = "comparison.md"


def compare(
    config: RunConfig,
    folder: Path,
    *,
    rows: Sequence[str] | None,
    seeds: Sequence[int],
    options: Options,
    sweep: Sweep,
) -> Comparison:
    """Make the runs that are not made yet, and leave the table and its page.

    Several processes may compare in one folder: a run that another is making is waited for, and
    the table keeps the rows that it has.

    Args:
        config: What all runs share.
        folder: Holds a folder for each run.
        rows: Names from `ROWS`; those that make sense for the configuration by default. Rows that
            would be the same runs as others are left out.
        seeds: One run of each row for each.
        options: How to run.
        sweep: How to make many.
    """
    table = chosen(rows, config)
    chosen_device(options.device)  # the workers would all find that it is not there
    question = _checked(config, folder, table, seeds=seeds, options=options)
    comparison_folder.claim(
        folder, config, overwrite=options.overwrite, should_stop=sweep.should_stop
    )
    if options.overwrite:
        question.clear()
    sweep.make(question.plan, question.store)
    with locks.locked(folder, wait_unless=sweep.should_stop):
        return question.answer()


@dataclass(frozen=True, kw_only=True)
class _Question:
    """Rows and seeds: the runs that they want, and the table that these come to."""

    config: RunConfig
    folder: Path
    rows: Sequence[Row]
    left_out: Mapping[str, str]
    seeds: Sequence[int]
    options: Options
    sizes: Mapping[str, int]
    """Training examples of each task."""
    data: Mapping[str, Any]
    """Size and fingerprint of every task's examples with the first seed."""
    store: Store

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

    def answer(self) -> Comparison:
        """The table, left with its page; only the folder's writer may call this."""
        rows = comparison_folder.with_earlier_rows(
            self.folder,
            self.rows,
            self.config,
            seeds=self.seeds,
            data=self.data,
            left_out=self.left_out,
        )
        comparison = tabulated(
            self.folder, self.config, rows, list(self.seeds), left_out=self.left_out
        )
        files.write_sealed(self.folder / COMPARISON, asdict(comparison))
        files.write(self.folder / MARKDOWN, markdown(comparison))
        files.write(self.folder / PAGE, comparison_page(comparison, self.folder))
        return comparison

    def clear(self) -> None:
        """Make room for all runs; what must not be touched is found before the first is."""
        runs = [run_folder(self.folder, row, seed) for seed in self.seeds for row in self.rows]
        for run in runs:
            run.check(self.config, resume=False, overwrite=True)
        for run in runs:
            with run.locked():
                run.clear()

    def _work(self, row: Row, seed: int) -> Work:
        config = comparison_folder.applied(row, self.config, seed, self.folder)
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


def _checked(
    config: RunConfig,
    folder: Path,
    table: Sequence[Row],
    *,
    seeds: Sequence[int],
    options: Options,
) -> _Question:
    """Find what cannot be run before anything is written, and what need not be run."""
    target = config.target
    if not isinstance(target, str):
        raise ConfigError("A comparison has one target; `target` names several.")
    tasks = building.tasks(config.model_copy(update={"seed": seeds[0]}))
    if all(task.test is None for task in tasks if task.name == target):
        raise ConfigError(f"A comparison is made on test examples; {target!r} has none.")
    left_out = _left_out(config, folder, table, tasks, seed=seeds[0])
    question = _Question(
        config=config,
        folder=folder,
        rows=[row for row in table if row.name not in left_out],
        left_out=left_out,
        seeds=seeds,
        options=options,
        sizes={task.name: len(task.train) for task in tasks},
        data=building.fingerprints(tasks),
        store=Store(folder, f"{{}}/{RECORD}", sealed=True),
    )
    for row in question.rows:
        for seed in seeds if row.weights_from is None else ():
            run = run_folder(folder, row, seed)
            run.check(row.applied(config, seed=seed), resume=True, overwrite=options.overwrite)
            if run.finished and seed == seeds[0] and not options.overwrite:
                comparison_folder.check_data(run, question.data)
    return question


def _left_out(
    config: RunConfig, folder: Path, table: Sequence[Row], tasks: Sequence[Task], *, seed: int
) -> dict[str, str]:
    """Rows that would be the same runs as others; those asked for stand for those there before.

    Raises:
        TawtError: A row cannot be run.
    """
    model = building.model(config, tasks)
    starts: dict[str, Start] = {}
    earlier = [row for row in comparison_folder.earlier_rows(folder) if row not in table]
    with tempfile.TemporaryDirectory() as shared:
        for row in (*table, *earlier):
            applied = row.applied(config, seed=seed)
            try:
                weighting, _ = building.fitted(applied, tasks, model, shared=Path(shared))
            except TawtError:
                if row in table:
                    raise
                continue  # that it no longer fits is said when the table is made
            if row.weights_from is None:
                starts[row.name] = Start.of(applied, weighting)
    among_asked = same_rows(table, starts)
    kept = [row for row in table if row.name not in among_asked]
    doubles = {
        row.name: other.name
        for row in earlier
        if row.name in starts
        for other in kept
        if other.name in starts and starts[other.name].is_same(starts[row.name])
    }
    return among_asked | doubles


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
