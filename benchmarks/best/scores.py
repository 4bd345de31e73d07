"""Scores of what records hold, differences between models, and their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import mean
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.best.published import POOLED, SETS, STANCES, set_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Record = Mapping[str, Any]

CHOSEN, TUNED, UNTUNED = "best", "alone", "untuned"
MODELS = (UNTUNED, TUNED, CHOSEN)
LEVEL = 0.9
_RESAMPLES = 1000


@dataclass(frozen=True)
class Answers:
    """Answers of the models on one target's test examples, as numbers of labels."""

    gold: NDArray[np.int64]
    predicted: Mapping[str, NDArray[np.int64]]
    """By model."""
    averaged: NDArray[np.int64]
    """Labels whose F1 is averaged; none where micro F1 counts."""

    @classmethod
    def of(cls, record: Record) -> Answers:
        """Those of a record."""
        wanted = SETS[set_of(record["spec"]["target"])].labels
        found = record["answers"]
        names = sorted({*record["gold"], *(label for each in found.values() for label in each)})
        numbers = {name: number for number, name in enumerate(names)}
        counted = sorted(set(record["gold"])) if wanted is None else wanted
        return cls(
            gold=np.array([numbers[label] for label in record["gold"]]),
            predicted={
                model: np.array([numbers[label] for label in labels])
                for model, labels in found.items()
            },
            averaged=np.array([numbers[each] for each in counted if each in numbers], np.int64),
        )

    def score(self, model: str, places: NDArray[np.int64] | None = None) -> float:
        """In percent.

        Args:
            model: Whose.
            places: Test examples, some of them repeatedly; all by default.
        """
        gold, predicted = self.gold, self.predicted[model]
        if places is not None:
            gold, predicted = gold[places], predicted[places]
        right = gold == predicted
        if not len(self.averaged):
            return 100 * float(right.mean())
        count = 1 + max(
            int(self.gold.max()), *(int(each.max()) for each in self.predicted.values())
        )
        hits = np.bincount(gold[right], minlength=count)
        both = np.bincount(gold, minlength=count) + np.bincount(predicted, minlength=count)
        return 100 * float((2 * hits / np.maximum(1, both))[self.averaged].mean())


@dataclass(frozen=True)
class Group:
    """Records of one set with as many examples, of several seeds; of the stances together."""

    name: str
    examples: int | None
    records: Sequence[Record]

    def score(self, model: str) -> float:
        """Mean over targets and seeds."""
        return mean(Answers.of(record).score(model) for record in self.records)

    @property
    def gain(self) -> float:
        """Of what was chosen over the tuned target alone, in points."""
        return self.score(CHOSEN) - self.score(TUNED)

    @property
    def seeds(self) -> int:
        """How many there are."""
        return len({record["spec"]["seed"] for record in self.records})

    @property
    def used(self) -> int:
        """Searches whose model uses sources."""
        return sum(record["uses_sources"] for record in self.records)

    @property
    def targets(self) -> list[str]:
        """Those that the records are of."""
        return sorted({record["spec"]["target"] for record in self.records})

    @property
    def is_whole(self) -> bool:
        """Whether it has all that the literature scores together."""
        return self.name != POOLED or len(self.targets) == len(STANCES)

    @property
    def title(self) -> str:
        """Its name, or those of its targets."""
        return self.name if self.is_whole else ", ".join(self.targets)

    @cached_property
    def interval(self) -> tuple[float, float]:
        """Of the gain, at 90%: seeds are drawn with replacement, and so are test examples.

        The test examples are the same for all seeds, and for both models.
        """
        draw = np.random.default_rng(0)
        by_target: dict[str, list[Answers]] = {}
        for record in self.records:
            by_target.setdefault(record["spec"]["target"], []).append(Answers.of(record))
        gains = [
            mean(_resampled(answers, draw) for answers in by_target.values())
            for _ in range(_RESAMPLES)
        ]
        low, high = np.quantile(gains, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)


def _resampled(answers: Sequence[Answers], draw: np.random.Generator) -> float:
    """The gain on one target with other seeds and other test examples."""
    size = len(answers[0].gold)
    places = draw.integers(size, size=size)
    chosen = [answers[each] for each in draw.integers(len(answers), size=len(answers))]
    return mean(each.score(CHOSEN, places) - each.score(TUNED, places) for each in chosen)


def groups(records: Sequence[Record]) -> list[Group]:
    """Records that are reported together, in the order of the sets; all examples last."""
    found: dict[tuple[str, int | None], list[Record]] = {}
    for record in records:
        spec = record["spec"]
        found.setdefault((set_of(spec["target"]), spec["examples"]), []).append(record)
    order = list(SETS)
    keys = sorted(found, key=lambda key: (key[1] is None, key[1] or 0, order.index(key[0])))
    return [Group(*key, found[key]) for key in keys]
