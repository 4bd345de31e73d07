"""What a measurement finds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from tawt.units import Units


@dataclass(frozen=True, kw_only=True)
class Hypergradient:
    """g for every unit and what it was made from, on the CPU."""

    units: Units
    targets: tuple[str, ...]
    alignments: Tensor
    """Agreement of each unit with the target, shape `(units,)`; float64 if all are tasks, float32
    otherwise."""
    measured: Tensor
    """Which units were measured, boolean; one of whose examples none was has its task's mean."""
    means: dict[str, float]
    """Mean agreement of each task's examples."""
    norms: dict[str, float]
    """Gradient norm of each task that is a unit; of others no gradient is made."""
    target_norm: float
    """Norm of the targets' combined gradient."""
    losses: dict[str, float]
    """Loss of every task whose gradient was made, on the examples it was made from."""
    scale: float
    way: str | None = None
    """How products with single examples were computed: "forward", "mixed" or "differences"."""
    relative_error: float | None = None
    """Of those products, where they are not exact."""

    @property
    def values(self) -> Tensor:
        """g_u = −c · alignment, shape `(units,)`."""
        return -self.scale * self.alignments

    @property
    def is_finite(self) -> bool:
        """Whether every number in it is."""
        numbers = [*self.means.values(), *self.norms.values(), *self.losses.values()]
        return all(map(math.isfinite, [*numbers, self.target_norm])) and bool(
            torch.isfinite(self.values).all()
        )

    @property
    def culprits(self) -> list[str]:
        """Tasks whose own losses or gradients are not finite."""
        finer = {name: self.means[name] for name in self.units.finer}
        found = {
            name
            for numbers in (self.losses, self.norms, finer)
            for name, number in numbers.items()
            if not math.isfinite(number)
        }
        if not math.isfinite(self.target_norm) and not found & set(self.targets):
            found |= set(self.targets)
        return sorted(found)
