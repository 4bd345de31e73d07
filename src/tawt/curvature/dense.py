"""(H + λI)⁻¹v exactly, for models small enough to write H down: the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tawt.curvature.base import Curvature
from tawt.errors import ConfigError, TrainingError, is_number, is_out_of_memory

if TYPE_CHECKING:
    from torch import Tensor

    from tawt.curvature.base import Vector, WeightedHessian
    from tawt.gradients import Gradient

_LARGEST = 20_000  # parameters; H then takes 3.2 GB
_INEXACT = 1e-3  # of the gradient's norm, that a solution may leave unsolved


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

    def __post_init__(self) -> None:
        if not (is_number(self.damping) and self.damping >= 0):
            raise ConfigError(f"Dense needs damping ≥ 0, a finite number; got {self.damping!r}.")

    def solve(self, gradient: Gradient, hessian: WeightedHessian | None) -> Gradient:
        """(H + λI)⁻¹ · gradient."""
        assert hessian is not None
        vector = hessian.filled(gradient)
        right = _flat(vector).double()
        if len(right) > _LARGEST:
            raise ConfigError(
                f"The dense curvature writes the Hessian down and so takes at most {_LARGEST} "
                f"parameters; this representation has {len(right)}. Use ConjugateGradient."
            )
        matrix = torch.stack(
            [
                _flat(hessian.product(_split(basis, like=vector))).double()
                for basis in torch.eye(len(right), dtype=torch.float64, device=right.device)
            ]
        )
        matrix = (matrix + matrix.T) / 2
        matrix.diagonal().add_(self.damping)
        return list(_split(self._solved(matrix, right), like=vector))

    def _solved(self, matrix: Tensor, right: Tensor) -> Tensor:
        if not bool(torch.isfinite(matrix).all() & torch.isfinite(right).all()):
            return torch.full_like(right, torch.nan)  # a task's own, whose update is skipped
        try:
            found: Tensor = torch.linalg.solve(matrix, right)
        except RuntimeError as error:  # of which torch's own for matrices is one
            if is_out_of_memory(error):
                raise
            raise self._singular() from error
        # A pivot that rounding has kept from zero leaves a solution that solves nothing.
        apart = torch.linalg.vector_norm(matrix @ found - right)
        if not bool(apart <= _INEXACT * torch.linalg.vector_norm(right)):
            raise self._singular()
        return found

    def _singular(self) -> TrainingError:
        return TrainingError(
            "The Hessian of the sources' losses is singular, so the dense curvature cannot solve "
            f"with it at damping {self.damping:g}. Raise `damping`, to 0.01 for instance."
        )


def _flat(vector: Vector) -> Tensor:
    """All entries end to end."""
    return torch.cat([entry.detach().flatten() for entry in vector])


def _split(flattened: Tensor, *, like: Vector) -> Vector:
    """Inverse of `_flat`, in the shapes and precisions of `like`."""
    pieces = torch.split(flattened, [entry.numel() for entry in like])
    return [piece.view_as(entry).to(entry.dtype) for piece, entry in zip(pieces, like, strict=True)]
