"""The direction that units are measured along: v = H⁻¹ ∇L_0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tawt.curvature import WeightedHessian
from tawt.gradients import Gradient, add_scaled, dot, squared_norm
from tawt.hypergradient.passes import JointPasses, LossOf, Passes
from tawt.hypergradient.tally import unreached
from tawt.hypergradient.together import TogetherPasses
from tawt.hypergradient.together_hessian import TogetherHessian

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor

    from tawt.hypergradient.alignments import Alignment
    from tawt.ranks import Ranks

OwnAlignment = Literal["itself", "held-out"]
"""How the target is compared with itself: by one gradient, or by two from disjoint examples."""


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
    """Of each pass so far, in order."""
    reaching: list[int]
    """Which of these are of targets, in the direction: they must reach the representation."""
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
    passes: Passes,
    ranks: Ranks,
) -> Aim:
    """V = H⁻¹ ∇L_0; arguments as for `hypergradient`, and those tasks that are units."""
    losses: list[tuple[str, Tensor]] = []

    def gradient_on(task: str) -> Gradient:
        loss, gradient = passes.gradient(task)
        losses.append((task, loss))
        return gradient

    kept = [name for name in targets if name in weighed and own_alignment == "itself"]
    combined, own = _target_gradients(
        targets, gradient_on, kept=kept, alone=not isinstance(passes, JointPasses)
    )
    target_squared = squared_norm(combined)
    curvature = alignment.curvature
    hessian: WeightedHessian | None = None
    if isinstance(passes, TogetherPasses) and curvature.needs_hessian:
        hessian = TogetherHessian(parameters, weights, loss_of, passes.buckets, ranks)
    elif curvature.needs_hessian:
        hessian = WeightedHessian(parameters, weights, loss_of)
    # Solvers write over what they are given; a multiple of the identity does not.
    start = (
        [entry if entry is None else entry.clone() for entry in combined] if hessian else combined
    )
    direction = ranks.attempt(lambda: curvature.solve(start, hessian), start)
    return Aim(
        direction=direction,
        direction_squared=target_squared if direction is combined else squared_norm(direction),
        target_squared=target_squared,
        weighed=weighed,
        own={name: (dot(direction, own[name]), squared_norm(own[name])) for name in kept},
        losses=losses,
        reaching=list(range(len(losses))),
        passes=passes,
    )


def _target_gradients(
    targets: Mapping[str, float],
    gradient_on: Callable[[str], Gradient],
    *,
    kept: Sequence[str],
    alone: bool,
) -> tuple[Gradient, dict[str, Gradient]]:
    """The targets' combined gradient, and copies of those that are units themselves."""
    one = len(targets) == 1
    combined: Gradient | None = None
    own: dict[str, Gradient] = {}
    for name, share in targets.items():
        gradient = gradient_on(name)
        # Several processes find out together, when their numbers are settled.
        if alone and all(entry is None for entry in gradient):
            raise unreached(name)
        if name in kept:
            own[name] = gradient if one else [e if e is None else e.clone() for e in gradient]
        combined = gradient if one else add_scaled(combined, gradient, share)
        del gradient
    assert combined is not None
    return combined, own
