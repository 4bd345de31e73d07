"""The search: which candidates are tried on which parts, until the budget is spent."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tawt.best.gains import CandidateScores, Scales, gains
from tawt.best.openings import openings, resolved
from tawt.best.recipes import Recipe
from tawt.best.trials import Trial, same
from tawt.sweeps import Plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tawt.best.budget import Budget
    from tawt.best.candidates import Candidates
    from tawt.best.study import BestStudy
    from tawt.best.trials import Idea, Trials
    from tawt.runs.held_out import HeldOut
    from tawt.sweeps import Record, RecordStore, Work

_ATTEMPTS = 20  # points that may turn out to be the same as earlier ones
_REPORTED = 400  # examples that a candidate is dropped by


@dataclass(kw_only=True)
class Search:
    """What is tried, decided anew from the records each time it is asked.

    A candidate is first tried on one part of the examples. If it is clearly worse there than the
    best so far, it is dropped; else it is tried on the other parts.
    """

    candidates: Candidates
    trials: Trials
    store: RecordStore
    budget: Budget
    workers: int
    _held_out: dict[tuple[int, int], HeldOut] = field(default_factory=dict, init=False)

    def plan(self) -> Plan:
        """All runs so far, and those that are to be made now."""
        self._judge()
        trials = self.trials.all()
        open_now = [trial for trial in trials if trial.state == "open"]
        while len(open_now) < max(1, self.workers) and self.budget.allows_another(
            begun=len(trials), spent=self.spent(trials)
        ):
            found = self._open(trials)
            if found is None:
                break
            trials.append(found)
            open_now.append(found)
        wanted = [work for trial in trials for work in self._works(trial)]
        return Plan(wanted)

    def spent(self, trials: list[Trial]) -> float:
        """Seconds by the clock that finished runs took, with all workers at work."""
        finished = [
            float(self.record(trial, part)["seconds"])
            for trial in trials
            for part in self.finished(trial)
        ]
        return sum(finished) / max(1, self.workers)

    def measured(self, trial: Trial) -> CandidateScores:
        """What a candidate came to on the examples that it was tried on."""
        known = self.finished(trial)
        for part in known:
            if (trial.number, part) not in self._held_out:
                self._held_out[trial.number, part] = self.candidates.held_out(trial, part)
        parts = [self._held_out[trial.number, part] for part in known]
        return CandidateScores.of(parts, examples=self._study.examples)

    def record(self, trial: Trial, part: int) -> Record:
        """Of a finished run."""
        found = self.store.find(self.candidates.key(trial, part))
        assert found is not None
        return found

    @cached_property
    def _study(self) -> BestStudy:
        return self.candidates.study

    def _parts(self) -> range:
        return range(1, self._study.parts + 1)

    def finished(self, trial: Trial) -> list[int]:
        """The parts that a candidate was tried on."""
        return [
            part
            for part in self._parts()
            if self.store.find(self.candidates.key(trial, part)) is not None
        ]

    def _works(self, trial: Trial) -> list[Work]:
        """Runs of a candidate that are there, and those that are wanted next."""
        finished = self.finished(trial)
        if trial.state != "open":
            return [self.candidates.work(trial, part) for part in finished]
        first_only = trial.number > 0 and not finished
        wanted = [1] if first_only else list(self._parts())
        return [self.candidates.work(trial, part) for part in wanted]

    def _judge(self) -> None:
        """Close candidates that are finished, failed, or not worth going on with."""
        trials = self.trials.all()
        if not trials:
            return
        first = trials[0]
        for trial in trials:
            if trial.state == "open":
                for part in self._parts():
                    error = self.candidates.error(trial, part)
                    if error is not None:
                        self.trials.fail(trial.number, error)
                        break
                else:
                    self._judge_one(trial, first)

    def _judge_one(self, trial: Trial, first: Trial) -> None:
        finished = self.finished(trial)
        if len(self.finished(first)) < self._study.parts or not finished:
            return
        found = self.gains(trial, first)
        known = np.flatnonzero(np.isfinite(found))
        by_example = {int(each): float(found[each]) for each in known}
        if len(finished) == self._study.parts:
            self.trials.finish(trial.number, by_example)
        elif self.trials.is_hopeless(trial.number, by_example):
            self.trials.drop(trial.number)

    def gains(self, trial: Trial, first: Trial) -> NDArray[np.float64]:
        """By example, over the first candidate; not a number where it was not tried."""
        reference = self.measured(first)
        return gains(self.measured(trial), reference, Scales.of(reference))

    def _open(self, trials: list[Trial]) -> Trial | None:
        """Another candidate; none where nothing new is found."""
        idea = self._next_opening(trials)
        for _ in range(_ATTEMPTS):
            number, found = self.trials.ask(idea)
            recipe = self._recipe(found, trials)
            if same(trials, recipe) is None:
                self.trials.begin(number, recipe)
                return Trial(number, recipe, "open")
            self.trials.forget(number)
            idea = None
        return None

    def _next_opening(self, trials: list[Trial]) -> Idea | None:
        """The first of the openings that was not tried yet."""
        best = self._best_alone(trials)
        count, sharers = len(self._study.sources), len(self._study.sharers)
        for idea in openings(sources=count, sharers=sharers, rate=best.rate, passes=best.passes):
            if same(trials, self._recipe(idea, trials)) is None:
                return idea
        return None

    def _best_alone(self, trials: list[Trial]) -> Recipe:
        """How the target alone is trained best, as far as it is known."""
        known = [each for each in trials if each.state == "done" and not each.recipe.uses_sources]
        if not known:
            return Recipe()
        means = [float(np.nanmean(self.gains(trial, trials[0]))) for trial in known]
        return known[int(np.argmax(means))].recipe

    def _recipe(self, idea: Idea, trials: list[Trial]) -> Recipe:
        """What an idea comes to, by what is known of the sources by now."""
        if idea.order == "target alone":
            return Recipe(rate=idea.rate, passes=idea.passes)
        weights, hurtful = self._of_sources(trials)
        names = resolved(idea.chosen, sources=self._study.sources, weights=weights, hurtful=hurtful)
        return Recipe(
            order=idea.order,
            weights="equal" if len(names) == 1 else idea.weights,
            sources=names,
            rate=idea.rate,
            passes=idea.passes,
            sharing=tuple(
                name for name in names if idea.heads == "shared" and name in self._study.sharers
            ),
        )

    def _of_sources(self, trials: list[Trial]) -> tuple[Mapping[str, float], list[str]]:
        """Learned weights and what is said of sources, by the first run that learned of all."""
        for trial in trials:
            recipe = trial.recipe
            if recipe.weights != "learned" or set(recipe.sources) != set(self._study.sources):
                continue
            for part in self.finished(trial):
                record = self.record(trial, part)
                said = record.get("findings", {})
                hurtful = [name for name in said if said[name].get("verdict") == "hurts"]
                weights = {name: record["weights"][name] for name in recipe.sources}
                return weights, hurtful
        return {}, []
