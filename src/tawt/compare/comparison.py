"""Ways of training beside each other, over several seeds, with tests of their differences."""

from __future__ import annotations

import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt import files
from tawt.compare import folder as comparison_folder
from tawt.compare.folder import CONFIG, SHARED, run_folder
from tawt.config.rows import Row, chosen
from tawt.errors import ConfigError, RunError
from tawt.files import locks, shapes
from tawt.runs import building
from tawt.runs.folder import COMPARISON, RunFolder
from tawt.runs.run import fitted
from tawt.significance import paired_t_test, verdicts
from tawt.sweeps.queue import Job, run_all
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from tawt.config.schema import RunConfig
    from tawt.runs.run import Options
    from tawt.significance import Verdict


@dataclass(frozen=True)
class RowResult:
    """One row of the table."""

    name: str
    scores: list[float]
    """Test score of each seed."""
    mean: float
    spread: float
    """Standard deviation over seeds; 0 for one seed."""
    weights: dict[str, float]
    """Final shares, averaged over seeds."""
    against: str | None = None
    difference: float | None = None
    """Mean score over that of the row it is compared with."""
    wins: int | None = None
    """Seeds on which it is better than that row."""
    p_value: float | None = None
    """Of the paired t-test on test examples, Holm-corrected over the table."""
    p_bootstrap: float | None = None
    """Of the paired bootstrap on test examples, Holm-corrected over the table."""
    interval: tuple[float, float] | None = None
    """95% of the paired bootstrap: the difference in mean score per test example."""
    p_seeds: float | None = None
    """Of the paired t-test on the seeds' scores, uncorrected: would other seeds agree?"""
    learns: bool = False
    """Whether its weights move."""


@dataclass(frozen=True)
class Comparison:
    """A table, and what it was made with."""

    target: str
    metric: str
    seeds: list[int]
    rows: list[RowResult]
    circumstances: dict[str, Any]
    seconds: float
    """Training time of all runs together."""

    def row(self, name: str) -> RowResult | None:
        """The row of that name, if it is in the table."""
        return next((row for row in self.rows if row.name == name), None)


def compare(
    config: RunConfig,
    folder: Path,
    *,
    rows: Sequence[str] | None,
    seeds: Sequence[int],
    workers: int,
    options: Options,
    should_stop: Callable[[], bool],
    on_done: Callable[[int, int], None],
) -> Comparison:
    """Make the runs that are not made yet, and the table.

    Several processes may compare in one folder: a run that another is making is waited for, and
    the table keeps the rows that it has.

    Args:
        config: What all runs share.
        folder: Holds a folder for each run.
        rows: Names from `ROWS`; those that make sense for the configuration by default.
        seeds: One run of each row for each.
        workers: Runs at a time.
        options: How to run.
        should_stop: Asked now and then.
        on_done: Told how many runs of how many are done.
    """
    table = chosen(rows, config)
    chosen_device(options.device)  # the workers would all find that it is not there
    data = _checked(config, folder, table, seeds=seeds, overwrite=options.overwrite)
    comparison_folder.claim(folder, config, overwrite=options.overwrite, should_stop=should_stop)
    total, finished = len(table) * len(seeds), 0
    on_done(finished, total)

    def count(job: Job) -> None:
        nonlocal finished
        finished += 1
        on_done(finished, total)

    for wave in _waves(table):
        jobs = [_job(row, seed, config, folder) for seed in seeds for row in wave]
        open_jobs = _opened(jobs, overwrite=options.overwrite, on_done=count)
        if open_jobs:
            again = replace(options, resume=True, overwrite=False, shared=folder / SHARED)
            run_all(
                open_jobs, workers=workers, options=again, should_stop=should_stop, on_done=count
            )
    with locks.locked(folder, wait_unless=should_stop):
        rows_now = comparison_folder.with_earlier_rows(
            folder, table, config, seeds=seeds, data=data
        )
        comparison = tabulated(folder, config, rows_now, list(seeds))
        files.write_sealed(folder / COMPARISON, asdict(comparison))
    return comparison


def _checked(
    config: RunConfig, folder: Path, table: Sequence[Row], *, seeds: Sequence[int], overwrite: bool
) -> dict[str, Any]:
    """Find what cannot be run before anything is written.

    Returns:
        Size and fingerprint of every task's examples with the first seed.
    """
    target = config.target
    if not isinstance(target, str):
        raise ConfigError("A comparison has one target; `target` names several.")
    tasks = building.tasks(config.model_copy(update={"seed": seeds[0]}))
    if all(task.test is None for task in tasks if task.name == target):
        raise ConfigError(f"A comparison is made on test examples; {target!r} has none.")
    model = building.model(config, tasks)
    with tempfile.TemporaryDirectory() as shared:
        for row in table:
            fitted(row.applied(config, seed=seeds[0]), tasks, model, shared=Path(shared))
    data = building.fingerprints(tasks)
    for row in _waves(table)[0]:
        for seed in seeds:
            run = run_folder(folder, row, seed)
            run.check(row.applied(config, seed=seed), resume=True, overwrite=overwrite)
            if run.finished and seed == seeds[0] and not overwrite:
                comparison_folder.check_data(run, data)
    return data


