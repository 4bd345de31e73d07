"""How well a unit's gradient agrees with the target's, as one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from tawt.curvature import Curvature, Identity
from tawt.errors import ConfigError, is_number


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

    @property
    def needs_norms(self) -> bool:
        """Whether the norm of a unit's gradient is asked for; otherwise any number will do."""
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
    needs_norms: ClassVar[bool] = True

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
    needs_norms: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_scale(self.scale)

    def measure(self, inner: Tensor, direction_squared: Tensor, unit_squared: Tensor) -> Tensor:
        """The inner product as it is."""
        return inner


def _check_scale(scale: float) -> None:
    if not (is_number(scale) and scale > 0):
        raise ConfigError(
            f"The alignment's `scale` (c of the paper) must be positive and finite; got {scale!r}."
        )
