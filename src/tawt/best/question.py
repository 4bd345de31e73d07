"""The best model for a target within a budget: candidates, a decision, two models to keep."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tawt.best.answering import answered
from tawt.best.budget import Budget
from tawt.best.candidates import Candidates
from tawt.best.deciding import Decision, Tried, decided
from tawt.best.estimate import estimated
from tawt.best.folder import BestFolder
from tawt.best.halves import half_works
from tawt.best.leaving import write_answer
from tawt.best.result import ALONE_MODEL, MODEL
from tawt.best.search import Search
from tawt.best.study import examined
from tawt.best.trials import HEADS, Trials
from tawt.errors import TrainingError
from tawt.files import locks
from tawt.modality.said import said_before
from tawt.runs import Options
from tawt.runs.folder import RECORD
from tawt.sweeps import Plan, RecordStore, Sweep, in_this_process
from tawt.training.devices import chosen_device

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tawt.best.result import BestResult
    from tawt.best.study import BestStudy
    from tawt.config.schema import RunConfig
    from tawt.sweeps import Executor

_STUDY = "best"  # the name of the study in its file, where it is the only one


@dataclass(frozen=True, kw_only=True)
class BestIntent:
    """What is about to be done."""

    study: BestStudy
    budget: Budget
    begun: int
    """Candidates that are there already."""

    def in_words(self) -> str:
        """What is tried, with what."""
        there = f" {self.begun} candidates are there already." if self.begun else ""
        count = len(self.study.sources)
        return (
            f"{self.study.examples} examples of {self.study.target} in {self.study.parts} parts, "
            f"{count} source{'s' * (count > 1)}; --budget {self.budget.text}.{there}"
        )


def best(
    config: RunConfig,
    folder: Path,
    *,
    budget: str = "12",
    options: Options | None = None,
    sweep: Sweep | None = None,
    executor: Executor | None = None,
    on_start: Callable[[BestIntent], None] | None = None,
) -> BestResult:
    """Find the best way to train for the target, and train by it.

    What is finished is not trained again, so the same call goes on after an interruption, and with
    a larger budget tries more.

    Args:
        config: With a target that has labels, and sources.
        folder: Holds the runs and the answer.
        budget: A time, such as "30m", or a number of candidates, such as "12".
        options: How to run.
        sweep: How runs are made side by side; in this process, one by one, by default.
        executor: Where they are made; in processes where there is a `sweep`, by default.
        on_start: Told what is about to be done.

    Returns:
        The answer, which is in the folder too.

    Raises:
        TawtError: There is nothing to choose, the budget is too small, no candidate could be
            trained, or the folder holds something else.
    """
    options = options or Options()
    if executor is None and sweep is None:
        executor = in_this_process
    sweep = sweep or Sweep()
    allowed = Budget.parsed(budget)
    chosen_device(options.device)  # the workers would all find that it is not there
    study = examined(config)
    place = BestFolder(folder, config, overwrite=options.overwrite)
    place.check(study.data)
    if allowed.seconds is not None and not place.has_begun:  # refused before anything is written
        estimated(
            study,
            allowed,
            workers=sweep.workers,
            device=options.device,
            should_stop=sweep.should_stop,
        )
    place.claim(study.data, should_stop=sweep.should_stop)
    options = replace(options, overwrite=False)
    store = RecordStore(folder, f"{{}}/{RECORD}", sealed=True)
    candidates = Candidates(study=study, folder=folder, options=options)
    search = Search(
        candidates=candidates,
        trials=Trials(
            folder,
            name=_STUDY,
            seed=config.seed,
            heads=HEADS if study.sharers else HEADS[:1],
        ),
        store=store,
        budget=allowed,
        workers=sweep.workers,
    )
    if on_start is not None:
        on_start(BestIntent(study=study, budget=allowed, begun=len(search.trials.all())))

    def plan() -> Plan:
        with locks.locked(folder, wait_unless=sweep.should_stop):  # others may search here too
            return search.plan()

    with said_before():
        sweep.make(plan, store, executor=executor)
    decision = _decided(search, study)
    finals = {MODEL: decision.chosen}
    if decision.alone != decision.chosen:
        finals[ALONE_MODEL] = decision.alone
    with locks.locked(folder, wait_unless=sweep.should_stop):
        recipes = {name: trial.recipe for name, trial in finals.items()}
        candidates.clear_finals(recipes, store)
    trials = search.trials.all()
    has_room = allowed.leaves_room(begun=len(trials), spent=search.spent(trials))

    def last_plan() -> Plan:
        works = [candidates.final(name, recipe) for name, recipe in recipes.items()]
        return Plan([*works, *(half_works(candidates, decision.chosen) if has_room else [])])

    with said_before():
        sweep.make(last_plan, store, executor=executor)
    with locks.locked(folder, wait_unless=sweep.should_stop):
        found = answered(search, decision, budget=allowed)
        write_answer(found, folder)
    return found


def _decided(search: Search, study: BestStudy) -> Decision:
    trials = search.trials.all()
    if trials and (first := trials[0]).state == "failed":
        raise TrainingError(f"The target alone could not be trained: {first.error}")
    tried = [Tried(trial=trial, measured=search.measured(trial)) for trial in trials]
    return decided([each for each in tried if len(each.measured.tried)], parts=study.parts)
