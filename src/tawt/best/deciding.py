"""Which candidate to use: the best one, unless it may well be worse than the target alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tawt.best.gains import Scales, gains
from tawt.best.posterior import posterior
from tawt.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.best.gains import CandidateScores
    from tawt.best.posterior import Posterior
    from tawt.best.trials import Trial

DOUBT = 0.1
"""How probable it may be that what is used is worse than the target alone."""


@dataclass(frozen=True, kw_only=True)
class Tried:
    """A candidate, and what it came to."""

    trial: Trial
    measured: CandidateScores


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What is used, and how sure that is."""

    chosen: Trial
    """What is used."""
    alone: Trial
    """The best of the target alone."""
    rival: Trial | None
    """The best that uses sources, whether it is used or not; none where all failed."""
    worse: float | None
    """The probability that it is worse than the target alone."""
    gains: dict[int, tuple[float, float, float]]
    """Of each candidate by its number: the mean score of an example beyond that of the target
    alone, and its 90% interval."""


def decided(tried: Sequence[Tried], *, parts: int) -> Decision:
    """What to use of what was tried.

    Args:
        tried: Candidates, the first being what all are compared with; each was tried on some
            examples at least.
        parts: That the examples were cut into.

    Raises:
        TrainingError: Nothing was tried.
    """
    if not tried:
        raise TrainingError("No candidate could be trained, so there is nothing to choose.")
    uses = [each.trial.recipe.uses_sources for each in tried]
    by_both = _believed(tried, uses, parts=parts)
    by_score = _believed(tried, uses, parts=parts, scores_only=True)
    alone = _best(by_both, [place for place, each in enumerate(uses) if not each])
    over = {each.trial.number: by_score.gain(place, over=alone) for place, each in enumerate(tried)}
    rivals = [place for place, each in enumerate(uses) if each]
    if not rivals:
        trial = tried[alone].trial
        return Decision(chosen=trial, alone=trial, rival=None, worse=None, gains=over)
    rival = _best(by_both, rivals)
    worse = by_both.worse(rival, than=alone)
    # More right answers is what counts: a gain in the loss alone is none.
    is_taken = worse < DOUBT and by_score.worse(rival, than=alone) < 0.5
    return Decision(
        chosen=tried[rival if is_taken else alone].trial,
        alone=tried[alone].trial,
        rival=tried[rival].trial,
        worse=worse,
        gains=over,
    )


def _believed(
    tried: Sequence[Tried], uses: Sequence[bool], *, parts: int, scores_only: bool = False
) -> Posterior:
    first = tried[0].measured
    if scores_only:
        rows = [each.measured.scores - first.scores for each in tried]
    else:
        scales = Scales.of(first)
        rows = [gains(each.measured, first, scales) for each in tried]
    return posterior(np.vstack(rows), uses, parts=parts)


def _best(found: Posterior, places: Sequence[int]) -> int:
    return max(places, key=lambda place: float(found.means[place]))
