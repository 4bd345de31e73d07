"""What learning the weights comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from tawt.weights import SourceWeights


@dataclass(frozen=True, eq=False)
class Outcome:
    """Where the weights ended, and how well each unit agreed with the target."""

    weights: SourceWeights
    mean_alignments: Tensor
    """Of each unit with the target, over all updates; not a number if it was never measured."""

    def __eq__(self, other: object) -> bool:
        """Whether weights and alignments are the same, to the last bit."""
        return (
            isinstance(other, Outcome)
            and self.weights == other.weights
            and self.mean_alignments.dtype == other.mean_alignments.dtype
            and torch.allclose(
                self.mean_alignments, other.mean_alignments, rtol=0, atol=0, equal_nan=True
            )
        )

    __hash__ = None  # type: ignore[assignment]  # compared by value, and values can be millions