def _opened(jobs: Sequence[Job], *, overwrite: bool, on_done: Callable[[Job], None]) -> list[Job]:
    """The jobs still to be run; what must not be touched is found before the first is."""
    for job in jobs:
        RunFolder(job.path).check(job.config, resume=True, overwrite=overwrite)
    for job in jobs if overwrite else ():
        folder = RunFolder(job.path)
        with folder.locked():
            folder.open(job.config, resume=True, overwrite=True)
    unfinished = [job for job in jobs if not RunFolder(job.path).finished]
    for job in jobs:
        if job not in unfinished:
            on_done(job)
    return unfinished


def _waves(table: Sequence[Row]) -> list[list[Row]]:
    """Rows that need no other, then those that take over another's weights."""
    first = [row for row in table if row.weights_from is None]
    second = [row for row in table if row.weights_from is not None]
    return [wave for wave in (first, second) if wave]


def _job(row: Row, seed: int, config: RunConfig, folder: Path) -> Job:
    applied = comparison_folder.applied(row, config, seed, folder)
    return Job(applied, run_folder(folder, row, seed).path)


def tabulated(
    folder: Path, config: RunConfig, table: Sequence[Row], seeds: list[int]
) -> Comparison:
    """The table of finished runs."""
    target = next(iter(config.targets))
    runs = {row.name: [run_folder(folder, row, seed) for seed in seeds] for row in table}
    records = {name: [run.record() for run in found] for name, found in runs.items()}
    first = records[table[0].name][0]
    metric = first["metric"][target]
    scores = {
        name: [record["scores"][target]["test"][metric] for record in found]
        for name, found in records.items()
    }
    examples = {name: _examples(found, target) for name, found in runs.items()}
    lengths = {scores.shape for scores in examples.values()}
    if len(lengths) > 1:
        raise RunError("The runs have predictions for different numbers of test examples.")
    if any(score is None for found in scores.values() for score in found):
        raise RunError("A run has no finite test score, so there is nothing to compare.")
    compared = {
        row.name: other
        for row in table
        if (other := row.opponent(config, among=scores)) is not None
    }
    tests = verdicts(
        {name: (examples[name], examples[against]) for name, against in compared.items()}
    )
    return Comparison(
        target=target,
        metric=metric,
        seeds=seeds,
        rows=[
            _row(
                row,
                scores,
                records[row.name],
                against=compared.get(row.name),
                tests=tests.get(row.name),
            )
            for row in table
        ],
        circumstances={key: first[key] for key in ("versions", "machine", "commit")},
        seconds=round(sum(record["seconds"] for found in records.values() for record in found), 1),
    )


def _examples(runs: Sequence[RunFolder], target: str) -> NDArray[np.float64]:
    scores = [run.example_scores(target) for run in runs]
    for run, found in zip(runs, scores, strict=True):
        if len(found) != len(scores[0]):
            raise RunError(f"The run folder {run.path} is damaged: predictions are missing.")
    return np.array(scores)


def _row(
    row: Row,
    scores: dict[str, list[float]],
    records: list[dict[str, Any]],
    *,
    against: str | None,
    tests: Verdict | None,
) -> RowResult:
    ours = scores[row.name]
    theirs = scores[against] if against is not None else None
    weights = {
        task: float(np.mean([record["weights"][task] for record in records]))
        for task in records[0]["weights"]
    }
    return RowResult(
        name=row.name,
        scores=ours,
        mean=float(np.mean(ours)),
        spread=float(np.std(ours, ddof=1)) if len(ours) > 1 else 0.0,
        weights=weights,
        against=against,
        difference=None if theirs is None else float(np.mean(ours) - np.mean(theirs)),
        wins=None if theirs is None else sum(a > b for a, b in zip(ours, theirs, strict=True)),
        p_value=None if tests is None else tests.p_value,
        p_bootstrap=None if tests is None else tests.p_bootstrap,
        interval=None if tests is None else tests.interval,
        p_seeds=paired_t_test(ours, theirs) if theirs is not None and len(ours) > 1 else None,
        learns=row.learns,
    )


def load_comparison(folder: Path) -> Comparison:
    """The table that a comparison left in its folder.

    One made before there was a bootstrap has none; `compare` makes the table again, not the runs.
    """
    values = files.read_sealed(folder / COMPARISON)
    shapes.check(values, shapes.Table, folder / COMPARISON)
    try:
        rows = [_loaded(row) for row in values.pop("rows")]
        comparison = Comparison(rows=rows, **values)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RunError(f"{folder / COMPARISON} is damaged: {error}.") from error
    if not comparison.rows or not (folder / CONFIG).exists():
        raise RunError(f"{folder} is damaged: it has no rows, or no {CONFIG}.")
    return comparison


def _loaded(values: dict[str, Any]) -> RowResult:
    row = RowResult(**values)
    if row.interval is None:
        return row
    low, high = row.interval  # JSON has lists for tuples
    return replace(row, interval=(float(low), float(high)))
