"""Ways of training beside each other, over several seeds, with tests of their differences."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tawt import files
from tawt.compare import folder as comparison_folder
from tawt.compare.folder import COMPARISON
from tawt.compare.page import comparison_page
from tawt.compare.same_rows import Start, same_rows
from tawt.compare.tables import markdown
from tawt.compare.tabulating import tabulated
from tawt.config.rows import chosen
from tawt.errors import ConfigError, TawtError
from tawt.files import locks
from tawt.modality.said import DATA_LOG
from tawt.runs import building
from tawt.runs.folder import PAGE
from tawt.sweeps.row_runs import RowRuns
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
        rows: Names from `ROWS`; by default the target alone, equal weights and learned ones. Rows
            that would be the same runs as others are left out.
        seeds: One run of each row for each.
        options: How to run.
        sweep: How to make many.
    """
    table = chosen(rows, config)
    chosen_device(options.device)  # the workers would all find that it is not there
    question = _checked(config, folder, table, seeds=seeds, options=options)
    comparison_folder.check(folder, config, overwrite=options.overwrite)
    claim = comparison_folder.claim_of(folder, config, overwrite=options.overwrite)
    claim.write_config(should_stop=sweep.should_stop)
    if options.overwrite:
        question.runs.clear()
    sweep.make(question.runs.plan, question.runs.store)
    with locks.locked(folder, wait_unless=sweep.should_stop):
        return question.answer()


@dataclass(frozen=True, kw_only=True)
class _Question:
    """Rows and seeds: the runs that they want, and the table that these come to."""

    runs: RowRuns
    left_out: Mapping[str, str]

    def answer(self) -> Comparison:
        """The table, left with its page; only the folder's writer may call this."""
        runs = self.runs
        rows = comparison_folder.with_earlier_rows(
            runs.folder,
            runs.rows,
            runs.config,
            seeds=runs.seeds,
            data=runs.data,
            left_out=self.left_out,
        )
        comparison = tabulated(
            runs.folder, runs.config, rows, list(runs.seeds), left_out=self.left_out
        )
        files.write_sealed(runs.folder / COMPARISON, asdict(comparison))
        files.write(runs.folder / MARKDOWN, markdown(comparison))
        files.write(runs.folder / PAGE, comparison_page(comparison, runs.folder))
        return comparison


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
    runs = RowRuns(
        config=config,
        folder=folder,
        rows=[row for row in table if row.name not in left_out],
        seeds=seeds,
        options=options,
        sizes={task.name: len(task.train) for task in tasks},
        data=building.fingerprints(tasks),
    )
    runs.check()
    return _Question(runs=runs, left_out=left_out)


def _left_out(
    config: RunConfig, folder: Path, table: Sequence[Row], tasks: Sequence[Task], *, seed: int
) -> dict[str, str]:
    """Rows that would be the same runs as others; those asked for stand for those there before.

    Raises:
        TawtError: A row cannot be run.
    """
    model = building.model(config, tasks)
    starts: dict[str, Start] = {}
    remarks: dict[str, None] = {}
    earlier = [row for row in comparison_folder.earlier_rows(folder) if row not in table]
    with tempfile.TemporaryDirectory() as shared:
        for row in (*table, *earlier):
            applied = row.applied(config, seed=seed)
            try:
                weighting, how = building.fitted(applied, tasks, model, shared=Path(shared))
            except TawtError:
                if row in table:
                    raise
                continue  # that it no longer fits is said when the table is made
            remarks |= dict.fromkeys(building.remarks(applied, tasks, weighting, how))
            if row.weights_from is None:
                starts[row.name] = Start.of(applied, weighting)
    for remark in remarks:
        DATA_LOG.warning("%s", remark)
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
