"""φ̄_ω without training: the source problem solved for the linearised encoder.

Near its start θ an encoder is about linear in its parameters, φ(x; θ+δ) ≈ φ(x) + J(x) δ. With heads
fitted on the starting vectors, what training on the weighted sources would do to θ is then a
convex problem, which conjugate gradient solves:

    (Σ ω_t Gₜ + λ I) δ = −Σ ω_t ∇L_t          G = Jᵀ Aᵀ H A J, the Gauss-Newton matrix

J d is a difference of two forward passes, and Jᵀ u one backward pass. The target then sees the
vectors φ(x) + J(x) δ, on which a head is fitted: the definition of the task distance itself, for
the tangent model in place of the trained one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tawt.distance.items import Items, items_of
from tawt.gradients import gradient_of, trainable
from tawt.per_example.swapping import swapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.distance.linear_head import LinearHead
    from tawt.tasks import Batch, Kind

Vector = list[Tensor]
_STEP = 1e-3  # of the parameters' norm, for differences


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
    damping: float = 0.1,
    iterations: int = 5,
) -> Vector:
    """δ: where training on the weighted samples would lead the linearised encoder.

    Args:
        representation: φ at its start, in evaluation mode.
        samples: Of the sources.
        damping: λ, as a share of the curvature along the gradient.
        iterations: Of conjugate gradient.
    """
    parameters = trainable(representation)
    residual = [-entry for entry in gradient_of_samples(representation, samples)]
    squared = _dot(residual, residual)
    step = [torch.zeros_like(entry) for entry in residual]
    if float(squared) == 0:
        return step
    direction, ridge = residual, None
    for _ in range(iterations):
        product = _product(representation, samples, parameters, direction)
        if ridge is None:
            ridge = damping * float(_dot(direction, product) / squared)
        product = [entry + ridge * along for entry, along in zip(product, direction, strict=True)]
        curvature = _dot(direction, product)
        if not float(curvature) > 0:
            break
        length = squared / curvature
        step = _moved(step, direction, length)
        residual = _moved(residual, product, -length)
        before, squared = squared, _dot(residual, residual)
        direction = _moved(residual, direction, squared / before)
    return step


def tangent_items(
    representation: nn.Module, kind: Kind, batches: Sequence[Batch], step: Vector
) -> Items:
    """φ(x) + J(x) δ of every item, with its label."""
    parameters = trainable(representation)
    vectors, labels = [], []
    for batch in batches:
        with torch.no_grad():
            found, known = items_of(kind, representation(batch.inputs), batch.labels)
        vectors.append((found + _along(representation, kind, batch, parameters, step)).cpu())
        labels.append(known.cpu())
    return Items(torch.cat(vectors), torch.cat(labels))


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
    parameters = trainable(representation)
    slopes = []
    for batch in sample.batches:
        along = _along(representation, sample.kind, batch, parameters, direction)
        with torch.no_grad():
            vectors, labels = items_of(sample.kind, representation(batch.inputs), batch.labels)
            slopes.append(sample.head.slopes(vectors, labels, along).mean())
    return float(torch.stack(slopes).mean())


def _product(
    representation: nn.Module,
    samples: Sequence[Sample],
    parameters: Vector,
    direction: Vector,
) -> Vector:
    """Σ ω_t Gₜ d."""
    total = [torch.zeros_like(entry) for entry in parameters]
    for sample in samples:
        for batch in sample.batches:
            along = _along(representation, sample.kind, batch, parameters, direction)
            moved = along @ sample.head.weight.T
            with torch.enable_grad():
                vectors, _ = items_of(sample.kind, representation(batch.inputs), batch.labels)
                outputs = sample.head.outputs(vectors)
                curved = sample.head.curved(outputs.detach(), moved)
                inner = (outputs * curved).sum() / len(outputs)
            _add(total, gradient_of(inner, parameters), sample.weight / len(sample.batches))
    return total


def _along(
    representation: nn.Module,
    kind: Kind,
    batch: Batch,
    parameters: Vector,
    direction: Vector,
) -> Tensor:
    """J d of every item, by central differences."""
    length = float(_dot(direction, direction).sqrt())
    if length == 0:
        with torch.no_grad():
            return torch.zeros_like(items_of(kind, representation(batch.inputs), batch.labels)[0])
    size = float(_dot(parameters, parameters).detach().sqrt())
    epsilon = _STEP * (size or 1.0) / length
    sides = []
    with torch.no_grad():
        for sign in (1.0, -1.0):
            swaps = [
                (own, own.detach() + sign * epsilon * entry)
                for own, entry in zip(parameters, direction, strict=True)
            ]
            with swapped(representation, swaps):
                vectors, _ = items_of(kind, representation(batch.inputs), batch.labels)
            sides.append(vectors)
    return (sides[0] - sides[1]) / (2 * epsilon)


def _dot(left: Vector, right: Vector) -> Tensor:
    return torch.stack(
        [(a.double() * b.double()).sum() for a, b in zip(left, right, strict=True)]
    ).sum()


def _moved(start: Vector, along: Vector, length: Tensor) -> Vector:
    return [a + length.to(a) * b for a, b in zip(start, along, strict=True)]


def _add(total: Vector, gradient: Sequence[Tensor | None], scale: float) -> None:
    for place, entry in zip(total, gradient, strict=True):
        if entry is not None:
            place.add_(entry.to(place), alpha=scale)
