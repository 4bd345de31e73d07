"""Sees when training is about to fail by its weights, or may be failing, and says so once.

Weights may ask for what data cannot give. Where tasks are drawn by size, a task that counts far
more than is seen of it makes training fail (see `scaled`); where they are drawn by weight, a small
source of large weight is passed over until it is known by heart. What is done about it, by drawing
otherwise, is the schedule's.

And sources may lead away from the target, whichever weights they have. Scores on dev examples show
it; where there are none, what the vectors of the representation say about the target, or its losses
at updates. To go back to a model that was better is for `Judge`.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tawt.training.beyond import of_passes, of_size, of_steps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.tasks import Task
    from tawt.training.progress import Position
    from tawt.training.result import Predictions
    from tawt.training.stretch import Stretch
    from tawt.weights import WeightUpdate

_log = logging.getLogger(__name__)

_FEWEST = 4  # updates at each end whose losses are compared
_ENDS = 0.25  # of all updates, at each end
_WORSE = 0.25  # of what it was; less is no collapse
_LOST = 0.75  # of what vectors said at the start; less is what other tasks cost
_GROWN = 2.0  # times the loss of the first epoch; it falls where nothing is wrong
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

    def is_worse_than(self, other: Level, *, by: float = _WORSE) -> bool:
        """By a quarter of it (or so much), and by more than chance explains.

        Example:
            >>> Level(1.3, 0.05).is_worse_than(Level(1.0, 0.05))
            True
            >>> Level(1.3, 0.1).is_worse_than(Level(1.0, 0.1))
            False
        """
        rise = self.mean - other.mean
        sure = rise > _ERRORS * math.hypot(self.error, other.error)
        return sure and rise > by * abs(other.mean)


class Guard:
    """Looks at weights before steps are drawn by them, and at the target when an epoch is over.

    Attributes:
        said: Its warnings, by what they are about.
    """

    def __init__(self) -> None:
        self.said: dict[str, str] = {}
        self._best: dict[str, dict[str, float]] = {}
        self._start: dict[str, list[float]] = {}

    def look_at_weights(
        self, stretch: Stretch, position: Position, taken: Mapping[str, int]
    ) -> None:
        """Warn, the first time, of weights that data cannot follow.

        Args:
            stretch: Whose steps are to come; if none are left, nothing can fail.
            position: Of the next one.
            taken: How many examples of each task the steps so far have had.
        """
        plan, weights = stretch.schedule, stretch.weighting.weights
        left = stretch.total - position.epoch * plan.length - position.step
        if left <= 0:
            return
        shares = weights.shares()
        self._say("steps", of_steps(plan, shares, step=position.total))
        if not plan.draws_by_weight(shares):
            return
        self._say("passes", of_passes(plan, shares, taken, left=left, step=position.total))
        if "passes" not in self.said:
            self._say("size", of_size(plan, weights, left=left))

    def look_at_dev(
        self, found: Mapping[str, Predictions], tasks: Mapping[str, Task], *, step: int
    ) -> bool:
        """Warn, the first time, of a target whose dev scores have fallen since their best.

        Args:
            found: What the model predicts of each target's dev examples.
            tasks: By name.
            step: How many steps there were; none, at the first look.

        Returns:
            Whether all targets are clearly below where they were at the first look.
        """
        below = []
        for name, predictions in found.items():
            now = Level.of([-score for score in predictions.example_scores])
            score = predictions.scores[tasks[name].kind.metric]
            first = Level(*self._start.setdefault(name, [*now]))
            below.append(now.is_worse_than(first))
            best = self._best.get(name)
            if best is None or now.mean < best["mean"]:
                here = {"score": score, "step": step}
                self._best[name] = {"mean": now.mean, "error": now.error, **here}
            elif now.is_worse_than(Level(best["mean"], best["error"])):
                said = (
                    f"on dev examples of {name!r}, {tasks[name].kind.metric} was "
                    f"{best['score']:.3g} {_when(best['step'])} and is {score:.3g} {_when(step)}: "
                    "training may be failing. Try a lower `training.learning_rate`, or other "
                    "sources."
                )
                self._say("dev", said)
        return all(below)

    def look_at_gains(self, gains: Mapping[str, Sequence[float]], *, step: int) -> bool:
        """Warn, the first time, of a target of which vectors say hardly anything any more.

        Args:
            gains: By how much the loss of each example is lower for knowing its vector.
            step: How many steps there were.

        Returns:
            Whether so it is with any target.
        """
        lost = []
        for name, found in gains.items():
            now = Level.of([-gain for gain in found])
            first = Level(*self._start.setdefault(name, [*now]))
            lost.append(now.is_worse_than(first, by=_LOST))
            if lost[-1]:
                said = (
                    f"to know its vector took {-first.mean:.2g} off the loss of an example of "
                    f"{name!r} at the start, and {-now.mean:.2g} {_when(step)}: these sources lead "
                    "away from it, or training fails. Try a lower `training.learning_rate`, or "
                    "other sources."
                )
                self._say("target", said)
        return any(lost)

    def look_back(self, history: Sequence[WeightUpdate], losses: Sequence[float]) -> None:
        """Warn, the first time, where losses are all that there is to look at.

        Args:
            history: All updates so far, at which the target may have been unlearned.
            losses: Of the epochs so far, of all that is trained on.
        """
        self._say("target", _of_target(history))
        if not history and len(losses) > 1 and not losses[-1] <= _GROWN * losses[0]:
            said = (
                f"the loss of epoch {len(losses)} is {losses[-1]:.3g}, after {losses[0]:.3g} in "
                "the first: training is failing. Try a lower `training.learning_rate`."
            )
            self._say("loss", said)

    def conclude(self, done: str) -> None:
        """Say what has become of a target that was warned of."""
        for what in ("dev", "target"):
            if what in self.said:
                self.said[what] += f" {done}"
                _log.warning("%s", done)
                return

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {
            "said": dict(self.said),
            "best": {name: dict(b) for name, b in self._best.items()},
            "start": {name: list(level) for name, level in self._start.items()},
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Inverse of `state_dict`."""
        self.said, self._best = dict(state["said"]), dict(state["best"])
        self._start = dict(state["start"])

    def _say(self, what: str, found: str | None) -> None:
        if found is not None and what not in self.said:
            self.said[what] = found
            _log.warning("%s", found)


def _when(step: float) -> str:
    return f"after step {step:.0f}" if step else "at the start"


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
