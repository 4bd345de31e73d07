"""Make the runs that an experiment needs and that are not made yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.errors import ConfigError
from tawt.reproduce.choices import Held
from tawt.reproduce.store import Store, key
from tawt.runs import Options
from tawt.sweeps.queue import Job, run_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tawt.config import RunConfig
    from tawt.reproduce.choices import Choice


@dataclass(frozen=True, kw_only=True)
class Making:
    """How runs are made; none of it changes what comes out."""

    workers: int = 1
    """Runs at a time."""
    device: str = "auto"
    """Where to train."""
    keep_models: bool = False
    """Whether the runs' models are kept."""
    checkpoint_seconds: float = 300.0
    """Between checkpoints."""
    part: tuple[int, int] = (1, 1)
    """Which of how many parts of the runs are made here; the others are made elsewhere, into the
    same folder."""
    should_stop: Callable[[], bool] = lambda: False
    """Asked now and then."""
    on_done: Callable[[float, int], None] = lambda done, total: None
    """Told how many runs of how many are done; a simulation's also in part."""

    def __post_init__(self) -> None:
        number, of = self.part
        if not 1 <= number <= of:
            raise ConfigError(f"A part is K/N with K from 1 to N; got {number}/{of}.")

    def is_mine(self, key: str) -> bool:
        """Whether a run of that key is to be made here."""
        number, of = self.part
        return int(key, 16) % of == number - 1


def made(choices: Sequence[Choice], seeds: Sequence[int], store: Store, making: Making) -> bool:
    """Make what is missing, in waves: some runs wait for the weights of others.

    Args:
        choices: What is needed.
        seeds: Each of it for each of these.
        store: Where runs are kept.
        making: How to go about it.

    Returns:
        Whether all is there; if not, the rest is for other parts to make.
    """
    total = _total(choices, seeds)
    while wanted := _open(choices, seeds, store):
        mine = [config for name, config in wanted.items() if making.is_mine(name)]
        if not mine:
            return False
        left = len(wanted) + _waiting(choices, seeds, store)

        def finished(job: Job) -> None:
            nonlocal left
            store.keep(job.config)
            left -= 1
            making.on_done(total - left, total)

        making.on_done(total - left, total)
        run_all(
            [Job(config, store.path(config)) for config in mine],
            workers=min(making.workers, len(mine)),
            options=Options(
                resume=True,
                device=making.device,
                save_model=making.keep_models,
                checkpoint_seconds=making.checkpoint_seconds,
            ),
            should_stop=making.should_stop,
            on_done=finished,
        )
    making.on_done(total, total)
    return True


def is_made(choices: Sequence[Choice], seeds: Sequence[int], store: Store) -> bool:
    """Whether every run has its record."""
    return not _open(choices, seeds, store)


def _open(choices: Sequence[Choice], seeds: Sequence[int], store: Store) -> dict[str, RunConfig]:
    """Runs that can be made now, by key; the longest first, so that none is waited for alone."""
    found = {
        key(config): config
        for choice in choices
        for seed in seeds
        for config in choice.open(seed, store)
    }
    return dict(sorted(found.items(), key=lambda item: -_work(item[1])))


def _total(choices: Sequence[Choice], seeds: Sequence[int]) -> int:
    """Different runs; of those that take over weights, one a choice."""
    known = {
        key(config)
        for choice in choices
        for seed in seeds
        for run in choice.runs
        for config in [run.config(seed)]
    }
    held = {choice for choice in choices if isinstance(choice, Held)}
    return len(known) + len(held) * len(seeds)


def _waiting(choices: Sequence[Choice], seeds: Sequence[int], store: Store) -> int:
    """Runs that cannot be made yet, since they take over the weights of others."""
    held = {choice for choice in choices if isinstance(choice, Held)}
    return sum(choice.of.record(seed, store) is None for choice in held for seed in seeds)


def _work(config: RunConfig) -> int:
    """Roughly how long a run takes: the examples that it trains on."""
    sizes = config.modality.limits(config.data)
    return sum(sizes) if config.paradigm != "single-task" else max(sizes, default=0)
