"""‖∇ℓ_i‖² from every example's own gradient, some at a time: exact for any model."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tawt.errors import is_out_of_memory
from tawt.given import check_differentiable
from tawt.per_example.conditions import at_rest, plain_operators
from tawt.per_example.losses import checked
from tawt.per_example.swapping import swapped_widely, wide

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tawt.per_example.losses import Losses

_log = logging.getLogger(__name__)

_BYTES = 1 << 28  # of gradients at a time
_ROWS = 32  # at most, since what lies between layers is held for each as well


class Each:
    """One forward pass, and a backward pass through the whole batch for every example.

    The time for a batch so grows with the square of its examples: batches of ten are better than
    batches of a thousand.

    Args:
        module: All that losses run.
        parameters: What the gradients are by.

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> norms = Each(layer, [layer.weight])
        >>> norms(lambda: layer(torch.tensor([[3.0, 4.0], [0.0, 1.0]])).squeeze(1))
        tensor([25.,  1.])
    """

    def __init__(self, module: nn.Module, parameters: Sequence[Tensor]) -> None:
        self._module = module
        self._parameters = parameters
        self._at_once = True

    def __call__(self, losses: Losses) -> Tensor:
        """The squared norms, shape `(examples,)`."""
        with torch.enable_grad(), at_rest(self._module), plain_operators():
            points = [wide(parameter).requires_grad_() for parameter in self._parameters]
            swaps = list(zip(self._parameters, points, strict=True))
            with swapped_widely(self._module, swaps):
                found = checked(losses())
                if not found.requires_grad:
                    return torch.zeros_like(found)
                check_differentiable(found)
                return torch.cat(list(self._squares(found, points)))

    def _squares(self, losses: Tensor, points: Sequence[Tensor]) -> Iterator[Tensor]:
        size = sum(point.numel() * point.element_size() for point in points)
        rows = min(_ROWS, max(1, _BYTES // max(1, size)))
        chosen = torch.eye(len(losses), dtype=losses.dtype, device=losses.device)
        for start in range(0, len(losses), rows):
            yield self._some(losses, points, chosen[start : start + rows])

    def _some(self, losses: Tensor, points: Sequence[Tensor], chosen: Tensor) -> Tensor:
        if self._at_once:
            try:
                return _squares_of(losses, points, chosen, batched=True)
            except RuntimeError as error:
                if is_out_of_memory(error):
                    raise
                self._at_once = False
                _log.info("Gradients one by one, since not several at once: %s", error)
        alone = [_squares_of(losses, points, row, batched=False) for row in chosen]
        return torch.cat(alone)


def _squares_of(
    losses: Tensor, points: Sequence[Tensor], chosen: Tensor, *, batched: bool
) -> Tensor:
    """Of the gradients of ⟨chosen, losses⟩, for each row of `chosen` if it has rows."""
    gradients = torch.autograd.grad(
        losses,
        points,
        grad_outputs=chosen,
        is_grads_batched=batched,
        retain_graph=True,
        allow_unused=True,
    )
    rows = len(chosen) if batched else 1
    squares = torch.zeros(rows, dtype=losses.dtype, device=losses.device)
    for gradient in gradients:
        if gradient is not None:
            squares += gradient.to_dense().reshape(rows, -1).square().sum(1).to(squares)
    return squares
