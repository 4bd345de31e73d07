"""What more examples may be worth: the way that is used, trained on half of them as long.

Nobody can measure what examples are worth that are not there. What the second half of those that
are there is worth can be measured, and the next doubling is seldom worth more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy  # whose parts are imported when they are first used

from tawt.best.gains import CandidateScores
from tawt.best.posterior import with_errors
from tawt.best.result import HalfResult
from tawt.runs import held_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tawt.best.candidates import Candidates
    from tawt.best.recipes import Order
    from tawt.best.search import Search
    from tawt.best.trials import Trial
    from tawt.config.fold import Whose
    from tawt.sweeps import Work

_LEVEL = 0.9
_HALVED: Mapping[Order, Sequence[Whose]] = {
    "target alone": ("target",),
    "sources first": ("target", "sources"),
}


def half_works(candidates: Candidates, trial: Trial) -> list[Work]:
    """The runs on half of the target's examples, and on half of the sources' where it uses any.

    Not those that could not be made. Where both are trained on together there are none: half of one
    would change how much is trained on the other.
    """
    return [
        candidates.half(trial, part, whose)
        for whose in _whose(trial)
        for part in range(1, candidates.study.parts + 1)
        if not candidates.half_failed(trial, part, whose)
    ]


def half_results(search: Search, trial: Trial) -> list[HalfResult]:
    """What these runs say; nothing of those of which one could not be made.

    Args:
        search: At its end.
        trial: What is used.
    """
    return [
        HalfResult(
            whose=whose,
            examples=_examples(search, trial, whose),
            gain=_gain(found, search.measured(trial), parts=search.candidates.study.parts),
        )
        for whose in _whose(trial)
        if (found := _scores(search.candidates, trial, whose)) is not None
    ]


def _whose(trial: Trial) -> Sequence[Whose]:
    return _HALVED.get(trial.recipe.order, ())


def _examples(search: Search, trial: Trial, whose: Whose) -> int:
    study = search.candidates.study
    if whose == "target":
        return study.examples
    return sum(study.source_examples[name] for name in trial.recipe.sources)


def _scores(candidates: Candidates, trial: Trial, whose: Whose) -> NDArray[np.float64] | None:
    """Of every example, held out once."""
    folders = [
        candidates.half_folder(trial, part, whose) for part in range(1, candidates.study.parts + 1)
    ]
    if not all(folder.finished for folder in folders):
        return None
    parts = [held_out.read(folder.checked(held_out.NAME)) for folder in folders]
    return CandidateScores.of(parts, examples=candidates.study.examples).scores


def _gain(
    half: NDArray[np.float64], whole: CandidateScores, *, parts: int
) -> tuple[float, float, float]:
    (mean,), ((variance,),) = with_errors((whole.scores - half)[None], parts=parts)
    reach = float(scipy.stats.t.ppf((1 + _LEVEL) / 2, len(half) - 1)) * float(np.sqrt(variance))
    return float(mean), float(mean) - reach, float(mean) + reach
