"""From finished runs to the mixture, and what it was measured to gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from tawt.errors import RunError
from tawt.mix.passes import capped, passes_over, too_rare
from tawt.mix.result import CorpusShare, Difference, MixResult, Point, RowLoss
from tawt.mix.shares import at_floor, clipped_interval, late_mean, mean_course, settled, thinned
from tawt.mix.study import BY_SIZE, EQUAL, LEARNED
from tawt.runs.reading import record_of, updates_of
from tawt.significance import interval
from tawt.sweeps.row_runs import run_folder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tawt.mix.planning import ProxyPlan
    from tawt.mix.shares import Course
    from tawt.mix.study import MixStudy
    from tawt.tasks import Measure

Recommended = Literal["learned weights", "weights by size", "equal weights"]


@dataclass(frozen=True, kw_only=True)
class MixEvidence:
    """What the runs left: scores of each row, one a seed, and the courses of learned weights."""

    scores: Mapping[str, Sequence[float]]
    courses: Sequence[Course]
    seconds: float
    """Training time of all runs together."""
    circumstances: Mapping[str, object]


def gathered(folder: Path, study: MixStudy, seeds: Sequence[int]) -> MixEvidence:
    """What the finished runs say.

    Args:
        folder: Of the question.
        study: What was trained.
        seeds: Of each row.

    Raises:
        RunError: A run is damaged, or came to no score.
    """
    runs = {row.name: [run_folder(folder, row, seed) for seed in seeds] for row in study.rows}
    records = {name: [record_of(run) for run in found] for name, found in runs.items()}
    scores = {
        name: [record["scores"][study.target][study.split][study.metric] for record in found]
        for name, found in records.items()
    }
    if any(score is None for found in scores.values() for score in found):
        raise RunError("A run has no finite score on the target, so there is nothing to compare.")
    courses = [
        [Point(step=update["step"], weights=update["weights"]) for update in updates_of(run)]
        for run in runs[LEARNED]
    ]
    if not all(courses):
        raise RunError("A run with learned weights never updated them.")
    every = [record for found in records.values() for record in found]
    return MixEvidence(
        scores=scores,
        courses=courses,
        seconds=round(sum(record["seconds"] for record in every), 1),
        circumstances={key: every[0][key] for key in ("versions", "machine", "commit")},
    )


def answered(
    evidence: MixEvidence,
    study: MixStudy,
    plan: ProxyPlan,
    *,
    seeds: Sequence[int],
    wanted: float | None,
) -> MixResult:
    """The mixture to use.

    Args:
        evidence: Of the finished runs.
        study: What was trained.
        plan: How long.
        seeds: Of each row.
        wanted: How much the mixture is for, in the unit of the study; a run's own by default.
    """
    wanted = plan.amount if wanted is None else wanted
    most = study.config.training.passes_limit
    losses = _losses(evidence.scores, study.measure)
    recommended = recommendation(losses)
    late = [late_mean(course, steps=plan.steps) for course in evidence.courses]
    learned = {name: float(np.mean([each[name] for each in late])) for name in study.examples}
    total = sum(study.examples.values())
    by_size = {name: count / total for name, count in study.examples.items()}
    equal = dict.fromkeys(by_size, 1 / len(by_size))
    weights = {LEARNED: _normalised(learned), BY_SIZE: by_size, EQUAL: equal}[recommended]
    # The runs had the limit too, so what they drew is what was measured.
    chosen = capped(weights, study.amounts, wanted=plan.amount, most=most)
    used = capped(chosen, study.amounts, wanted=wanted, most=most)
    before = passes_over(chosen, study.amounts, wanted=wanted)
    after = passes_over(used, study.amounts, wanted=wanted)
    rare = too_rare(used, beside=weights)
    floor = at_floor(learned, bound=study.config.weighting.ratio_bound)
    corpora = [
        CorpusShare(
            name=name,
            weight=learned[name],
            interval=clipped_interval([each[name] for each in late]),
            by_size=by_size[name],
            multiplier=used[name] / by_size[name],
            probability=used[name],
            passes=after[name],
            uncapped=chosen[name],
            uncapped_passes=before[name],
            at_floor=name in floor,
        )
        for name in sorted(used, key=lambda name: (-chosen[name], -learned[name]))
    ]
    course = mean_course(evidence.courses)
    return MixResult(
        target=study.target,
        recommended=recommended,
        corpora=corpora,
        losses=losses,
        metric=study.metric,
        measure=study.measure,
        split=study.split,
        settling=settled(course, start=equal, steps=plan.steps),
        course=[Point(step=0, weights=equal), *thinned(course)],
        seeds=list(seeds),
        steps=plan.steps,
        unit=plan.unit,
        amount=plan.amount,
        wanted=wanted,
        most_passes=most,
        is_short=most is not None and wanted > most * sum(study.amounts.values()),
        seconds=evidence.seconds,
        circumstances=dict(evidence.circumstances),
        left_out=[corpus.name for corpus in corpora if corpus.name in rare],
        warnings=list(study.warnings),
    )


def recommendation(losses: Sequence[RowLoss]) -> Recommended:
    """Which weights to use.

    Learned weights, if they were measurably better than equal ones, and those by size not
    measurably better still; else weights by size, if these were measurably better than equal ones;
    else equal weights, which need no measuring. From one seed nothing is measurable, and the best
    mean is taken.

    Args:
        losses: Of all rows.
    """
    rows = {row.name: row for row in losses}
    if len(rows[EQUAL].scores) == 1:
        best = max(rows.values(), key=lambda row: _gain_over_equal(row, rows[EQUAL]))
        return _named(best.name)
    by_size = rows.get(BY_SIZE)
    beaten = by_size is not None and by_size.gains[LEARNED].is_measured
    if rows[LEARNED].gains[EQUAL].is_measured and not beaten:
        return "learned weights"
    if by_size is not None and by_size.gains[EQUAL].is_measured:
        return "weights by size"
    return "equal weights"


def _gain_over_equal(row: RowLoss, equal: RowLoss) -> float:
    return 0.0 if row is equal else row.gains[EQUAL].mean


def _named(name: str) -> Recommended:
    names: dict[str, Recommended] = {
        LEARNED: "learned weights",
        BY_SIZE: "weights by size",
        EQUAL: "equal weights",
    }
    return names[name]


def _losses(scores: Mapping[str, Sequence[float]], measure: Measure) -> list[RowLoss]:
    return [
        RowLoss(
            name=name,
            scores=list(ours),
            mean=float(np.mean(ours)),
            gains={
                other: _difference(ours, theirs, measure)
                for other, theirs in scores.items()
                if other != name
            },
        )
        for name, ours in scores.items()
    ]


def _difference(ours: Sequence[float], theirs: Sequence[float], measure: Measure) -> Difference:
    gains = [measure.gain(one, over=other) for one, other in zip(ours, theirs, strict=True)]
    return Difference(mean=float(np.mean(gains)), interval=interval(gains))


def _normalised(weights: Mapping[str, float]) -> dict[str, float]:
    """Shares in a file are rounded; these add up."""
    total = sum(weights.values())
    return {name: share / total for name, share in weights.items()}
