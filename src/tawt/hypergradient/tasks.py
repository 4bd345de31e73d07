"""Tasks that are units: one gradient at a time, measured along the direction and dropped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.hypergradient.aims import Aim
    from tawt.hypergradient.alignments import Alignment


@dataclass(frozen=True, kw_only=True)
class TaskAgreements:
    """What was found about each task, by name."""

    alignments: dict[str, float]
    norms: dict[str, float]
    losses: dict[str, float]
    target_norm: float


def measured_tasks(aim: Aim, alignment: Alignment) -> TaskAgreements:
    """Measure the tasks that are units; all numbers leave the device together.

    Args:
        aim: What they are measured along.
        alignment: How well a gradient agrees with it.
    """
    products, losses = dict(aim.own), list(aim.losses)
    for name in aim.weighed:
        if name not in products:
            loss, inner, squared = aim.passes.along(name, aim.direction)
            losses.append((name, loss))
            products[name] = inner, squared
    [target_squared, direction_squared], inner, squared, values = _on_the_cpu(
        [aim.target_squared, aim.direction_squared],
        [products[name][0] for name in aim.weighed],
        [products[name][1] for name in aim.weighed],
        [loss for _, loss in losses],
    )
    agreements = alignment.measure(inner, direction_squared, squared)
    return TaskAgreements(
        alignments=dict(zip(aim.weighed, agreements.tolist(), strict=True)),
        norms=dict(zip(aim.weighed, squared.sqrt().tolist(), strict=True)),
        losses=_summed(losses, values),
        target_norm=math.sqrt(target_squared),
    )


def _on_the_cpu(*groups: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Groups of scalars in float64, in one transfer: one wait for the device an update."""
    scalars = [scalar for group in groups for scalar in group]
    device = scalars[0].device
    wide = [scalar.detach().to(device, torch.float64) for scalar in scalars]
    return torch.split(torch.stack(wide).cpu(), [len(group) for group in groups])


def _summed(losses: Sequence[tuple[str, Tensor]], values: Tensor) -> dict[str, float]:
    """Losses by task; those of a task that was asked twice added up."""
    total: dict[str, float] = {}
    for (task, _), value in zip(losses, values.tolist(), strict=True):
        total[task] = total.get(task, 0.0) + value
    return total
