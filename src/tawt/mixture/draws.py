"""Which task each step trains on, by weights that are read when the step is drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tawt.errors import ConfigError, WeightsError, is_number, suggestion
from tawt.streams import stream
from tawt.weighting import Weighting
from tawt.weights import SourceWeights

Weights = Weighting | SourceWeights | Mapping[str, float]
"""A weighting, whose weights may move; weights that are held; or numbers by name."""

_LEAST_FACTOR = 1e-4  # squares of gradients that were scaled by less would be lost in float32


@dataclass(frozen=True)
class Draw:
    """What was drawn for one step.

    Attributes:
        tasks: One name for the whole batch; in mixed batches one for each example, of all
            processes together.
        factors: ω_t / p_t of every task at that moment; all one without a floor.
    """

    tasks: tuple[str, ...]
    factors: dict[str, float]


def shares_of(weights: Weights) -> dict[str, float]:
    """The weights as they are now, summing to one.

    Example:
        >>> shares_of({"pos": 3, "chunk": 1})
        {'pos': 0.75, 'chunk': 0.25}
        >>> shares_of({"pos": 0.0, "chunk": 0.0})
        Traceback (most recent call last):
        ...
        tawt.errors.WeightsError: All weights are zero (pos, chunk), so no task can be drawn; give \
at least one of them a positive weight.
    """
    if isinstance(weights, Weighting | SourceWeights):
        found = weights.shares()
    elif isinstance(weights, Mapping):
        found = dict(weights)
    else:
        raise WeightsError(
            "`weights` must be a weighting (`TargetAware`, `Fixed`), `SourceWeights`, or numbers "
            f"by name; got {type(weights).__name__}."
        )
    for name, share in found.items():
        if not (is_number(share) and share >= 0):
            raise WeightsError(
                f"The weight of {name!r} must be a number of at least 0; got {share!r}."
            )
    total = math.fsum(found.values())
    if total == 0:
        raise WeightsError(
            f"All weights are zero ({', '.join(found)}), so no task can be drawn; give at least "
            "one of them a positive weight."
        )
    return {name: share / total for name, share in found.items()}


class TaskDraws:
    """Draws tasks by weight, the same on every process.

    A draw is a function of the seed, the number of the step and the weights at that moment: never
    of how many numbers were drawn before. So all processes that hold the same weights draw the
    same task, and a run that goes on draws what it would have drawn.

    Args:
        weights: Read anew for every draw.
        names: The tasks that are drawn, in order.
        seed: Of the mixture.
        floor: Least probability of every task: p_t = floor + (1 - T · floor) · ω_t.

    Example:
        >>> draws = TaskDraws({"a": 1.0, "b": 0.0}, names=["a", "b"], seed=0, floor=0.1)
        >>> draws.probabilities(), draws.factors()["b"]
        ({'a': 0.9, 'b': 0.1}, 0.0)
    """

    def __init__(
        self, weights: Weights, *, names: Sequence[str], seed: int, floor: float = 0.0
    ) -> None:
        if not (is_number(floor) and 0 <= floor * len(names) <= 1):
            raise ConfigError(
                f"`floor` is a probability that each of {len(names)} tasks keeps, so it must be "
                f"between 0 and {1 / len(names):.4g}; got {floor!r}."
            )
        self.names = list(names)
        self.floor = float(floor)
        self._weights = weights
        self._seed = seed

    def shares(self) -> dict[str, float]:
        """ω_t now, in the order of the tasks."""
        found = shares_of(self._weights)
        if found.keys() != set(self.names):
            check_tasks(found, self.names)
        return {name: found[name] for name in self.names}

    def probabilities(self) -> dict[str, float]:
        """p_t now: ω_t, raised by the floor."""
        tasks = len(self.names)
        return {n: raised(s, floor=self.floor, tasks=tasks) for n, s in self.shares().items()}

    def factors(self) -> dict[str, float]:
        """ω_t / p_t now: what a loss is multiplied by so that the objective stays Σ ω_t L_t."""
        tasks = len(self.names)
        return {n: factor(s, floor=self.floor, tasks=tasks) for n, s in self.shares().items()}

    def draw(self, step: int, *, count: int = 1) -> Draw:
        """The task of a step, or of each of the `count` examples in a mixed batch."""
        edges = np.cumsum(list(self.probabilities().values()))
        points = stream(self._seed, "mixture", "step", step).random(count)
        # The last edge is one but for rounding, and a task of probability zero has no width.
        found = np.searchsorted(edges / edges[-1], points, side="right")
        return Draw(tuple(self.names[place] for place in found), self.factors())


def raised(share: float, *, floor: float, tasks: int) -> float:
    """The probability p_t of drawing a task of this share.

    Args:
        share: ω_t.
        floor: Least probability of every task.
        tasks: How many there are.

    Example:
        >>> raised(0.0, floor=0.1, tasks=2), raised(1.0, floor=0.1, tasks=2)
        (0.1, 0.9)
    """
    return floor + (1 - tasks * floor) * share


def factor(share: float, *, floor: float, tasks: int) -> float:
    """ω_t / p_t; arguments as for `raised`.

    Where a weight is not zero, not less than 1e-4: the step's gradient can still be observed.

    Example:
        >>> factor(0.0, floor=0.1, tasks=2), factor(0.3, floor=0.0, tasks=2)
        (0.0, 1.0)
    """
    if floor == 0:
        return 1.0
    return max(share / raised(share, floor=floor, tasks=tasks), _LEAST_FACTOR if share else 0.0)


def check_tasks(weighed: Mapping[str, float], datasets: Sequence[str]) -> None:
    """Refuse a weight without a dataset, and a dataset without a weight.

    Example:
        >>> check_tasks({"pos": 1.0}, ["pos", "ner"])
        Traceback (most recent call last):
        ...
        tawt.errors.WeightsError: The dataset 'ner' has no weight; give it one (0 leaves it out), \
or leave the dataset out.
    """
    for name in weighed:
        if name not in datasets:
            raise WeightsError(
                f"There is a weight for {name!r} and no dataset; {suggestion(str(name), datasets)}"
            )
    for name in datasets:
        if name not in weighed:
            raise WeightsError(
                f"The dataset {name!r} has no weight; give it one (0 leaves it out), or leave the "
                "dataset out."
            )
