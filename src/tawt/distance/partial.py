"""What can be said of distances before everything is trained and estimated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.distance.estimates import Estimates
from tawt.distance.gains import gain_of
from tawt.distance.jobs import Job
from tawt.distance.measuring import mean_weights
from tawt.distance.pieces import pieces
from tawt.distance.result import TaskDistance
from tawt.distance.trained import Distance
from tawt.probes import Risk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tawt.distance.gains import Gain
    from tawt.distance.measuring import Outcomes
    from tawt.distance.pieces import Kept
    from tawt.distance.question import Question


def so_far(
    question: Question, outcomes: Outcomes, kept: Kept, *, seeds: Sequence[int]
) -> TaskDistance:
    """Of each source and mixture what is known, over the seeds for which it is.

    Args:
        question: What is asked.
        outcomes: Of the jobs that are done.
        kept: Has the pieces of the estimates that are made.
        seeds: For which trainings are to be done.
    """
    mixtures = _mixtures(question, outcomes, seeds)
    found = {
        piece: known
        for piece in pieces(question.candidates, question.measured, mixtures)
        if (known := kept.known(piece)) is not None
    }
    alone = [each for (job, _), each in outcomes.items() if job.what == "alone"]
    return TaskDistance(
        target=question.target,
        sources=list(question.sources),
        seeds=list(seeds),
        mixtures=mixtures,
        trained={question.target: _distances(question, outcomes, mixtures, seeds)},
        estimates=Estimates.of(question.measured, found).values,
        gains=_gains(question, outcomes, seeds),
        metric=alone[0]["metric"] if alone else None,
    )


def _mixtures(
    question: Question, outcomes: Outcomes, seeds: Sequence[int]
) -> dict[str, dict[str, float]]:
    """Those whose weights are known; learned ones once every seed has learned them."""
    learned = [outcome for (job, _), outcome in outcomes.items() if job.what == "learned"]
    return mean_weights(question, outcomes if len(learned) == len(seeds) else {}, seeds)


def _distances(
    question: Question, outcomes: Outcomes, mixtures: Iterable[str], seeds: Sequence[int]
) -> dict[str, Distance]:
    found, target, own = {}, question.target, Job("own", question.target)
    for name in (*question.sources, *mixtures):
        job = question.job_of(name)
        both = [seed for seed in seeds if (job, seed) in outcomes and (own, seed) in outcomes]
        if both:
            risks, best = (
                [Risk(**outcomes[each, seed]["risks"][target]["risk"]) for seed in both]
                for each in (job, own)
            )
            found[name] = Distance(risks, best)
    return found


def _gains(question: Question, outcomes: Outcomes, seeds: Sequence[int]) -> dict[str, Gain]:
    found, alone = {}, Job("alone", question.target)
    for source in question.sources:
        beside = Job("with", source)
        both = [seed for seed in seeds if (beside, seed) in outcomes and (alone, seed) in outcomes]
        if both:
            ours, theirs = ([outcomes[job, seed] for seed in both] for job in (beside, alone))
            found[source] = gain_of(
                [each["score"] for each in ours],
                [each["score"] for each in theirs],
                [each["examples"] for each in ours],
                [each["examples"] for each in theirs],
            )
    return found
