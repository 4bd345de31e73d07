"""Small representations for array data."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from torch import Tensor, nn

from tawt.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence


class MLP(nn.Module):
    """Fully connected layers with ReLU.

    With one hidden layer and a linear head this is the two-layer network of the paper's
    simulations, which has `widths=(4096,)`.

    Args:
        shape: Shape of one example's input; images are flattened.
        widths: Width of each hidden layer; the last is the size of the representation.
        dropout: Share of the representation left out in training.

    Example:
        >>> import torch
        >>> MLP((8, 8), widths=(64, 32))(torch.zeros(2, 8, 8)).shape
        torch.Size([2, 32])
    """

    def __init__(
        self, shape: Sequence[int], *, widths: Sequence[int] = (64, 32), dropout: float = 0.0
    ) -> None:
        super().__init__()
        sides = [math.prod(shape), *widths]
        layers = [
            layer
            for inputs, outputs in itertools.pairwise(sides)
            for layer in (nn.Linear(inputs, outputs), nn.ReLU())
        ]
        self.layers = nn.Sequential(nn.Flatten(), *layers, nn.Dropout(dropout))

    def forward(self, inputs: Tensor) -> Tensor:
        """Vectors of shape `(examples, widths[-1])`."""
        vectors: Tensor = self.layers(inputs)
        return vectors


class SmallCNN(nn.Module):
    """Two convolutions with batch-norm, pooled: for small images.

    Args:
        shape: `(height, width)` or `(channels, height, width)` of one image.
        width: Size of the representation.
        dropout: Share of the representation left out in training.

    Example:
        >>> import torch
        >>> SmallCNN((8, 8), width=32)(torch.zeros(2, 8, 8)).shape
        torch.Size([2, 32])
    """

    def __init__(self, shape: Sequence[int], *, width: int = 64, dropout: float = 0.0) -> None:
        super().__init__()
        if len(shape) not in (2, 3):
            raise ConfigError(
                f"A CNN needs images, (height, width) or (channels, height, width); an example "
                f"here has shape {tuple(shape)}. Use the two-layer network for plain features."
            )
        channels = shape[0] if len(shape) == 3 else 1
        self.layers = nn.Sequential(
            nn.Conv2d(channels, width // 2, kernel_size=3, padding=1),
            nn.BatchNorm2d(width // 2),
            nn.ReLU(),
            nn.MaxPool2d(2, ceil_mode=True),
            nn.Conv2d(width // 2, width, kernel_size=3, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Dropout(dropout),
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Vectors of shape `(examples, width)`."""
        images = inputs.unsqueeze(1) if inputs.dim() == 3 else inputs
        vectors: Tensor = self.layers(images)
        return vectors
