"""Tasks that are units: one gradient at a time, measured along the direction and dropped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.hypergradient.passes import JointPasses
from tawt.hypergradient.tally import Product, Settled

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
    products = {name: Product(*numbers, None) for name, numbers in aim.own.items()}
    losses = list(aim.losses)
    for name in aim.weighed:
        if name not in products:
            loss, inner, squared = aim.passes.along(name, aim.direction)
            products[name] = Product(inner, squared, len(losses))
            losses.append((name, loss))
    found = _settled(aim, [products[name] for name in aim.weighed], [loss for _, loss in losses])
    agreements = alignment.measure(found.inner, found.direction_squared, found.squared)
    return TaskAgreements(
        alignments=dict(zip(aim.weighed, agreements.tolist(), strict=True)),
        norms=_norms(aim.weighed, found),
        losses=_summed(losses, found.losses),
        target_norm=math.sqrt(found.target_squared),
    )


def _settled(aim: Aim, products: Sequence[Product], losses: Sequence[Tensor]) -> Settled:
    shared = aim.target_squared, aim.direction_squared
    if isinstance(aim.passes, JointPasses):
        return aim.passes.settled(shared, products, losses, targets=aim.reaching)
    [target_squared, direction_squared], inner, squared, values = _on_the_cpu(
        shared, [p.inner for p in products], [p.squared for p in products], losses
    )
    return Settled(
        target_squared=float(target_squared),
        direction_squared=direction_squared,
        inner=inner,
        squared=squared,
        losses=values,
        known=(True,) * len(products),
        broken=(False,) * len(products),
    )


def _norms(names: Sequence[str], found: Settled) -> dict[str, float]:
    """Of each task whose norm is known; NaN of one whose gradient is known not to be finite.

    The norm of a gradient that several processes have a part of each takes traffic, and is left
    out where nobody asks for it.
    """
    each = zip(names, found.squared.sqrt().tolist(), found.known, found.broken, strict=True)
    return {name: norm for name, norm, known, broken in each if known or broken}


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
