"""The directions in which features vary."""

from __future__ import annotations

import torch
from torch import Tensor

_ROUNDING = 16 * torch.finfo(torch.float64).eps  # of subtracting a mean, relative to what it was


def directions(features: Tensor, *, size: float) -> tuple[Tensor, Tensor]:
    """Left singular vectors and singular values of F = U S Vᵀ, without those that are rounding.

    Args:
        features: F, shape `(examples, width)`; there may be fewer examples than width.
        size: Frobenius norm of what F was computed from: where nearly all of it was subtracted,
            what is left is rounding.

    Returns:
        U, shape `(examples, rank)`, and the values in descending order, shape `(rank,)`.

    Example:
        >>> twice = torch.tensor([[3.0, 3.0], [4.0, 4.0]], dtype=torch.float64)
        >>> vectors, values = directions(twice, size=float(twice.norm()))
        >>> vectors.abs(), values
        (tensor([[0.6000],
                [0.8000]], dtype=torch.float64), tensor([7.0711], dtype=torch.float64))
    """
    vectors, values, _ = torch.linalg.svd(features, full_matrices=False)
    relative = max(features.shape) * torch.finfo(torch.float64).eps
    smallest = max(relative * float(values[0]), _ROUNDING * size)
    rank = int((values > smallest).sum())
    return vectors[:, :rank], values[:rank]


def scaled(features: Tensor) -> Tensor:
    """Features divided by the largest, so that squares neither overflow nor vanish.

    Example:
        >>> scaled(torch.tensor([[1e200, -5e199]], dtype=torch.float64))
        tensor([[ 1.0000, -0.5000]], dtype=torch.float64)
    """
    largest = features.abs().max()
    return features / largest if largest > 0 else features
