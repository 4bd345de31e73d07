"""One last layer for several tasks, each with outputs of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Sequence


class PartOfHead(nn.Module):
    """Some outputs of a linear layer whose others are for the labels of other tasks.

    Args:
        layer: That tasks share.
        outputs: Positions of this task's labels among the layer's outputs, in the task's order.

    Example:
        >>> layer = nn.Linear(2, 3)
        >>> part = PartOfHead(layer, [2, 0])
        >>> vectors = torch.ones(1, 2)
        >>> bool((part(vectors) == layer(vectors)[:, [2, 0]]).all())
        True
    """

    outputs: Tensor

    def __init__(self, layer: nn.Linear, outputs: Sequence[int]) -> None:
        super().__init__()
        self.layer = layer
        self.register_buffer("outputs", torch.tensor(outputs), persistent=False)

    @property
    def out_features(self) -> int:
        """How many outputs the task has."""
        return len(self.outputs)

    def forward(self, vectors: Tensor) -> Tensor:
        """The outputs of the task's own labels."""
        weight, bias = self._parameters_of_outputs()
        return F.linear(vectors, weight, bias)

    def alone(self) -> nn.Linear:
        """A layer of these outputs, which shares nothing."""
        layer = self.layer
        own = nn.Linear(
            layer.in_features,
            self.out_features,
            bias=layer.bias is not None,
            device=layer.weight.device,
            dtype=layer.weight.dtype,
        )
        weight, bias = self._parameters_of_outputs()
        with torch.no_grad():
            own.weight.copy_(weight)
            if bias is not None:
                own.bias.copy_(bias)
        return own

    def _parameters_of_outputs(self) -> tuple[Tensor, Tensor | None]:
        bias = self.layer.bias
        part = None if bias is None else bias.index_select(0, self.outputs)
        return self.layer.weight.index_select(0, self.outputs), part


def alone(head: nn.Module) -> nn.Module:
    """The head by itself, without outputs for the labels of other tasks.

    Example:
        >>> alone(PartOfHead(nn.Linear(2, 3), [1]))
        Linear(in_features=2, out_features=1, bias=True)
    """
    return head.alone() if isinstance(head, PartOfHead) else head
