"""(H + λI)⁻¹v exactly, for models small enough to write H down: the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tawt.curvature.base import Curvature, flat, split
from tawt.errors import ConfigError

if TYPE_CHECKING:
    from tawt.curvature.base import WeightedHessian
    from tawt.gradients import Gradient

_LARGEST = 20_000  # parameters; H then takes 3.2 GB


@dataclass(frozen=True)
class Dense(Curvature):
    """Build H column by column and solve in float64.

    Args:
        damping: λ, added to H.

    Example:
        >>> from tawt.curvature import WeightedHessian
        >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> hessian = WeightedHessian([x], {"a": 1.0}, lambda task: (x**2).sum())
        >>> Dense().solve([torch.ones(2)], hessian)
        [tensor([0.5000, 0.5000])]
    """

    damping: float = 0.0
    needs_hessian = True

    def solve(self, gradient: Gradient, hessian: WeightedHessian | None) -> Gradient:
        """(H + λI)⁻¹ · gradient."""
        assert hessian is not None
        vector = hessian.filled(gradient)
        right = flat(vector).double()
        if len(right) > _LARGEST:
            raise ConfigError(
                f"The dense curvature writes the Hessian down and so takes at most {_LARGEST} "
                f"parameters; this representation has {len(right)}. Use ConjugateGradient."
            )
        matrix = torch.stack(
            [
                flat(hessian.product(split(basis, like=vector))).double()
                for basis in torch.eye(len(right), dtype=torch.float64, device=right.device)
            ]
        )
        matrix = (matrix + matrix.T) / 2
        matrix.diagonal().add_(self.damping)
        return list(split(torch.linalg.solve(matrix, right), like=vector))
