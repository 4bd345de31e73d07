"""Sees when training is about to fail by its weights, or may be failing, and says so once.

Where tasks are drawn by size, a task that counts far more than is seen of it makes training fail
(see `scaled`): steps are then drawn by weight, which is the schedule's to do. And sources may lead
away from the target, whichever weights they have: scores on dev examples show it, or where there
are none the target's losses at updates.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tawt.training.scaled import most_scaled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.tasks import Task
    from tawt.training.progress import Position
    from tawt.training.result import Predictions
    from tawt.training.schedule import Schedule
    from tawt.training.stretch import Stretch
    from tawt.weights import WeightUpdate

_log = logging.getLogger(__name__)

_FEWEST = 4  # updates at each end whose losses are compared
_ENDS = 0.25  # of all updates, at each end
_WORSE = 0.25  # of what it was; less is no collapse
_ERRORS = 3.0  # standard errors of the difference; less may be chance


class Level(NamedTuple):
    """The mean of some losses, or of scores with their sign turned: lower is better."""

    mean: float
    error: float
    """Its standard error."""

    @classmethod
    def of(cls, losses: Sequence[float]) -> Level:
        """Of a sample.

        Example:
            >>> Level.of([1.0, 3.0])
            Level(mean=2.0, error=1.0)
        """
        spread = float(np.std(losses, ddof=1)) if len(losses) > 1 else math.inf
        return cls(float(np.mean(losses)), spread / math.sqrt(len(losses)))

    def is_worse_than(self, other: Level) -> bool:
        """By a quarter of it, and by more than chance explains.

        Example:
            >>> Level(1.3, 0.05).is_worse_than(Level(1.0, 0.05))
            True
            >>> Level(1.3, 0.1).is_worse_than(Level(1.0, 0.1))
            False
        """
        rise = self.mean - other.mean
        sure = rise > _ERRORS * math.hypot(self.error, other.error)
        return sure and rise > _WORSE * abs(other.mean)


class Guard:
    """Looks at weights before steps are drawn by them, and at losses when an epoch is over.

    Attributes:
        said: Its warnings, by what they are about.
    """

    def __init__(self) -> None:
        self.said: dict[str, str] = {}
        self._best: dict[str, dict[str, float]] = {}

    def look_at_steps(self, stretch: Stretch, position: Position) -> None:
        """Warn, the first time, of a task that counts far more than is seen of it.

        Args:
            stretch: Whose steps are to come; if none are left, nothing can fail.
            position: Of the next one.
        """
        if position.epoch * stretch.schedule.length + position.step < stretch.total:
            shares = stretch.weighting.weights.shares()
            self._say("steps", of_steps(stretch.schedule, shares, step=position.total))

    def look_at_dev(
        self, found: Mapping[str, Predictions], tasks: Mapping[str, Task], *, step: int
    ) -> None:
        """Warn, the first time, of a target whose dev scores have fallen since their best.

        Args:
            found: What the model predicts of each target's dev examples.
            tasks: By name.
            step: How many steps there were.
        """
        for name, predictions in found.items():
            now = Level.of([-score for score in predictions.example_scores])
            score = predictions.scores[tasks[name].kind.metric]
            best = self._best.get(name)
            if best is None or now.mean < best["mean"]:
                here = {"score": score, "step": step}
                self._best[name] = {"mean": now.mean, "error": now.error, **here}
            elif now.is_worse_than(Level(best["mean"], best["error"])):
                said = (
                    f"on dev examples of {name!r}, {tasks[name].kind.metric} was "
                    f"{best['score']:.3g} after step {best['step']} and is {score:.3g} after step "
                    f"{step}: training may be failing. Try a lower `training.learning_rate`, or "
                    "other sources; with `training.select: best` the best epoch's model is kept."
                )
                self._say("dev", said)

    def look_back(self, history: Sequence[WeightUpdate]) -> None:
        """Warn, the first time, of a target that is unlearned, by its losses at updates.

        Args:
            history: All updates so far.
        """
        self._say("target", _of_target(history))

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"said": dict(self.said), "best": {name: dict(b) for name, b in self._best.items()}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Inverse of `state_dict`."""
        self.said, self._best = dict(state["said"]), dict(state["best"])

    def _say(self, what: str, found: str | None) -> None:
        if found is not None and what not in self.said:
            self.said[what] = found
            _log.warning("%s", found)


def of_steps(schedule: Schedule, shares: Mapping[str, float], *, step: int) -> str | None:
    """A sentence, if a task counts far more than is seen of it.

    Args:
        schedule: Of the steps.
        shares: The weights they are drawn by.
        step: How many steps there were before.

    Example:
        >>> from tawt.training.schedule import Schedule
        >>> sizes = {"few": 20, "many": 1980}
        >>> schedule = Schedule(
        ...     sizes, batch_size=10, sampling="size", seed=0, phase="x", guarded=True
        ... )
        >>> of_steps(schedule, {"few": 0.3, "many": 0.7}, step=20).split(",")[0]
        "'few' is 30% of the objective but 1% of the examples: from step 21 on"
    """
    if schedule.sampling != "size":
        return None
    found = most_scaled(schedule.sizes, shares)
    if not found.too_much:
        return None
    counts = f"{found.task!r} is {_percent(found.share)} of the objective but"
    if schedule.guarded:
        return (
            f"{counts} {_percent(found.drawn)} of the examples: from step {step + 1} on, while "
            "that is so, tasks are drawn by weight, not by size (`training.guard`)."
        )
    return (
        f"{counts} only {_percent(found.drawn)} of the steps, so its loss is scaled by "
        f"{found.scale:.0f}: training is likely to fail, or to fall behind. Set "
        "`training.sampling: weight`, which draws each task in proportion to its weight."
    )


def _percent(share: float) -> str:
    """A share as one reads it.

    Example:
        >>> [_percent(share) for share in (0.999, 0.3, 0.0042, 0.00003)]
        ['100%', '30%', '0.4%', '0.003%']
    """
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.1g}%"


def _of_target(history: Sequence[WeightUpdate]) -> str | None:
    losses = [u.target_loss for u in history if u.target_loss is not None]
    if len(losses) < 2 * _FEWEST:
        return None
    ends = max(_FEWEST, int(_ENDS * len(losses)))
    first, last = Level.of(losses[:ends]), Level.of(losses[-ends:])
    if not last.is_worse_than(first):
        return None
    return (
        f"after step {history[-1].step}, the target's loss at updates is {last.mean:.3g}, after "
        f"{first.mean:.3g} at the first {ends}: these sources may lead away from it. Compare the "
        "score with that of `paradigm: single-task`; if that is better, take other sources, or a "
        "lower `training.learning_rate`."
    )
