"""What heads see: the vector of every word or example, and its label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

OnPass = Callable[[float], None]
"""Told of passes over batches when they are done, a backward pass counting twice; may raise."""


def uncounted(passes: float) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class Items:
    """Vectors and labels of what a task has answers for: words in tagging, else examples.

    Example:
        >>> import torch
        >>> Items(torch.zeros(3, 2), torch.tensor([0, 1, 1])).classes
        2
    """

    vectors: Tensor
    """Shape `(items, width)`, on the CPU."""
    labels: Tensor
    """Shape `(items,)`: class numbers, or numbers to predict."""

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def is_regression(self) -> bool:
        """Whether labels are numbers and not classes."""
        return self.labels.is_floating_point()

    @property
    def classes(self) -> int:
        """One more than the largest class."""
        return int(self.labels.max()) + 1
