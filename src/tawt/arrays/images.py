"""Arrays that are images, shown as such."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from tawt.arrays.png import png

if TYPE_CHECKING:
    from torch import Tensor

_WIDEST = 64  # pixels, of an image that is shown


def image_of(inputs: Tensor, index: int) -> bytes | None:
    r"""A PNG, where examples are grey or coloured images; of large ones some pixels.

    Without a dimension of channels, only if small: a large one may be anything.

    Args:
        inputs: Of all examples.
        index: Which of them is shown.

    Example:
        >>> image_of(torch.rand(2, 8, 8), 0)[:4], image_of(torch.rand(2, 5), 0)
        (b'\x89PNG', None)
    """
    if inputs.dim() not in (3, 4) or not inputs.numel():
        return None
    if inputs.dim() == 4 and inputs.shape[1] not in (1, 3):
        return None
    if inputs.dim() == 3 and max(inputs.shape[-2:]) > _WIDEST:
        return None
    apart = math.ceil(max(inputs.shape[-2:]) / _WIDEST)
    pixels = inputs[index].double()[..., ::apart, ::apart]
    if pixels.dim() == 3:
        pixels = pixels.permute(1, 2, 0).squeeze(-1)
    low, high = float(pixels.min()), float(pixels.max())
    scaled = (pixels - low) * (255 / (high - low) if high > low else 0)
    return png(scaled.round().to(torch.uint8).numpy())
