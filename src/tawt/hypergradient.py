"""g_u, the derivative of the target's loss along each unit's weight (eq. task_gradient).

    v   = H⁻¹ ∇φ L_0(φ, f_0)               one solve, whatever the number of sources
    g_u = −⟨v, ∇φ L_u(φ, f_u)⟩              curvature-weighted
    g_u = −c · cos(∇φ L_0, ∇φ L_u)          the paper's scalable form

The target's direction is held; every unit's gradient is made, measured along it and dropped, so
two copies of the representation are the most that is ever held, for two units as for forty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor

from tawt.curvature import Curvature, Identity, WeightedHessian
from tawt.errors import ConfigError, TrainingError
from tawt.gradients import Gradient, add_scaled, dot, gradient_of, squared_norm

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
        loss = self.loss_of(task)
        return loss.detach(), gradient_of(loss, self.parameters)

    def along(self, task: str, direction: Gradient) -> tuple[Tensor, Tensor, Tensor]:
        loss, gradient = self.gradient(task)
        return loss, dot(direction, gradient), squared_norm(gradient)


class Alignment(Protocol):
    """How well a unit's gradient agrees with the target's, as one number."""

    @property
    def scale(self) -> float:
        """c: what the agreement is multiplied by to give −g."""
        ...

    @property
    def curvature(self) -> Curvature:
        """What turns the target's gradient into the direction."""
        ...

    def measure(self, inner: Tensor, direction_squared: Tensor, unit_squared: Tensor) -> Tensor:
        """The agreement, from ⟨v, ∇L_u⟩, ‖v‖² and ‖∇L_u‖²."""
        ...


@dataclass(frozen=True)
class Cosine:
    """cos(∇L_0, ∇L_u), as in all the paper's experiments on tasks.

    Args:
        scale: c of the paper: 1 for joint training; for pre-training the paper chooses among
            0.3, 1, 10, 30 and 100, since cosines between tasks are small.

    Example:
        >>> Cosine().measure(torch.tensor(3.0), torch.tensor(4.0), torch.tensor(9.0))
        tensor(0.5000)
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        _check_scale(self.scale)

    @property
    def curvature(self) -> Curvature:
        """The gradient itself is the direction."""
        return Identity()

    def measure(self, inner: Tensor, direction_squared: Tensor, unit_squared: Tensor) -> Tensor:
        """The cosine; zero where a task does not reach the representation at all."""
        lengths = direction_squared.sqrt() * unit_squared.sqrt()
        return torch.where(lengths == 0, torch.zeros_like(inner), inner / lengths)


@dataclass(frozen=True)
class CurvatureWeighted:
    """⟨H⁻¹∇L_0, ∇L_u⟩, the derivative itself.

    Args:
        curvature: How H⁻¹ is applied.
        scale: A factor on the result; 1 is the derivative.

    Example:
        >>> CurvatureWeighted(Identity(scale=5.0)).measure(torch.tensor(3.0), *torch.ones(2))
        tensor(3.)
    """

    curvature: Curvature
    scale: float = 1.0

    def __post_init__(self) -> None:
        _check_scale(self.scale)

    def measure(self, inner: Tensor, direction_squared: Tensor, unit_squared: Tensor) -> Tensor:
        """The inner product as it is."""
        return inner


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
    def is_finite(self) -> bool:
        """Whether every number in it is."""
        numbers = [*self.alignments.tolist(), *self.norms.tolist(), *self.losses.values()]
        return all(map(math.isfinite, [*numbers, self.target_norm]))

    @property
    def culprits(self) -> list[str]:
        """Tasks whose own loss or gradient is not finite."""
        found = {name for name, loss in self.losses.items() if not math.isfinite(loss)}
        norms = zip(self.units, self.norms.tolist(), strict=True)
        found |= {name for name, norm in norms if not math.isfinite(norm)}
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
    passes = loss_of if isinstance(loss_of, Passes) else _Backward(parameters, loss_of)
    losses: list[tuple[str, Tensor]] = []

    def gradient_on(task: str) -> Gradient:
        loss, gradient = passes.gradient(task)
        losses.append((task, loss))
        return gradient

    kept = [name for name in targets if name in units and own_alignment == "itself"]
    combined, own = _target_gradients(targets, gradient_on, kept=kept)
    target_squared = squared_norm(combined)
    curvature = alignment.curvature
    hessian = WeightedHessian(parameters, weights, loss_of) if curvature.needs_hessian else None
    # Solvers write over what they are given; a multiple of the identity does not.
    start = (
        [entry if entry is None else entry.clone() for entry in combined] if hessian else combined
    )
    direction = curvature.solve(start, hessian)
    same = direction is combined
    del start, combined, hessian  # nor is the graph needed while units are streamed
    direction_squared = target_squared if same else squared_norm(direction)

    measured: dict[str, tuple[Tensor, Tensor]] = {}
    for name in kept:
        gradient = own.pop(name)
        measured[name] = dot(direction, gradient), squared_norm(gradient)
        del gradient
    for unit in units:
        if unit in kept:
            continue
        loss, inner, squared = passes.along(unit, direction)
        losses.append((unit, loss))
        measured[unit] = inner, squared
    numbers = _on_the_cpu(
        [target_squared, direction_squared],
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
        losses=_summed(losses, numbers[3]),
        scale=alignment.scale,
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
                "can be compared with it. Is its graph detached, or is it another module's?"
            )
        if name in kept:
            own[name] = gradient if alone else [e if e is None else e.clone() for e in gradient]
        combined = gradient if alone else add_scaled(combined, gradient, share)
        del gradient
    assert combined is not None
    return combined, own


def _check_scale(scale: float) -> None:
    if not scale > 0:
        raise ConfigError(
            f"The alignment's `scale` (c of the paper) must be positive; got {scale}."
        )
