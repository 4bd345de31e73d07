"""The caller's side: a function that runs the model on one batch."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from tawt.errors import TrainingError

Losses = Callable[[], Tensor]
"""Runs the model on one batch and returns ℓ for each example, shape `(examples,)`.

It is called several times a batch and must give the same each time: draw the examples outside.
"""


def checked(losses: Tensor) -> Tensor:
    """The losses, if that is what they are.

    Example:
        >>> import torch
        >>> checked(torch.ones(2))
        tensor([1., 1.])
    """
    if not isinstance(losses, Tensor):
        raise TrainingError(
            "`losses` must return one loss per example, a tensor of shape (examples,); got "
            f"{type(losses).__name__}."
        )
    if losses.dim() != 1 or not losses.is_floating_point():
        raise TrainingError(
            "`losses` must return one loss per example, a floating-point tensor of shape "
            f"(examples,); got {losses.dtype} of shape {tuple(losses.shape)}. For a mean over "
            "words, average over the words of each example, not over the batch."
        )
    return losses
