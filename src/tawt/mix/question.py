"""Which corpora, and how much of each, for a target: small models, three kinds of weights."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tawt.errors import ConfigError, RunError, is_whole
from tawt.files import locks
from tawt.mix.amounts import MixBudget, tokens_in
from tawt.mix.answering import answered, gathered
from tawt.mix.folder import MixFolder
from tawt.mix.leaving import write_answer
from tawt.mix.planning import counted_steps, planned
from tawt.mix.speed import measured_speed
from tawt.mix.study import examined, ignored
from tawt.modality.said import DATA_LOG
from tawt.report.words import listed
from tawt.runs import Options
from tawt.sweeps import Sweep, in_this_process
from tawt.sweeps.row_runs import RowRuns
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.mix.planning import ProxyPlan
    from tawt.mix.result import MixResult
    from tawt.mix.study import MixStudy

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Intent:
    """What is about to be done."""

    plan: ProxyPlan
    learns: list[bool]
    """Of each run that is not there yet, in the order in which they are begun."""
    workers: int
    there: int
    """Runs that are finished already."""

    @property
    def seconds(self) -> float:
        """How long it takes."""
        return self.plan.seconds(self.learns, workers=self.workers)

    def in_words(self) -> str:
        """Runs, steps, tokens and time."""
        if not self.learns:
            return f"All {self.there} runs are finished."
        said = self.plan.in_words(self.learns, workers=self.workers)
        return f"{said} {self.there} are finished already." if self.there else said


def mix(
    config: RunConfig,
    folder: Path,
    *,
    seeds: int = 3,
    budget: str | None = None,
    tokens: str | None = None,
    resume: bool = False,
    options: Options | None = None,
    sweep: Sweep | None = None,
    on_plan: Callable[[Intent], None] | None = None,
) -> MixResult:
    """Find the mixture of sources that is best for the target.

    The model of the configuration is trained on the sources alone: with equal weights, with weights
    by size, and with learned weights, once for each seed. What is finished is not trained again, so
    the same call goes on after an interruption.

    Args:
        config: With a target, sources, and a small model that they share whole.
        folder: Holds the runs and the answer.
        seeds: Runs of each kind of weights.
        budget: A time or a number of tokens for all runs together, such as "10m" or "20M"; by
            default runs are as long as the configuration says. The folder keeps what it came to.
        tokens: How much the mixture is for, such as "1B"; as much as one run here by default.
        resume: Refuse a folder in which there is nothing to go on with.
        options: How to run.
        sweep: How runs are made side by side; in this process, one by one, by default.
        on_plan: Told what is about to be done.

    Returns:
        The answer, which is in the folder too.

    Raises:
        TawtError: The configuration cannot be answered for, the budget is too small, or the
            folder holds something else.

    Example:
        >>> from pathlib import Path
        >>> from tawt.config import parsed
        >>> config = parsed({"data": {"kind": "digits"}, "target": "digit"})
        >>> mix(config, Path("mixture"))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: `tawt mix` trains on the sources alone, and the head of the \
target 'digit' would stay untrained; ...
    """
    options = options or Options()
    executor = in_this_process if sweep is None else None
    sweep = sweep or Sweep()
    allowed = None if budget is None else MixBudget.parsed(budget)
    wanted = None if tokens is None else tokens_in(tokens)
    chosen_device(options.device)  # the workers would all find that it is not there
    if not (is_whole(seeds) and seeds >= 1):
        raise ConfigError(f"`seeds` is a number of runs, at least 1; got {seeds!r}.")
    if resume and options.overwrite:
        raise RunError("Either --resume goes on with a mixture or --overwrite starts it again.")
    place = MixFolder(folder, config, overwrite=options.overwrite)
    place.check(resume=resume)
    study = examined(config, seed=0)
    if unused := ignored(config):
        verb = "is" if len(unused) == 1 else "are"
        _log.warning("%s %s ignored: a mixture trains on the sources alone.", listed(unused), verb)
    _check_unit(study, tokens)
    kept = place.plan(allowed)
    learns = [row.learns for _ in range(seeds) for row in study.rows]
    if kept is None:
        counted_steps(study, budget=allowed, runs=len(learns))  # before a clock is asked
    began = time.monotonic()
    plan = kept or planned(
        study,
        budget=allowed,
        learns=learns,
        workers=sweep.workers,
        speed=measured_speed(
            study, device=options.device, sweep=sweep, executor=executor, runs=len(learns)
        ),
        spent=time.monotonic() - began,
    )
    if remark := plan.remark(study):
        DATA_LOG.warning("%s", remark)
    _runs(study, plan, folder, seeds, options).check()
    plan = place.claim(plan, allowed, should_stop=sweep.should_stop)
    runs = _runs(study, plan, folder, seeds, options)
    if options.overwrite:
        runs.clear()
    if on_plan is not None:
        on_plan(_intent(runs, plan, sweep))
    sweep.make(runs.plan, runs.store, executor=executor)
    with locks.locked(folder, wait_unless=sweep.should_stop):
        evidence = gathered(folder, study, runs.seeds)
        found = answered(evidence, study, plan, seeds=runs.seeds, wanted=wanted)
        write_answer(found, folder)
    return found


def _runs(study: MixStudy, plan: ProxyPlan, folder: Path, seeds: int, options: Options) -> RowRuns:
    return RowRuns(
        config=plan.applied(study),
        folder=folder,
        rows=study.rows,
        seeds=range(seeds),
        options=replace(options, save_model=False),
        sizes=study.all_sizes,
        data=study.data,
    )


def _intent(runs: RowRuns, plan: ProxyPlan, sweep: Sweep) -> Intent:
    wanted = runs.plan().wanted
    missing = runs.store.missing(wanted)
    learns = [row.learns for _ in runs.seeds for row in runs.rows]
    by_key = {work.key: each for work, each in zip(wanted, learns, strict=True)}
    return Intent(
        plan=plan,
        learns=[by_key[work.key] for work in missing],
        workers=sweep.workers,
        there=len(wanted) - len(missing),
    )


def _check_unit(study: MixStudy, tokens: str | None) -> None:
    if tokens is not None and study.unit != "tokens":
        raise ConfigError(
            f"--tokens {tokens} is a number of tokens, and this data is not counted in tokens; "
            "leave it out."
        )
