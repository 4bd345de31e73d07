"""(H + λI)⁻¹v as a truncated Neumann series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tawt.curvature.base import Curvature
from tawt.errors import ConfigError, is_number, is_whole
from tawt.gradients import Gradient, squared_norm

if TYPE_CHECKING:
    from tawt.curvature.base import Vector, WeightedHessian

_POWER_ITERATIONS = 10
_MARGIN = 1.1  # power iteration approaches the largest eigenvalue from below


@dataclass(frozen=True)
class Neumann(Curvature):
    """α Σ_k (I − α(H + λI))^k v, which converges to the solve when 0 < α < 2 / λ_max.

    Fewer terms lean towards the plain inner product, more towards the exact inverse: the number
    of terms is itself a regulariser, and no term divides by a small number.

    Args:
        damping: λ, added to H.
        terms: How many terms to sum; one Hessian product each.
        step_size: α; by default the inverse of the largest eigenvalue, estimated by ten products
            of power iteration at each update.

    Example:
        >>> from tawt.curvature import WeightedHessian
        >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> hessian = WeightedHessian([x], {"a": 1.0}, lambda task: (x**2).sum())
        >>> Neumann(damping=0.0, terms=50, step_size=0.4).solve([torch.ones(2)], hessian)
        [tensor([0.5000, 0.5000])]
    """

    damping: float = 0.01
    terms: int = 20
    step_size: float | None = None
    needs_hessian = True

    def __post_init__(self) -> None:
        step = self.step_size
        if (
            not (is_number(self.damping) and self.damping >= 0)
            or not (is_whole(self.terms) and self.terms >= 1)
            or not (step is None or (is_number(step) and step > 0))
        ):
            raise ConfigError(
                "Neumann needs damping ≥ 0, terms ≥ 1 and a positive step_size (or none), all "
                f"finite; got damping={self.damping!r}, terms={self.terms!r}, step_size={step!r}."
            )

    def solve(self, gradient: Gradient, hessian: WeightedHessian | None) -> Gradient:
        """(H + λI)⁻¹ · gradient, approximately."""
        assert hessian is not None
        term: Vector = hessian.filled(gradient)
        step = self.step_size or 1 / (_MARGIN * self._largest_eigenvalue(term, hessian))
        total = [entry.clone() for entry in term]
        for _ in range(self.terms - 1):
            torch._foreach_add_(term, self._damped(term, hessian), alpha=-step)
            torch._foreach_add_(total, term)
        torch._foreach_mul_(total, step)
        return list(total)

    def _damped(self, vector: Vector, hessian: WeightedHessian) -> Vector:
        image = hessian.product(vector)
        torch._foreach_add_(image, vector, alpha=self.damping)
        return image

    def _largest_eigenvalue(self, start: Vector, hessian: WeightedHessian) -> float:
        vector = [entry.clone() for entry in start]
        norm = float(squared_norm(list(vector))) ** 0.5
        for _ in range(_POWER_ITERATIONS):
            if not norm > 0:
                return 1.0  # a zero gradient, or a flat direction: any step size will do
            torch._foreach_mul_(vector, 1 / norm)
            vector = self._damped(vector, hessian)
            norm = float(squared_norm(list(vector))) ** 0.5
        return norm if norm > 0 else 1.0
