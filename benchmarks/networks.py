"""Representations to measure on, from torch.nn alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def dense(*, features: int, width: int, depth: int) -> nn.Module:
    """A multi-layer perceptron, from `(examples, features)` to `(examples, width)`."""
    layers: list[nn.Module] = []
    for inputs in [features, *[width] * (depth - 1)]:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
    return nn.Sequential(*layers)


class Encoder(nn.Module):
    """A transformer encoder of BERT's shape, from token ids to the first token's vector.

    Args:
        vocabulary: Number of tokens.
        width: Of the vectors.
        layers: Number of layers.
        heads: Of attention.
        positions: Longest sequence.
        dropout: Share of entries dropped in training.
    """

    def __init__(
        self,
        *,
        vocabulary: int,
        width: int,
        layers: int,
        heads: int,
        positions: int = 512,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(positions, width)
        self.norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, heads, 4 * width, dropout, activation="gelu", batch_first=True
            )
            for _ in range(layers)
        )

    def forward(self, ids: Tensor) -> Tensor:
        """Vectors of shape `(examples, width)` for ids of shape `(examples, length)`."""
        places = torch.arange(ids.shape[1], device=ids.device)
        vectors = self.dropout(self.norm(self.tokens(ids) + self.positions(places)))
        for layer in self.layers:
            vectors = layer(vectors)
        first: Tensor = vectors[:, 0]
        return first


def bert_base() -> Encoder:
    """The size of the paper's encoder, about 110 million parameters."""
    return Encoder(vocabulary=30522, width=768, layers=12, heads=12)


def small_bert() -> Encoder:
    """The same shape in small, to try a benchmark out."""
    return Encoder(vocabulary=1000, width=64, layers=2, heads=4)


def parameter_bytes(module: nn.Module) -> int:
    """Memory of the parameters."""
    return sum(p.numel() * p.element_size() for p in module.parameters())
