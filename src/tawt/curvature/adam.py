"""H⁻¹ from what Adam already keeps: a diagonal that costs nothing to make."""

from __future__ import annotations

import logging
import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from tawt.curvature.base import Curvature
from tawt.errors import ConfigError, TrainingError, is_number
from tawt.gradients import width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor
    from torch.optim import Optimizer

    from tawt.curvature.base import Vector, WeightedHessian
    from tawt.gradients import Gradient

_log = logging.getLogger(__name__)


@dataclass
class AdamDiagonal(Curvature):
    """H ≈ diag(√v̂) + λ·mean(√v̂)·I, with v̂ the bias-corrected second moment of Adam.

    √v̂ is the size of gradients and no second derivative: the direction is that of a step of Adam,
    and its length means nothing, so choose `step_size` with a look at the alignments in the
    history. Damping is a share of the mean of √v̂, because gradients differ in size by orders of
    magnitude from one model to the next.

    It must be told the optimiser. `train` does so; in a loop of your own call
    `weights.follow(optimiser)` once. A parameter that has not been stepped yet counts as having
    the mean; before the first step of all, gradients are taken as they are.

    Args:
        damping: λ, as a share of the mean; positive, since a gradient that was always zero leaves
            a zero to divide by.

    Example:
        >>> from tawt.curvature import WeightedHessian
        >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
        >>> optimiser = torch.optim.Adam([x], lr=0.0)
        >>> x.grad = torch.tensor([0.5, 2.0])
        >>> optimiser.step()
        >>> curvature = AdamDiagonal(damping=1e-9)
        >>> curvature.follow(optimiser)
        >>> curvature.solve([torch.ones(2)], WeightedHessian([x], {}, lambda task: x.sum()))
        [tensor([2.0000, 0.5000])]
    """

    damping: float = 0.01
    needs_hessian = True
    # Weak, or the rule of a finished run would keep the optimiser's memory.
    _followed: weakref.ref[Optimizer] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if not (is_number(self.damping) and self.damping > 0):
            raise ConfigError(
                f"AdamDiagonal's `damping` must be positive and finite; got {self.damping!r}."
            )

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: in another process the optimiser is another, to be followed again."""
        return {**self.__dict__, "_followed": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> AdamDiagonal:
        """A copy that follows the same optimiser."""
        found = AdamDiagonal(self.damping)
        found._followed = self._followed
        return found

    def follow(self, optimiser: Optimizer) -> None:
        """Take the second moments from this optimiser from now on.

        Raises:
            TrainingError: It is no Adam.
        """
        if not all("betas" in group for group in optimiser.param_groups):
            raise TrainingError(
                f"AdamDiagonal takes its curvature from Adam or a relative of it, and "
                f"{type(optimiser).__name__} keeps no second moments. Choose another curvature."
            )
        self._followed = weakref.ref(optimiser)

    def solve(self, gradient: Gradient, hessian: WeightedHessian | None) -> Gradient:
        """Gradient / (√v̂ + λ·mean(√v̂)), entry by entry."""
        assert hessian is not None
        moments = _moments(self._optimiser(), hessian.parameters)
        direction: Vector = hessian.filled(gradient)
        mean = _mean_root(moments)
        if not mean > 0:
            _log.warning("Adam has taken no step yet; gradients are compared as they are")
            return list(direction)
        for entry, moment in zip(direction, moments, strict=True):
            root = mean if moment is None else moment.root()
            entry.div_(root + self.damping * mean)
        return list(direction)

    def _optimiser(self) -> Optimizer:
        optimiser = None if self._followed is None else self._followed()
        if optimiser is None:
            raise TrainingError(
                "AdamDiagonal does not know the optimiser that trains the representation; call "
                "`weights.follow(optimiser)` before the first update."
            )
        return optimiser


@dataclass(frozen=True)
class _Moment:
    """Adam's second moment of one parameter."""

    average: Tensor
    steps: Tensor
    decay: float

    def root(self) -> Tensor:
        """√v̂; zero where every step so far was skipped."""
        correction = (1 - self.decay ** self.steps.double()).clamp(min=1e-12)
        wide = self.average.to(width(self.average))
        return (wide / correction.to(wide.device, wide.dtype)).sqrt_()


def _moments(optimiser: Optimizer, parameters: Sequence[Tensor]) -> list[_Moment | None]:
    """Of each parameter, `None` where it has not been stepped yet."""
    decays = {id(p): group["betas"][1] for group in optimiser.param_groups for p in group["params"]}
    if not any(id(parameter) in decays for parameter in parameters):
        raise TrainingError(
            "AdamDiagonal follows an optimiser that holds no parameter of the representation; "
            "pass `weights.follow` the one that trains it."
        )
    found: list[_Moment | None] = []
    for parameter in parameters:
        state: dict[str, Any] = optimiser.state.get(parameter) or {}
        if state and not {"exp_avg_sq", "step"} <= state.keys():
            raise TrainingError(
                f"AdamDiagonal needs `exp_avg_sq` and `step` in the optimiser's state; "
                f"{type(optimiser).__name__} keeps {', '.join(state)}. Choose another curvature."
            )
        found.append(
            _Moment(state["exp_avg_sq"], torch.as_tensor(state["step"]), decays[id(parameter)])
            if state
            else None
        )
    return found


def _mean_root(moments: Sequence[_Moment | None]) -> float:
    """Over all entries that are known; zero if none is."""
    known = [moment for moment in moments if moment is not None]
    if not known:
        return 0.0
    home = known[0].average.device
    total = torch.stack([moment.root().sum().double().to(home) for moment in known]).sum()
    return float(total) / sum(moment.average.numel() for moment in known)
