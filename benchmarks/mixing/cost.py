"""What a method costs, in windows that go forward and back through the model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tawt.training.rounds import update_steps
from tawt.training.watching import AIM_EVERY

if TYPE_CHECKING:
    from benchmarks.mixing.spec import Spec
    from tawt.training import Settings

LEARN = ("target-aware", "doge", "bandit", "excess-loss")
"""Methods that measure something while they train."""


def affordable_steps(spec: Spec, settings: Settings, *, sources: int) -> int:
    """How many steps a budget leaves, what is measured between them paid for.

    Args:
        spec: Says what the method is, and the budget: steps without any measurement.
        settings: Of the training.
        sources: How many there are.
    """
    left, step = float(spec.budget * settings.batch_size), 0
    due = _next_update(spec, settings, after=0)
    while left >= settings.batch_size:
        step += 1
        left -= settings.batch_size
        if step == due:
            left -= _update(spec, settings, sources=sources, step=step)
            due = _next_update(spec, settings, after=step)
        left -= _direction(spec, settings, step=step)
    return max(1, step)


def _next_update(spec: Spec, settings: Settings, *, after: int) -> float:
    if spec.kind not in LEARN or settings.update_every is None:
        return math.inf
    found = update_steps(settings.update_every, growth=settings.update_growth)
    return next(step for step in found if step > after)


def _update(spec: Spec, settings: Settings, *, sources: int, step: int) -> int:
    """Windows that an update goes by."""
    each = settings.gradient_examples
    if settings.measure == "training steps" and step != settings.update_every:
        return 0  # the first alone has no steps to go by
    if spec.kind == "excess-loss":
        return each * sources // 3  # losses alone: a pass forward is a third of both
    return each * (1 if spec.kind == "bandit" else sources) + (settings.target_examples or each)


def _direction(spec: Spec, settings: Settings, *, step: int) -> int:
    """Windows that the target's gradient takes, where training steps are compared with it."""
    watches = spec.kind == "target-aware" and settings.measure == "training steps"
    if not watches or step % AIM_EVERY or step < (settings.update_every or 0):
        return 0
    return -(-(settings.target_examples or settings.gradient_examples) // AIM_EVERY)
