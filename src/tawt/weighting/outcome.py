"""What learning the weights comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from tawt.weights import SourceWeights


@dataclass(frozen=True)
class Outcome:
    """Where the weights ended, and how well each unit agreed with the target."""

    weights: SourceWeights
    mean_alignments: Tensor
    """Of each unit with the target, over all updates; not a number if it was never measured."""
