"""g_u for units finer than a task: each example's alignment at the cost of two forward passes.

    a_i = ⟨v, ∇φ ℓ_i⟩                       for a whole batch at once (`tawt.per_example`)
    g_u = −c · mean of a_i over the unit's examples

With cosines a_i is divided by ‖v‖ ‖∇φ ℓ_i‖, which takes a backward pass more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from tawt.errors import TrainingError
from tawt.hypergradient.aims import LossOf, OwnAlignment, aimed
from tawt.hypergradient.tasks import on_the_cpu, summed
from tawt.per_example import ExampleNorms, ExampleProducts, Losses, Way

if TYPE_CHECKING:
    from tawt.hypergradient.aims import Aim
    from tawt.hypergradient.alignments import Alignment
    from tawt.unit_weights import UnitWeights

LossesOf = Callable[[str], Iterable[tuple[np.ndarray[Any, Any], Losses]]]
"""A source's examples in batches: their positions, and what computes the loss of each."""


@dataclass(frozen=True, kw_only=True)
class UnitHypergradient:
    """g for every unit and what it was made from, on the CPU."""

    sources: tuple[str, ...]
    alignments: Tensor
    """Agreement of each unit with the target, float32, shape `(units,)`."""
    means: dict[str, float]
    """Mean agreement of each task's examples."""
    measured: Tensor
    """Which units have an example that was measured; the others have their source's mean."""
    target_norm: float
    """Norm of the targets' combined gradient."""
    losses: dict[str, float]
    """Loss of every target on the examples it was measured on."""
    scale: float
    way: str
    """How products were computed: "forward", "mixed" or "differences"."""
    relative_error: float | None
    """Of the products, where they are not exact."""

    @property
    def norms_by_name(self) -> dict[str, float]:
        """Of the tasks' gradients, which are not made."""
        return {}

    @property
    def values(self) -> Tensor:
        """g_u = −c · alignment, shape `(units,)`."""
        return -self.scale * self.alignments

    @property
    def is_finite(self) -> bool:
        """Whether every number in it is."""
        numbers = [*self.means.values(), *self.losses.values(), self.target_norm]
        return all(map(math.isfinite, numbers)) and bool(torch.isfinite(self.values).all())

    @property
    def culprits(self) -> list[str]:
        """Tasks whose own loss or gradient is not finite."""
        found = {**self.means, **self.losses}
        return sorted(name for name, value in found.items() if not math.isfinite(value))


def unit_hypergradient(
    parameters: Sequence[Tensor],
    *,
    weights: UnitWeights,
    targets: Mapping[str, float],
    module: nn.Module,
    loss_of: LossOf,
    losses_of: LossesOf,
    alignment: Alignment,
    own_alignment: OwnAlignment = "itself",
    way: Way = "auto",
) -> UnitHypergradient:
    """Measure every unit against the targets.

    Args:
        parameters: Of the representation φ.
        weights: Of the units now.
        targets: The convex combination of targets whose loss is to fall.
        module: All that `losses_of` runs: representation and heads.
        loss_of: A task's loss on a fresh batch, as for `hypergradient`.
        losses_of: A source's examples, those to be measured, in batches.
        alignment: `Cosine` or `CurvatureWeighted`.
        own_alignment: How a target that is weighed too is compared with itself.
        way: How products with the direction are measured, as for `ExampleProducts`.
    """
    units = weights.units
    weighed = weights.names[len(units.sizes) :]
    aim = aimed(
        parameters,
        units=weighed,
        targets=targets,
        weights=weights.shares(),
        loss_of=loss_of,
        alignment=alignment,
        own_alignment=own_alignment,
    )
    products = ExampleProducts(module, parameters, aim.direction, way=way)
    found = torch.zeros(len(weights), dtype=torch.float32)
    measured = torch.zeros(len(weights), dtype=torch.bool)
    means: dict[str, float] = {}
    for source, span in units.spans.items():
        # Of each source its own: what one's examples do not allow need not be denied the next.
        norms = ExampleNorms(module, parameters) if alignment.needs_norms else None
        products.look_again()
        sums, counts = torch.zeros(2, span.stop - span.start, dtype=torch.float32)
        for given, losses in losses_of(source):
            indices = _positions(given, source, units.sizes[source])
            inner = products(losses)
            squared = torch.ones_like(inner) if norms is None else norms(losses)
            agreed = alignment.measure(inner, aim.direction_squared.to(inner), squared.to(inner))
            places = torch.from_numpy(units.at(source, indices) - span.start).long()
            sums.index_add_(0, places, agreed.float().cpu())
            counts.index_add_(0, places, torch.ones(len(places), dtype=torch.float32))
        means[source] = float(sums.double().sum() / counts.sum())
        found[span] = torch.where(counts > 0, sums / counts.clamp(min=1), means[source])
        measured[span] = counts > 0
    own = _own(aim, weighed, alignment)
    for position, name in enumerate(weighed, start=units.count):
        found[position], measured[position] = own[name], True
    [squared_norm], values = on_the_cpu([aim.target_squared], [loss for _, loss in aim.losses])
    return UnitHypergradient(
        sources=tuple(units.sizes),
        alignments=found,
        means=means | own,
        measured=measured,
        target_norm=math.sqrt(squared_norm),
        losses=summed(aim.losses, values),
        scale=alignment.scale,
        way=products.way,
        relative_error=products.relative_error,
    )


def _positions(given: object, source: str, size: int) -> np.ndarray[Any, Any]:
    """Positions of a source's examples, if that is what `losses_of` gave."""
    positions = np.asarray(given)
    fits = positions.ndim == 1 and np.issubdtype(positions.dtype, np.integer)
    if not fits or (len(positions) and not 0 <= positions.min() <= positions.max() < size):
        raise TrainingError(
            f"`losses_of` must give pairs: positions of examples of {source!r}, whole numbers from "
            f"0 to {size - 1}, and a function that returns their losses; got {str(given)[:80]} "
            "for positions."
        )
    return positions


def _own(aim: Aim, weighed: Sequence[str], alignment: Alignment) -> dict[str, float]:
    """The alignments of targets that are units too."""
    found: dict[str, float] = {}
    for name in weighed:
        if name in aim.own:
            inner, squared = aim.own[name]
        else:
            loss, inner, squared = aim.passes.along(name, aim.direction)
            aim.losses.append((name, loss))
        found[name] = float(alignment.measure(inner, aim.direction_squared, squared))
    return found
