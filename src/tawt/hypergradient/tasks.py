"""g_t for every task, or for whatever else has a loss of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.hypergradient.aims import LossOf, OwnAlignment, aimed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.hypergradient.alignments import Alignment


@dataclass(frozen=True, kw_only=True)
class Hypergradient:
    """g for every unit and what it was made from; float64 on the CPU."""

    units: tuple[str, ...]
    targets: tuple[str, ...]
    alignments: Tensor
    """Agreement of each unit with the target, shape `(units,)`."""
    norms: Tensor
    """Gradient norm of each unit, shape `(units,)`."""
    target_norm: float
    """Norm of the targets' combined gradient."""
    losses: dict[str, float]
    """Loss of every task on the examples it was measured on."""
    scale: float

    @property
    def values(self) -> Tensor:
        """g_u = −c · alignment, shape `(units,)`."""
        return -self.scale * self.alignments

    @property
    def means(self) -> dict[str, float]:
        """Agreement of each unit by name."""
        return dict(zip(self.units, self.alignments.tolist(), strict=True))

    @property
    def norms_by_name(self) -> dict[str, float]:
        """Gradient norm of each unit by name."""
        return dict(zip(self.units, self.norms.tolist(), strict=True))

    @property
    def is_finite(self) -> bool:
        """Whether every number in it is."""
        numbers = [*self.values.tolist(), *self.norms.tolist(), *self.losses.values()]
        return all(map(math.isfinite, [*numbers, self.target_norm]))

    @property
    def culprits(self) -> list[str]:
        """Tasks whose own loss or gradient is not finite."""
        found = {name for name, loss in self.losses.items() if not math.isfinite(loss)}
        norms = self.norms_by_name
        found |= {name for name, norm in norms.items() if not math.isfinite(norm)}
        if not math.isfinite(self.target_norm) and not found & set(self.targets):
            found |= set(self.targets)
        return sorted(found)


def hypergradient(
    parameters: Sequence[Tensor],
    *,
    units: Sequence[str],
    targets: Mapping[str, float],
    weights: Mapping[str, float],
    loss_of: LossOf,
    alignment: Alignment,
    own_alignment: OwnAlignment = "itself",
) -> Hypergradient:
    """Measure every unit against the targets.

    Args:
        parameters: Of the representation φ.
        units: What is weighed, in order; targets among them in joint training.
        targets: The convex combination of targets whose loss is to fall.
        weights: ω_u of the objective, for H = Σ ω_u ∇²L_u.
        loss_of: A task's loss on a fresh batch; called once per unit and target, for a target
            among the units a second time if `own_alignment` is "held-out", and once more per unit
            by curvatures that need the Hessian. If it is a `Passes` too, its gradients are taken.
        alignment: `Cosine` or `CurvatureWeighted`.
        own_alignment: "itself" compares a target's gradient with itself, as the authors do: a
            cosine of one always. "held-out" draws other examples for its side of the comparison.

    Example:
        >>> from tawt.hypergradient import Cosine
        >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> ways = {"near": [1.0, 1.0], "far": [1.0, -1.0], "goal": [2.0, 2.0]}
        >>> found = hypergradient(
        ...     [x],
        ...     units=["near", "far"],
        ...     targets={"goal": 1.0},
        ...     weights={"near": 0.5, "far": 0.5},
        ...     loss_of=lambda task: x @ torch.tensor(ways[task]),
        ...     alignment=Cosine(),
        ... )
        >>> found.values.round(decimals=4)
        tensor([-1., -0.], dtype=torch.float64)
    """
    aim = aimed(
        parameters,
        units=units,
        targets=targets,
        weights=weights,
        loss_of=loss_of,
        alignment=alignment,
        own_alignment=own_alignment,
    )
    measured, losses = aim.own, aim.losses
    for unit in units:
        if unit in measured:
            continue
        loss, inner, squared = aim.passes.along(unit, aim.direction)
        losses.append((unit, loss))
        measured[unit] = inner, squared
    numbers = on_the_cpu(
        [aim.target_squared, aim.direction_squared],
        [measured[unit][0] for unit in units],
        [measured[unit][1] for unit in units],
        [loss for _, loss in losses],
    )
    return Hypergradient(
        units=tuple(units),
        targets=tuple(targets),
        alignments=alignment.measure(numbers[1], numbers[0][1], numbers[2]),
        norms=numbers[2].sqrt(),
        target_norm=math.sqrt(numbers[0][0]),
        losses=summed(losses, numbers[3]),
        scale=alignment.scale,
    )


def on_the_cpu(*groups: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Groups of scalars in float64, in one transfer: one wait for the device an update."""
    scalars = [scalar for group in groups for scalar in group]
    device = scalars[0].device
    wide = [scalar.detach().to(device, torch.float64) for scalar in scalars]
    return torch.split(torch.stack(wide).cpu(), [len(group) for group in groups])


def summed(losses: Sequence[tuple[str, Tensor]], values: Tensor) -> dict[str, float]:
    """Losses by task; those of a task that was asked twice added up."""
    total: dict[str, float] = {}
    for (task, _), value in zip(losses, values.tolist(), strict=True):
        total[task] = total.get(task, 0.0) + value
    return total
