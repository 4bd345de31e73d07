"""Which candidates there are: a study of Optuna, in a file of the folder."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import optuna
from optuna.exceptions import ExperimentalWarning
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import TrialState

from tawt.best.recipes import ALONE, Order, Recipe, Weights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


JOURNAL = "study.log"
Chosen = Literal["all", "kept", "first", "second", "third"]
"""Sources: all of them, those that are not said to hurt, or one alone, by learned weights."""

ORDERS: tuple[Order, ...] = ("target alone", "sources first", "together first", "together")
WEIGHTS: tuple[Weights, ...] = ("equal", "learned")
CHOSEN: tuple[Chosen, ...] = ("all", "kept", "first", "second", "third")
RATES, PASSES = (0.3, 1.0, 3.0, 10.0), (0.5, 1.0, 2.0, 4.0)
Heads = Literal["own", "shared"]
HEADS: tuple[Heads, ...] = ("own", "shared")
"""Of the target: one of its own, or one with all chosen sources that have its labels."""
_SURE = 0.1  # how likely chance alone makes what is dropped look so bad
_OURS, _ERROR = "recipe", "error"
State = Literal["open", "dropped", "done", "failed"]
_STATES: Mapping[TrialState, State] = {
    TrialState.RUNNING: "open",
    TrialState.PRUNED: "dropped",
    TrialState.COMPLETE: "done",
    TrialState.FAIL: "failed",
}


@dataclass(frozen=True, kw_only=True)
class Idea:
    """A point of the space that is searched; which sources it means depends on what is known."""

    order: Order = ALONE
    weights: Weights = "equal"
    chosen: Chosen = "all"
    rate: float = 1.0
    passes: float = 1.0
    heads: Heads = "own"

    def to_params(self) -> dict[str, Any]:
        """As Optuna has it: the target alone has no weights."""
        params: dict[str, Any] = {"order": self.order, "rate": self.rate, "passes": self.passes}
        if self.order == ALONE:
            return params
        return {**params, "weights": self.weights, "chosen": self.chosen, "heads": self.heads}


@dataclass(frozen=True)
class Trial:
    """One candidate."""

    number: int
    recipe: Recipe
    state: State
    error: str | None = None
    """Why it failed, if it did."""

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"{self.number:03d}"


class Trials:
    """The candidates so far; other processes may add to them.

    Args:
        folder: Of the question.
        name: Of the study, which differs with the configuration.
        seed: Of the sampler.
        heads: Which kinds of head there are to choose from.
    """

    def __init__(
        self, folder: Path, *, name: str, seed: int, heads: Sequence[Heads] = ("own",)
    ) -> None:
        self._heads = heads
        path = str(folder / JOURNAL)
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            pruner = optuna.pruners.WilcoxonPruner(p_threshold=_SURE)
        self._study = optuna.create_study(
            storage=JournalStorage(JournalFileBackend(path, JournalFileOpenLock(path))),
            study_name=name,
            load_if_exists=True,
            direction="maximize",
            sampler=optuna.samplers.TPESampler(seed=seed, constant_liar=True),
            pruner=pruner,
        )

    def all(self) -> list[Trial]:
        """Every candidate, in the order in which they were thought of."""
        found = []
        for frozen in self._study.get_trials(deepcopy=False):
            given = frozen.user_attrs.get(_OURS)
            if given is None:
                if frozen.state == TrialState.RUNNING:  # its process was killed between two lines
                    self._study.tell(frozen.number, state=TrialState.FAIL)
                continue
            error = frozen.user_attrs.get(_ERROR)
            found.append(Trial(frozen.number, Recipe.of(given), _STATES[frozen.state], error))
        return found

    def ask(self, idea: Idea | None = None) -> tuple[int, Idea]:
        """Another point: the one given, or what the sampler makes of those so far."""
        if idea is not None:
            self._study.enqueue_trial(idea.to_params())
        trial = self._study.ask()
        order = cast("Order", trial.suggest_categorical("order", ORDERS))
        rate = trial.suggest_categorical("rate", RATES)
        passes = trial.suggest_categorical("passes", PASSES)
        if order == ALONE:
            return trial.number, Idea(order=order, rate=rate, passes=passes)
        weights = cast("Weights", trial.suggest_categorical("weights", WEIGHTS))
        chosen = cast("Chosen", trial.suggest_categorical("chosen", CHOSEN))
        heads: Heads = "own"
        if len(self._heads) > 1:  # where there is no choice, the space is as small as without it
            heads = cast("Heads", trial.suggest_categorical("heads", self._heads))
        return trial.number, Idea(
            order=order, weights=weights, chosen=chosen, rate=rate, passes=passes, heads=heads
        )

    def begin(self, number: int, recipe: Recipe) -> None:
        """Keep which recipe a point came to."""
        self._trial(number).set_user_attr(_OURS, recipe.to_json())

    def is_hopeless(self, number: int, gains: Mapping[int, float]) -> bool:
        """Whether a candidate is worse than the best one on the examples that both have seen.

        Args:
            number: Of the candidate.
            gains: By example, over the first candidate.
        """
        trial = self._trial(number)
        known = self._study.get_trials(deepcopy=False)[number].intermediate_values
        for example, gain in gains.items():
            if example not in known:
                trial.report(gain, example)
        return trial.should_prune()

    def finish(self, number: int, gains: Mapping[int, float]) -> None:
        """Close a candidate that was tried on all examples."""
        self.is_hopeless(number, gains)  # which keeps the gains
        self._study.tell(number, sum(gains.values()) / len(gains))

    def drop(self, number: int) -> None:
        """Close a candidate that need not be tried on more."""
        self._study.tell(number, state=TrialState.PRUNED)

    def forget(self, number: int) -> None:
        """Close a point that is the same as an earlier one."""
        self._study.tell(number, state=TrialState.FAIL)

    def fail(self, number: int, error: str) -> None:
        """Close a candidate that could not be trained."""
        self._trial(number).set_user_attr(_ERROR, error)
        self._study.tell(number, state=TrialState.FAIL)

    def _trial(self, number: int) -> optuna.Trial:
        frozen = self._study.get_trials(deepcopy=False)[number]
        return optuna.Trial(self._study, frozen._trial_id)


def same(trials: Sequence[Trial], recipe: Recipe) -> Trial | None:
    """The candidate that is this recipe already, if one is."""
    return next((trial for trial in trials if trial.recipe == recipe), None)
