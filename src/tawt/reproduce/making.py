"""Make the runs that an experiment wants and that are not made yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.reproduce.store import kept_of, key, records_in, run_path
from tawt.runs import Options, RunFolder
from tawt.sweeps import Plan, TrainRun, Work

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.config import RunConfig
    from tawt.reproduce.choices import Choice
    from tawt.reproduce.experiments import Experiment
    from tawt.reproduce.request import Request
    from tawt.reproduce.store import Store
    from tawt.sweeps import Context, Sweep

_CHECKPOINT_SECONDS = 300.0


def make(
    experiment: Experiment,
    request: Request,
    store: Store,
    sweep: Sweep,
    *,
    device: str = "auto",
    keep_models: bool = False,
) -> bool:
    """Make what is missing.

    Args:
        experiment: What is to be made.
        request: What it is made from.
        store: Where runs are kept.
        sweep: How to make many.
        device: Where to train.
        keep_models: Whether the runs' models are kept.

    Returns:
        Whether all is there; if not, the rest is for other parts to make.
    """
    options = Options(
        resume=True,
        device=device,
        save_model=keep_models,
        save_page=False,
        checkpoint_seconds=_CHECKPOINT_SECONDS,
    )
    experiment.prepare(request, store)
    return sweep.make(
        lambda: experiment.plan_work(request, store, options),
        store.records,
        executor=experiment.executor,
    )


def is_made(experiment: Experiment, request: Request, store: Store) -> bool:
    """Whether all records are there."""
    plan = experiment.plan_work(request, store, Options())
    return not plan.later and not store.records.missing(plan.wanted)


def runs_of(
    choices: Sequence[Choice], seeds: Sequence[int], store: Store, options: Options
) -> Plan:
    """The runs that choices want; some are known when the weights of others are there.

    Args:
        choices: What is wanted.
        seeds: Each of it for each of these.
        store: Where runs are kept.
        options: How to run.
    """
    pairs = [(choice, seed) for choice in dict.fromkeys(choices) for seed in seeds]
    configs = {
        key(config): config for choice, seed in pairs for config in choice.known(seed, store)
    }
    return Plan(
        [
            Work(name, config.name, RecordedRun(name, config, store.folder, options), _size(config))
            for name, config in configs.items()
        ],
        later=sum(choice.later(seed, store) for choice, seed in pairs),
    )


@dataclass(frozen=True)
class RecordedRun:
    """Makes a run, and leaves what tables are made from."""

    key: str
    """Known from the start: data that changes meanwhile does not make another run of this one."""
    config: RunConfig
    folder: Path
    """Of the store."""
    options: Options

    def __call__(self, context: Context) -> None:
        """Run, and keep the record."""
        path = run_path(self.folder, self.key)
        TrainRun(self.config, path, self.options)(context)
        records_in(self.folder).keep(self.key, kept_of(self.config, RunFolder(path)))


def _size(config: RunConfig) -> int:
    """Roughly how long a run takes: the examples that it trains on."""
    sizes = config.modality.limits(config.data)
    return sum(sizes) if config.paradigm != "single-task" else max(sizes, default=0)
