"""What the trainings of one budget came to."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from benchmarks.mixing import plan
from benchmarks.mixing.choosing import CHOSEN_ON
from benchmarks.mixing.setups import SMALL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.mixing.records import Record, Records

_WORTHWHILE = 0.1  # bits a byte: below it, a share of the headroom is mostly noise

_ROWS = (
    *(plan.OURS_DEFAULT, plan.OURS_SIX, plan.OURS_FREE, plan.OURS_STEPS),
    *(plan.OURS, plan.OURS_THEN),
    *(plan.DOGE, plan.DSIR, plan.BANDIT, plan.DOREMI, plan.BY_SIZE, plan.TEMPERED),
    *(plan.EQUAL_THEN, plan.AS_SOURCE),
    *(plan.SCALE_1, plan.BOUND_10, plan.OURS_ALONE, plan.EQUAL_ALONE),
)
PEERS = (plan.DOGE, plan.DSIR, plan.BANDIT, plan.DOREMI, plan.BY_SIZE, plan.TEMPERED)
OF_ALL_SEEDS = (
    *(plan.EQUAL, plan.OURS_DEFAULT, plan.OURS_FREE, plan.OURS, plan.OURS_THEN),
    *(*PEERS, plan.EQUAL_THEN, plan.AS_SOURCE),
)
"""Rows that must be there on all targets for a seed to count."""


class Budget:
    """The scores of one budget: bits a byte on test text.

    Args:
        records: All of them.
        budget: In steps.
    """

    def __init__(self, records: Records, budget: int) -> None:
        self.records, self.budget = records, budget
        here = records.matching(budget=budget, setup=SMALL)
        self.targets = sorted({r["spec"]["target"] for r in here if r["spec"]["target"]})
        self.targets.sort(key=lambda target: target not in CHOSEN_ON)
        self.seeds = sorted(set.intersection(*map(self._seeds, OF_ALL_SEEDS)))
        self.rows = [name for name in _ROWS if self.seeds_of(name)]

    def score(self, name: str, target: str, seed: int, sources: Sequence[str] = ()) -> float:
        """Of one training."""
        for record in self._of(name, seed):
            if target in record["scores"] and record["spec"]["sources"] == list(sources):
                found: float = record["scores"][target]["test"]
                return found
        raise LookupError(f"there is no record of {name}, {target}, seed {seed}")

    def seeds_of(self, name: str) -> list[int]:
        """Those of the seeds that a row has on all targets."""
        return sorted(self._seeds(name) & set(self.seeds))

    def scores(self, name: str, target: str) -> list[float]:
        """Of a row, seed by seed."""
        return [self.score(name, target, seed) for seed in self.seeds_of(name)]

    def record(self, name: str, target: str, seed: int) -> Record:
        """Of one training."""
        [found] = [r for r in self._of(name, seed) if r["spec"]["target"] == target]
        return found

    def best(self, target: str) -> tuple[str, ...]:
        """The corpora of the ceiling."""
        return plan.ceiling(self.records, target, budget=self.budget)

    def headroom(self, target: str) -> float:
        """What choosing is worth: nothing where equal weights are better than every choice."""
        return max(0.0, mean(self.scores(plan.EQUAL, target)) - self.ceiling(target))

    def ceiling(self, target: str) -> float:
        """What the corpora come to that the search found."""
        best = self.best(target)
        name = plan.PAIR if len(best) > 1 else plan.SINGLE
        return mean(self.score(name, target, seed, best) for seed in self.seeds)

    def below_ceiling(self, name: str) -> list[str]:
        """The targets with a headroom on which a row ends below the ceiling."""
        return [
            target
            for target in self.worthwhile
            if mean(self.scores(name, target)) < self.ceiling(target)
        ]

    def gains(self, name: str, target: str) -> list[float]:
        """Bits a byte below equal weights, seed by seed."""
        return [
            self.score(plan.EQUAL, target, seed) - self.score(name, target, seed)
            for seed in self.seeds_of(name)
        ]

    @property
    def worthwhile(self) -> list[str]:
        """The targets whose headroom is enough to take shares of."""
        return [target for target in self.targets if self.headroom(target) >= _WORTHWHILE]

    @property
    def apart(self) -> list[str]:
        """Those of them that chose no setting but the limit on passes."""
        return [target for target in self.worthwhile if target not in CHOSEN_ON]

    def shares(self, name: str, target: str) -> list[float]:
        """Percent of a target's headroom that a method recovers, seed by seed."""
        return [100 * gain / self.headroom(target) for gain in self.gains(name, target)]

    def by_seed(self, name: str, targets: Iterable[str]) -> list[float]:
        """The mean over targets of these shares, seed by seed."""
        columns = [self.shares(name, target) for target in targets]
        return [mean(row) for row in zip(*columns, strict=True)]

    def _seeds(self, name: str) -> set[int]:
        found = self.records.matching(name=name, budget=self.budget, setup=SMALL)
        had = {(r["spec"]["seed"], target) for r in found for target in r["scores"]}
        seeds = {seed for seed, _ in had}
        return {seed for seed in seeds if all((seed, target) in had for target in self.targets)}

    def _of(self, name: str, seed: int) -> list[Record]:
        return self.records.matching(name=name, budget=self.budget, seed=seed, setup=SMALL)
