"""H⁻¹ as a multiple of the identity: the paper's choice for weights on samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.curvature.base import Curvature
from tawt.errors import ConfigError, is_number
from tawt.gradients import scaled

if TYPE_CHECKING:
    from tawt.curvature.base import WeightedHessian
    from tawt.gradients import Gradient


@dataclass(frozen=True)
class Identity(Curvature):
    """H⁻¹ ≈ scale · I; the alignment is then a plain inner product of gradients.

    Args:
        scale: The constant; the paper takes 5 for its sample-weighted experiment.

    Example:
        >>> import torch
        >>> Identity(scale=5.0).solve([torch.tensor([1.0, 2.0])], None)
        [tensor([ 5., 10.])]
    """

    scale: float = 1.0
    needs_hessian = False

    def __post_init__(self) -> None:
        if not (is_number(self.scale) and self.scale > 0):
            raise ConfigError(
                f"Identity's `scale` must be positive and finite; got {self.scale!r}."
            )

    def solve(self, gradient: Gradient, hessian: WeightedHessian | None) -> Gradient:
        """The gradient, scaled."""
        return gradient if self.scale == 1.0 else scaled(gradient, self.scale)
