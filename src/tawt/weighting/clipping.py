"""Clipping gradients without undoing the weights of the tasks they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tawt.errors import TrainingError, is_number
from tawt.given import parameters_of
from tawt.ranks import own_part, total_norm

if TYPE_CHECKING:
    from collections.abc import Iterable


@torch.no_grad()
def clip_weighed(
    parameters: nn.Module | Iterable[Tensor], *, max_norm: float, share: float
) -> Tensor:
    """Shorten gradients to `share · max_norm`, in place.

    Args:
        parameters: Whose `.grad` is clipped.
        max_norm: Largest norm of a gradient whose weight is one.
        share: The weight of what the gradient is of.

    Returns:
        The norm before clipping, divided by the share.

    Example:
        >>> x = torch.zeros(2, requires_grad=True)
        >>> x.grad = torch.tensor([3.0, 4.0])
        >>> clip_weighed([x], max_norm=1.0, share=0.5), x.grad
        (tensor(10.), tensor([0.3000, 0.4000]))
    """
    if not (is_number(max_norm) and max_norm > 0):
        raise TrainingError(f"`max_norm` must be a positive, finite number; got {max_norm!r}.")
    gradients = [p.grad for p in parameters_of(parameters) if p.grad is not None]
    if not gradients or share == 0:
        return torch.zeros(())  # a task without weight has a gradient of zeros
    norm = total_norm(gradients) / share
    # Without the small constant of torch's own, beside which a small weight would be lost.
    shrink = torch.where(norm > max_norm, max_norm / norm, torch.ones_like(norm))
    for gradient in map(own_part, gradients):
        gradient.mul_(shrink.to(gradient.device))
    return norm
