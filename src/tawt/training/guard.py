"""Sees when training is about to fail by its weights, and says so once.

Two ways are known. Where tasks are drawn by their size, a task of few examples and a large weight
is seen in few steps, whose losses are scaled up in turn; when a few steps carry the objective, no
optimiser survives them. And sources may lead away from the target, whichever weights they have.
"""

from __future__ import annotations

import logging
from statistics import mean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.training.schedule import Schedule
    from tawt.weights import WeightUpdate

_log = logging.getLogger(__name__)

_FEW = 0.1  # of the steps; as much as if all others were left out
_SOME = 3  # updates whose losses are compared
_RISE = 1.25


class Guard:
    """Looks at weights and losses after every update.

    Attributes:
        said: Its warnings, by what they are about.
    """

    def __init__(self) -> None:
        self.said: dict[str, str] = {}

    def look(
        self, schedule: Schedule, shares: Mapping[str, float], history: Sequence[WeightUpdate]
    ) -> None:
        """Warn, the first time, of steps that carry everything, and of a target that is unlearned.

        Args:
            schedule: Of the steps.
            shares: The weights now.
            history: All updates so far.
        """
        if not history or history[-1].skipped is not None:
            return
        self._say("steps", _of_steps(schedule, shares, step=history[-1].step))
        self._say("target", _of_target(history))

    def _say(self, what: str, found: str | None) -> None:
        if found is not None and what not in self.said:
            self.said[what] = found
            _log.warning("%s", found)


def effective_steps(schedule: Schedule, shares: Mapping[str, float]) -> float:
    """The share of the steps that the objective's gradient comes from: N_ω / N of the paper.

    Args:
        schedule: Of steps that are drawn by size.
        shares: ω_t.

    Example:
        >>> from tawt.training.schedule import Schedule
        >>> schedule = Schedule(
        ...     {"few": 100, "many": 9900}, batch_size=10, sampling="size", seed=0, phase="x"
        ... )
        >>> effective_steps(schedule, {"few": 0.01, "many": 0.99}).__round__(3)
        1.0
        >>> effective_steps(schedule, {"few": 1.0, "many": 0.0}).__round__(3)
        0.01
    """
    examples = sum(schedule.sizes.values())
    return 1 / sum(
        shares[task] ** 2 * examples / size for task, size in schedule.sizes.items() if shares[task]
    )


def _of_steps(schedule: Schedule, shares: Mapping[str, float], *, step: int) -> str | None:
    if schedule.sampling != "size" or effective_steps(schedule, shares) >= _FEW:
        return None
    examples = sum(schedule.sizes.values())
    scales = {task: shares[task] * examples / size for task, size in schedule.sizes.items()}
    task = max(scales, key=lambda name: scales[name])
    drawn = schedule.sizes[task] / examples
    done = "training is likely to fail; `training.sampling: weight` draws it as often as it counts"
    if schedule.most_scaled is not None:
        done = f"they are scaled by {schedule.most_scaled:g} at most (`training.most_scaled`)"
    return (
        f"after step {step}, {shares[task]:.0%} of the objective is on {task!r}, which {drawn:.1%} "
        f"of the steps train on, their losses scaled by {scales[task]:.0f}: {done}."
    )


def _of_target(history: Sequence[WeightUpdate]) -> str | None:
    losses = [u.target_loss for u in history if u.target_loss is not None]
    if len(losses) < 2 * _SOME:
        return None
    before, now = mean(losses[:_SOME]), mean(losses[-_SOME:])
    if now <= _RISE * before or before <= 0:
        return None
    return (
        f"after step {history[-1].step}, the target's loss has risen from {before:.3g} to "
        f"{now:.3g} since the first updates: training on these sources leads away from it. Compare "
        "with `paradigm: single-task`, or take other sources."
    )
