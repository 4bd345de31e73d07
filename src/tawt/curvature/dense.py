"""(H + λI)⁻¹v exactly, for models small enough to write H down: the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.errors import ConfigError

if TYPE_CHECKING:
    from tawt.curvature.base import Vector, WeightedHessian
    from tawt.gradients import Gradient

_LARGEST = 20_000  # parameters; H then takes 3.2 GB


@dataclass(frozen=True)
class Dense:
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
        flat = _flat(vector)
        if len(flat) > _LARGEST:
            raise ConfigError(
                f"The dense curvature writes the Hessian down and so takes at most {_LARGEST} "
                f"parameters; this representation has {len(flat)}. Use ConjugateGradient."
            )
        matrix = torch.stack(
            [
                _flat(hessian.product(_split(basis, vector)))
                for basis in torch.eye(len(flat), dtype=torch.float64, device=flat.device)
            ]
        )
        matrix = (matrix + matrix.T) / 2
        matrix.diagonal().add_(self.damping)
        return list(_split(torch.linalg.solve(matrix, flat), vector))


def _flat(vector: Vector) -> Tensor:
    return torch.cat([entry.detach().flatten().double() for entry in vector])


def _split(flat: Tensor, like: Vector) -> Vector:
    pieces = torch.split(flat, [entry.numel() for entry in like])
    return [piece.view_as(entry).to(entry.dtype) for piece, entry in zip(pieces, like, strict=True)]
