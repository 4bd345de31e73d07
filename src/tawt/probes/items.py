"""What heads see: the vector of every word or example, and its label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

OnPass = Callable[[float], None]
"""Told of passes over batches when they are done, a backward pass counting twice; may raise."""


def uncounted(passes: float) -> None:
    """Nobody wants to know."""


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
        """All items of these parts, in their order; of no parts, none."""
        if not parts:
            return cls(torch.zeros(0, 0), torch.zeros(0, dtype=torch.long))
        vectors = torch.cat([items.vectors for items in parts])
        return cls(vectors, torch.cat([items.labels for items in parts]))

    def __add__(self, other: Items) -> Items:
        """These and others."""
        return Items.joined([items for items in (self, other) if len(items)])

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
