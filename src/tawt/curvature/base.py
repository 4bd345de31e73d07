"""What a curvature is, and the matrix-free Hessian it may ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from tawt.errors import TrainingError
from tawt.given import counted_loss
from tawt.gradients import Gradient, gradient_of, width

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch.optim import Optimizer

Vector = list[Tensor]
"""One dense tensor per parameter."""


class Curvature(ABC):
    """Turns the target's gradient into the direction along which sources are measured.

    One of your own inherits from this, and passes `tests/test_curvature_contract.py`.
    """

    needs_hessian: bool
    """Whether `solve` asks for the Hessian: its parameters or its products."""

    @abstractmethod
    def solve(self, gradient: Gradient, hessian: WeightedHessian | None) -> Gradient:
        """H⁻¹ · gradient; one that needs the Hessian may write over `gradient`."""

    def follow(self, optimiser: Optimizer) -> None:  # noqa: B027 - most have no use for it
        """Hear which optimiser trains the representation; by default, take no notice."""


class WeightedHessian:
    """H = Σ ω_t ∇²L_t at one draw of batches, known only through its products.

    The losses are evaluated once, when the first product is asked for, and their graph is kept
    until the object is dropped, so that every product sees the same batches. That graph holds the
    activations of one batch per source with weight.

    Args:
        parameters: What H is the second derivative by.
        weights: ω_t by name.
        loss_of: A task's scalar loss on a fresh batch, graph attached.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> hessian = WeightedHessian([x], {"a": 0.5}, lambda task: (x**2).sum())
        >>> hessian.product([torch.tensor([1.0, 3.0])])
        [tensor([1., 3.])]
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        weights: Mapping[str, float],
        loss_of: Callable[[str], object],
    ) -> None:
        self._parameters = list(parameters)
        self._weights = {name: weight for name, weight in weights.items() if weight > 0}
        self._loss_of = loss_of
        self._gradient: Gradient | None = None

    @property
    def parameters(self) -> list[Tensor]:
        """What H is the second derivative by."""
        return self._parameters

    def filled(self, gradient: Gradient) -> Vector:
        """The gradient in float32 or better, zeros where its loss does not reach a parameter.

        Solvers write over it; that of a sum, the same number in every place, is one to autograd.
        """
        return [
            torch.zeros_like(parameter, dtype=width(parameter))
            if entry is None
            else (entry.contiguous() if 0 in entry.stride() else entry).to(width(parameter))
            for entry, parameter in zip(gradient, self._parameters, strict=True)
        ]

    def product(self, vector: Vector) -> Vector:
        """H · vector, as one backward pass through the kept gradient."""
        # Fused attention has no second derivative; attention written out has. Backward passes are
        # inside too: activation checkpointing runs layers again in them.
        with sdpa_kernel(SDPBackend.MATH):
            try:
                return self._product(vector)
            except RuntimeError as error:
                if "double backward" not in str(error):
                    raise
                raise TrainingError(
                    "The model is compiled, and torch.compile has no second derivative, which this "
                    "curvature needs. Compute `loss_of` with the model as it was before "
                    "`torch.compile`, or use `Cosine` or AdamDiagonal."
                ) from error

    def _objective(self) -> Tensor:
        """Σ ω_t L_t on fresh batches, graph attached."""
        losses = [
            weight * counted_loss(self._loss_of(name), task=name)[0]
            for name, weight in self._weights.items()
        ]
        return torch.stack(losses).sum()

    def _product(self, vector: Vector) -> Vector:
        if self._gradient is None:
            self._gradient = gradient_of(self._objective(), self._parameters, create_graph=True)
        # Entries that do not depend on any parameter (a linear loss) have no second derivative.
        pairs = [
            (entry, direction)
            for entry, direction in zip(self._gradient, vector, strict=True)
            if entry is not None and entry.requires_grad
        ]
        if not pairs:
            return self.filled([None] * len(self._parameters))
        products = torch.autograd.grad(
            [entry for entry, _ in pairs],
            self._parameters,
            grad_outputs=[direction.to(entry.dtype) for entry, direction in pairs],
            retain_graph=True,
            allow_unused=True,
        )
        return self.filled(list(products))
