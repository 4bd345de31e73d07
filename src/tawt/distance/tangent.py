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

from tawt.gradients import dot, gradient_of, squared_norm, trainable
from tawt.per_example.swapping import swapped
from tawt.probes import Items, OnPass, uncounted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.probes import LinearHead
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
    on_pass: OnPass = uncounted,
) -> Vector:
    """δ: where training on the weighted samples would lead the linearised encoder.

    Args:
        representation: φ at its start, in evaluation mode.
        samples: Of the sources.
        damping: λ, as a share of the curvature along the gradient.
        iterations: Of conjugate gradient.
        on_pass: Told of every pass over a batch.
    """
    gradient = gradient_of_samples(representation, samples, on_pass=on_pass)
    residual = [-entry for entry in gradient]
    squared = squared_norm([*residual])
    step = [torch.zeros_like(entry) for entry in residual]
    if float(squared) == 0:
        return step
    direction, ridge = residual, None
    for _ in range(iterations):
        product = _product(representation, samples, direction, on_pass)
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
    representation: nn.Module,
    kind: Kind,
    batches: Sequence[Batch],
    step: Vector,
    start: Items,
    *,
    on_pass: OnPass = uncounted,
) -> Items:
    """φ(x) + J(x) δ of every item, with its label: one forward pass.

    Args:
        representation: φ at its start.
        kind: Of the task.
        batches: Of its examples.
        step: δ.
        start: φ(x) of every item, in the order of the batches.
        on_pass: Told of every pass over a batch.
    """
    moved, vectors = _Moved(representation, step), []
    for batch in batches:
        vectors.append(moved.vectors(kind, batch).cpu())
        on_pass(1)
    along = (torch.cat(vectors) - start.vectors.to(vectors[0])) / moved.size
    return Items(start.vectors.to(along) + along, start.labels)


def gradient_of_samples(
    representation: nn.Module, samples: Sequence[Sample], *, on_pass: OnPass = uncounted
) -> Vector:
    """Σ ω_t ∇L_t by the representation's parameters."""
    parameters = trainable(representation)
    total = [torch.zeros_like(entry) for entry in parameters]
    for sample in samples:
        for batch in sample.batches:
            with torch.enable_grad():
                loss = sample.head.loss(representation, sample.kind, batch)
            _add(total, gradient_of(loss, parameters), sample.weight / len(sample.batches))
            on_pass(3)
    return total


def _product(
    representation: nn.Module, samples: Sequence[Sample], direction: Vector, on_pass: OnPass
) -> Vector:
    """Σ ω_t Gₜ d."""
    parameters = trainable(representation)
    total = [torch.zeros_like(entry) for entry in parameters]
    moved = _Moved(representation, direction)
    for sample in samples:
        for batch in sample.batches:
            with torch.enable_grad():
                vectors, _ = sample.kind.items(representation(batch.inputs), batch.labels)
                outputs = sample.head.outputs(vectors)
                along = moved.along(sample.kind, batch, vectors.detach())
                curved = sample.head.curved(outputs.detach(), along @ sample.head.weight.T)
                inner = (outputs * curved).sum() / len(outputs)
            _add(total, gradient_of(inner, parameters), sample.weight / len(sample.batches))
            on_pass(4)
    return total


class _Moved:
    """The representation a little along a direction.

    How little: so that what a difference loses to rounding and what it loses to bending are about
    the same.
    """

    def __init__(self, representation: nn.Module, direction: Vector) -> None:
        own = trainable(representation)
        length = float(squared_norm([*direction]).sqrt()) or 1.0
        start = float(squared_norm([entry.detach() for entry in own]).sqrt()) or 1.0
        self.size = torch.finfo(own[0].dtype).eps ** 0.5 * start / length
        self._representation = representation
        self._swaps = [
            (entry, entry.detach() + self.size * along)
            for entry, along in zip(own, direction, strict=True)
        ]

    def vectors(self, kind: Kind, batch: Batch) -> Tensor:
        """Of every item of a batch."""
        with torch.no_grad(), swapped(self._representation, self._swaps):
            return kind.items(self._representation(batch.inputs), batch.labels)[0]

    def along(self, kind: Kind, batch: Batch, start: Tensor) -> Tensor:
        """J d of every item, by a difference from its starting vectors."""
        with torch.no_grad():
            found: Tensor = (self.vectors(kind, batch) - start) / self.size
        return found


def _moved(start: Vector, along: Vector, length: Tensor) -> Vector:
    return [a + length.to(a) * b for a, b in zip(start, along, strict=True)]


def _add(total: Vector, gradient: Sequence[Tensor | None], scale: float) -> None:
    for place, entry in zip(total, gradient, strict=True):
        if entry is not None:
            place.add_(entry.to(place), alpha=scale)
