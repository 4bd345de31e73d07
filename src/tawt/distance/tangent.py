"""φ̄_ω without training: the source problem solved for the linearised encoder.

Near its start θ an encoder is about linear in its parameters, φ(x; θ+δ) ≈ φ(x) + J(x) δ. With heads
fitted on the starting vectors, what training on the weighted sources would do to θ is then a
convex problem, which conjugate gradient solves:

    (Σ ω_t Gₜ + λ I) δ = −Σ ω_t ∇L_t          G = Jᵀ Aᵀ H A J, the Gauss-Newton matrix

J d is a difference of two forward passes, one of which is needed anyway, and Jᵀ u one backward
pass. The target then sees the vectors φ(x) + J(x) δ, on which a head is fitted: the definition of
the task distance itself, for the tangent model in place of the trained one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tawt.distance.items import Items, items_of
from tawt.gradients import dot, gradient_of, squared_norm, trainable
from tawt.per_example.swapping import swapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.distance.linear_head import LinearHead
    from tawt.tasks import Batch, Kind

Vector = list[Tensor]


@dataclass(frozen=True)
class Sample:
    """Some examples of a task, in batches, and the head fitted on the starting vectors."""

    kind: Kind
    batches: Sequence[Batch]
    head: LinearHead
    weight: float = 1.0
    """ω_t."""


def tangent_step(
    representation: nn.Module,
    samples: Sequence[Sample],
    *,
    damping: float = 1.0,
    iterations: int = 2,
) -> Vector:
    """δ: where training on the weighted samples would lead the linearised encoder.

    Args:
        representation: φ at its start, in evaluation mode.
        samples: Of the sources.
        damping: λ, as a share of the curvature along the gradient.
        iterations: Of conjugate gradient.
    """
    residual = [-entry for entry in gradient_of_samples(representation, samples)]
    squared = squared_norm([*residual])
    step = [torch.zeros_like(entry) for entry in residual]
    if float(squared) == 0:
        return step
    direction, ridge = residual, None
    for _ in range(iterations):
        product = _product(representation, samples, direction)
        if ridge is None:
            ridge = damping * float(dot([*direction], [*product]) / squared)
        product = [entry + ridge * along for entry, along in zip(product, direction, strict=True)]
        curvature = dot([*direction], [*product])
        if not float(curvature) > 0:
            break
        length = squared / curvature
        step = _moved(step, direction, length)
        residual = _moved(residual, product, -length)
        before, squared = squared, squared_norm([*residual])
        direction = _moved(residual, direction, squared / before)
    return step


def tangent_items(
    representation: nn.Module, kind: Kind, batches: Sequence[Batch], step: Vector, start: Items
) -> Items:
    """φ(x) + J(x) δ of every item, with its label: one forward pass.

    Args:
        representation: φ at its start.
        kind: Of the task.
        batches: Of its examples.
        step: δ.
        start: φ(x) of every item, in the order of the batches.
    """
    moved = _Moved(representation, step)
    with torch.no_grad(), moved:
        vectors = [
            items_of(kind, representation(batch.inputs), batch.labels)[0].cpu() for batch in batches
        ]
    along = (torch.cat(vectors) - start.vectors.to(vectors[0])) / moved.size
    return Items(start.vectors.to(along) + along, start.labels)


def gradient_of_samples(representation: nn.Module, samples: Sequence[Sample]) -> Vector:
    """Σ ω_t ∇L_t by the representation's parameters."""
    parameters = trainable(representation)
    total = [torch.zeros_like(entry) for entry in parameters]
    for sample in samples:
        for batch in sample.batches:
            with torch.enable_grad():
                loss = sample.head.loss(representation, sample.kind, batch)
            _add(total, gradient_of(loss, parameters), sample.weight / len(sample.batches))
    return total


def slope(representation: nn.Module, sample: Sample, direction: Vector) -> float:
    """⟨∇L, d⟩ without ∇L: two forward passes, and no memory for a gradient."""
    slopes = []
    for batch in sample.batches:
        with torch.no_grad():
            vectors, labels = items_of(sample.kind, representation(batch.inputs), batch.labels)
            along = _along(representation, sample.kind, batch, direction, vectors)
            each = sample.head.slopes(vectors, labels, along)
            slopes.append(each.sum() / max(1, len(each)))
    return float(torch.stack(slopes).mean())


def _product(representation: nn.Module, samples: Sequence[Sample], direction: Vector) -> Vector:
    """Σ ω_t Gₜ d."""
    parameters = trainable(representation)
    total = [torch.zeros_like(entry) for entry in parameters]
    for sample in samples:
        for batch in sample.batches:
            with torch.enable_grad():
                vectors, _ = items_of(sample.kind, representation(batch.inputs), batch.labels)
                outputs = sample.head.outputs(vectors)
                along = _along(representation, sample.kind, batch, direction, vectors.detach())
                curved = sample.head.curved(outputs.detach(), along @ sample.head.weight.T)
                inner = (outputs * curved).sum() / len(outputs)
            _add(total, gradient_of(inner, parameters), sample.weight / len(sample.batches))
    return total


def _along(
    representation: nn.Module, kind: Kind, batch: Batch, direction: Vector, start: Tensor
) -> Tensor:
    """J d of every item, by a difference from its starting vectors."""
    moved = _Moved(representation, direction)
    with torch.no_grad(), moved:
        vectors, _ = items_of(kind, representation(batch.inputs), batch.labels)
    found: Tensor = (vectors - start) / moved.size
    return found


class _Moved:
    """The representation a little along a direction, while inside.

    How little: so that what a difference loses to rounding and what it loses to bending are about
    the same.
    """

    def __init__(self, representation: nn.Module, direction: Vector) -> None:
        parameters = [entry.detach() for entry in trainable(representation)]
        length = float(squared_norm([*direction]).sqrt()) or 1.0
        start = float(squared_norm([*parameters]).sqrt()) or 1.0
        self.size = torch.finfo(parameters[0].dtype).eps ** 0.5 * start / length
        self._inner = swapped(
            representation,
            [
                (own, own.detach() + self.size * entry)
                for own, entry in zip(trainable(representation), direction, strict=True)
            ],
        )

    def __enter__(self) -> None:
        self._inner.__enter__()

    def __exit__(self, *error: object) -> None:
        self._inner.__exit__(*error)  # type: ignore[arg-type]


def _moved(start: Vector, along: Vector, length: Tensor) -> Vector:
    return [a + length.to(a) * b for a, b in zip(start, along, strict=True)]


def _add(total: Vector, gradient: Sequence[Tensor | None], scale: float) -> None:
    for place, entry in zip(total, gradient, strict=True):
        if entry is not None:
            place.add_(entry.to(place), alpha=scale)
