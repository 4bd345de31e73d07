"""The direction that units are measured along: v = H⁻¹ ∇L_0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from torch import Tensor

from tawt.curvature import WeightedHessian
from tawt.errors import TrainingError
from tawt.given import scalar_loss
from tawt.gradients import Gradient, add_scaled, dot, gradient_of, squared_norm

if TYPE_CHECKING:
    from tawt.hypergradient.alignments import Alignment

LossOf = Callable[[str], Tensor]
"""A task's scalar loss on a fresh batch of its examples, graph attached."""

OwnAlignment = Literal["itself", "held-out"]
"""How the target is compared with itself: by one gradient, or by two from disjoint examples."""


@runtime_checkable
class Passes(Protocol):
    """Forward and backward passes of each task, on a fresh batch each.

    A `loss_of` that is one too is asked for gradients instead of losses: it may know a faster way
    to them than autograd's.
    """

    def gradient(self, task: str) -> tuple[Tensor, Gradient]:
        """Loss and gradient; the gradient may be overwritten by the next call."""
        ...

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        """Loss, ⟨direction, gradient⟩ and ‖gradient‖², the gradient itself dropped."""
        ...


@dataclass(frozen=True)
class _Backward:
    """The obvious way."""

    parameters: Sequence[Tensor]
    loss_of: LossOf

    def gradient(self, task: str) -> tuple[Tensor, Gradient]:
        loss = scalar_loss(self.loss_of(task), task=task)
        return loss.detach(), gradient_of(loss, self.parameters)

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        loss, gradient = self.gradient(task)
        return loss, dot(direction, gradient), squared_norm(gradient)


@dataclass(frozen=True, kw_only=True)
class Aim:
    """The direction that units are measured along, and what it was made from."""

    direction: Gradient
    direction_squared: Tensor
    target_squared: Tensor
    weighed: Sequence[str]
    """Tasks that are units, in order."""
    own: dict[str, tuple[Tensor, Tensor]]
    """Inner product and squared norm of targets that are units, and compared with themselves."""
    losses: list[tuple[str, Tensor]]
    passes: Passes


def aimed(
    parameters: Sequence[Tensor],
    *,
    weighed: Sequence[str],
    targets: Mapping[str, float],
    weights: Mapping[str, float],
    loss_of: LossOf,
    alignment: Alignment,
    own_alignment: OwnAlignment,
) -> Aim:
    """V = H⁻¹ ∇L_0; arguments as for `hypergradient`, and those tasks that are units."""
    passes = loss_of if isinstance(loss_of, Passes) else _Backward(parameters, loss_of)
    losses: list[tuple[str, Tensor]] = []

    def gradient_on(task: str) -> Gradient:
        loss, gradient = passes.gradient(task)
        losses.append((task, loss))
        return gradient

    kept = [name for name in targets if name in weighed and own_alignment == "itself"]
    combined, own = _target_gradients(targets, gradient_on, kept=kept)
    target_squared = squared_norm(combined)
    curvature = alignment.curvature
    hessian = WeightedHessian(parameters, weights, loss_of) if curvature.needs_hessian else None
    # Solvers write over what they are given; a multiple of the identity does not.
    start = (
        [entry if entry is None else entry.clone() for entry in combined] if hessian else combined
    )
    direction = curvature.solve(start, hessian)
    return Aim(
        direction=direction,
        direction_squared=target_squared if direction is combined else squared_norm(direction),
        target_squared=target_squared,
        weighed=weighed,
        own={name: (dot(direction, own[name]), squared_norm(own[name])) for name in kept},
        losses=losses,
        passes=passes,
    )


def _target_gradients(
    targets: Mapping[str, float], gradient_on: Callable[[str], Gradient], *, kept: Sequence[str]
) -> tuple[Gradient, dict[str, Gradient]]:
    """The targets' combined gradient, and copies of those that are units themselves."""
    alone = len(targets) == 1
    combined: Gradient | None = None
    own: dict[str, Gradient] = {}
    for name, share in targets.items():
        gradient = gradient_on(name)
        if all(entry is None for entry in gradient):
            raise TrainingError(
                f"The loss of the target {name!r} does not reach the representation, so nothing "
                "can be compared with it. Return it with its graph attached (no `.detach()`, no "
                "`torch.no_grad()`), computed through the representation that is passed."
            )
        if name in kept:
            own[name] = gradient if alone else [e if e is None else e.clone() for e in gradient]
        combined = gradient if alone else add_scaled(combined, gradient, share)
        del gradient
    assert combined is not None
    return combined, own
