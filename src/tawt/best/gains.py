"""What candidates gained over the first one, example by example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tawt.runs.held_out import HeldOut

_LARGEST = 1e3  # a loss that is no number, or beyond all bounds, counts as this


@dataclass(frozen=True)
class CandidateScores:
    """Scores and losses of one candidate on all examples, where it was tried."""

    scores: NDArray[np.float64]
    """Not a number where it was not tried."""
    losses: NDArray[np.float64]

    @classmethod
    def of(cls, parts: Sequence[HeldOut], *, examples: int) -> CandidateScores:
        """From the runs of some of its parts.

        Args:
            parts: What each left.
            examples: That the target has to train on.
        """
        scores, losses = (np.full(examples, np.nan) for _ in range(2))
        for part in parts:
            scores[part.examples] = part.scores
            losses[part.examples] = np.nan_to_num(part.losses, nan=_LARGEST, posinf=_LARGEST)
        return cls(scores, losses)

    @property
    def tried(self) -> NDArray[np.int64]:
        """The examples that it was tried on."""
        return np.flatnonzero(np.isfinite(self.scores))


@dataclass(frozen=True)
class Scales:
    """The typical size of what is measured, so that scores and losses can be set side by side."""

    score: float
    loss: float

    @classmethod
    def of(cls, first: CandidateScores) -> Scales:
        """By how much examples differ with the first candidate."""
        return cls(
            score=float(np.nanstd(first.scores)) or 1.0, loss=float(np.nanstd(first.losses)) or 1.0
        )


def gains(ours: CandidateScores, first: CandidateScores, scales: Scales) -> NDArray[np.float64]:
    """By how much a candidate is better than the first, by scores and losses alike.

    The score is what counts, and of a hundred examples says little: most are answered alike. The
    loss says more, but a model may be right more often and less modest. So both count a half, each
    in units of its own spread.

    Args:
        ours: Of the candidate.
        first: Of the candidate that all are compared with.
        scales: Of that one.

    Example:
        >>> first = CandidateScores(np.array([0.0, 1.0]), np.array([2.0, 1.0]))
        >>> ours = CandidateScores(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
        >>> gains(ours, first, Scales.of(first))
        array([ 2., nan])
    """
    by_score = (ours.scores - first.scores) / scales.score
    by_loss = (first.losses - ours.losses) / scales.loss
    both: NDArray[np.float64] = (by_score + by_loss) / 2
    return both
