"""(H + λI)⁻¹v by conjugate gradient."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tawt.curvature.base import Curvature
from tawt.errors import ConfigError, is_number, is_whole
from tawt.gradients import Gradient, dot

if TYPE_CHECKING:
    from tawt.curvature.base import Vector, WeightedHessian

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ConjugateGradient(Curvature):
    """Solve (H + λI) x = v to a relative residual, with one Hessian product an iteration.

    Where training has not converged, H can have directions of negative curvature. The first one
    met ends the solve with what has been found so far, as truncated Newton methods do; more
    damping avoids it.

    Args:
        damping: λ, added to H; at least the size of H's most negative eigenvalue to be safe.
        iterations: Most iterations to take.
        tolerance: Stop when the residual's norm is this share of v's.

    Example:
        >>> from tawt.curvature import WeightedHessian
        >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> bowl = torch.tensor([1.0, 2.0])
        >>> hessian = WeightedHessian([x], {"a": 1.0}, lambda task: (x**2 * bowl).sum())
        >>> ConjugateGradient(damping=0.0).solve([torch.tensor([2.0, 2.0])], hessian)
        [tensor([1.0000, 0.5000])]
    """

    damping: float = 0.01
    iterations: int = 20
    tolerance: float = 1e-6
    needs_hessian = True

    def __post_init__(self) -> None:
        if (
            not (is_number(self.damping) and self.damping >= 0)
            or not (is_whole(self.iterations) and self.iterations >= 1)
            or not (is_number(self.tolerance) and self.tolerance >= 0)
        ):
            raise ConfigError(
                "ConjugateGradient needs damping ≥ 0, iterations ≥ 1 and tolerance ≥ 0, all "
                f"finite; got damping={self.damping!r}, iterations={self.iterations!r}, "
                f"tolerance={self.tolerance!r}."
            )

    def solve(self, gradient: Gradient, hessian: WeightedHessian | None) -> Gradient:
        """(H + λI)⁻¹ · gradient."""
        assert hessian is not None
        residual: Vector = hessian.filled(gradient)  # its memory is ours to use
        solution = [torch.zeros_like(entry) for entry in residual]
        direction = [entry.clone() for entry in residual]
        squared = _dot(residual, residual)
        goal = squared * self.tolerance**2
        for iteration in range(self.iterations):
            if squared <= goal:
                break
            image = hessian.product(direction)
            torch._foreach_add_(image, direction, alpha=self.damping)
            curvature = _dot(direction, image)
            if curvature <= 0:
                _log.warning(
                    "conjugate gradient met negative curvature at iteration %d; "
                    "kept what it had (more damping than %g avoids this)",
                    iteration,
                    self.damping,
                )
                return list(solution if iteration else residual)
            length = squared / curvature
            torch._foreach_add_(solution, direction, alpha=length)
            torch._foreach_add_(residual, image, alpha=-length)
            previous, squared = squared, _dot(residual, residual)
            torch._foreach_mul_(direction, squared / previous)
            torch._foreach_add_(direction, residual)
        return list(solution)


def _dot(left: Vector, right: Vector) -> float:
    return float(dot(list(left), list(right)))
