"""What heads see: the vector of every word or example, and its label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

_LEAST_VARIANCE = 1e-12

OnPass = Callable[[float], None]
"""Told of passes over batches when they are done, a backward pass counting twice; may raise."""


def uncounted(passes: float) -> None:
    """Nobody wants to know."""


def widest(device: torch.device) -> torch.dtype:
    """The most exact numbers that a device computes with.

    Example:
        >>> widest(torch.device("cpu")), widest(torch.device("mps"))
        (torch.float64, torch.float32)
    """
    return torch.float32 if device.type == "mps" else torch.float64


@dataclass(frozen=True)
class Items:
    """Vectors and labels of what a task has answers for: words in tagging, else examples.

    Example:
        >>> Items(torch.zeros(3, 2), torch.tensor([0, 1, 1])).classes
        2
    """

    vectors: Tensor
    """Shape `(items, width)`."""
    labels: Tensor
    """Shape `(items,)`: class numbers, or numbers to predict."""

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def joined(cls, parts: Sequence[Items]) -> Items:
        """All items of these parts, in their order; of no parts, none.

        A part without items may be on another device, and of vectors without a width.
        """
        full = [items for items in parts if len(items)]
        if not full:
            nothing = cls(torch.zeros(0, 0), torch.zeros(0, dtype=torch.long))
            return max(parts, key=lambda items: items.vectors.shape[-1], default=nothing)
        vectors = torch.cat([items.vectors for items in full])
        return cls(vectors, torch.cat([items.labels for items in full]))

    def __add__(self, other: Items) -> Items:
        """These and others."""
        return Items.joined([self, other])

    def detached(self) -> Items:
        """The same without a graph."""
        return Items(self.vectors.detach(), self.labels)

    @property
    def is_regression(self) -> bool:
        """Whether labels are numbers and not classes."""
        return self.labels.is_floating_point()

    @property
    def classes(self) -> int:
        """One more than the largest class."""
        return int(self.labels.max()) + 1

    @property
    def variance(self) -> float:
        """Of labels that are numbers; where all are the same, a little more than zero."""
        labels = self.labels.to(widest(self.labels.device))
        return float(labels.var(correction=0).clamp(min=_LEAST_VARIANCE))
