"""From what was tried to the answer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.best.halves import half_results
from tawt.best.result import (
    ALONE_MODEL,
    MODEL,
    BestResult,
    CandidateResult,
    SourceResult,
    UnseenResult,
)
from tawt.runs import RunFolder
from tawt.significance import paired_bootstrap

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.best.budget import Budget
    from tawt.best.deciding import Decision
    from tawt.best.search import Search
    from tawt.best.study import BestStudy
    from tawt.best.trials import Trial

_UNKNOWN = "cannot tell"
_AGREED = 0.5  # of the runs that say something of a source


def answered(search: Search, decision: Decision, *, budget: Budget) -> BestResult:
    """The answer, once the models are there.

    Args:
        search: At its end.
        decision: What is used.
        budget: That was given.
    """
    study, folder = search.candidates.study, search.candidates.folder
    trials = search.trials.all()
    candidates = [_candidate(search, trial, decision) for trial in trials]
    record = RunFolder(folder / MODEL).record()
    scores, gain = _on_test(folder, search) if study.has_test else ({}, None)
    return BestResult(
        target=study.target,
        metric=study.metric,
        measure=study.measure,
        examples=study.examples,
        parts=study.parts,
        chosen=decision.chosen.number,
        alone=decision.alone.number,
        rival=None if decision.rival is None else decision.rival.number,
        worse=decision.worse,
        candidates=candidates,
        sources=_sources(search, trials, decision),
        test=scores,
        test_gain=gain,
        unseen=_on_unseen(folder, study),
        budget=budget.text,
        seconds=round(sum(each.seconds for each in candidates) + record["seconds"], 1),
        circumstances={key: record[key] for key in ("versions", "machine", "commit")},
        remarks=list(study.remarks),
        halves=half_results(search, decision.chosen),
    )


def _candidate(search: Search, trial: Trial, decision: Decision) -> CandidateResult:
    study = search.candidates.study
    parts = search.finished(trial)
    records = [search.record(trial, part) for part in parts]
    scores = [record["scores"][study.target]["test"][study.metric] for record in records]
    return CandidateResult(
        number=trial.number,
        words=trial.recipe.in_words(study.sources),
        recipe=trial.recipe.to_json(),
        state=trial.state,
        parts=len(parts),
        score=float(np.mean(scores)) if scores and None not in scores else None,
        gain=decision.gains.get(trial.number) if trial.state == "done" else None,
        seconds=round(sum(record["seconds"] for record in records), 1),
        error=trial.error,
    )


def _on_test(
    folder: Path, search: Search
) -> tuple[dict[str, float], tuple[float, float, float] | None]:
    """Scores of the models that are kept, and the gain of one over the other."""
    study = search.candidates.study
    runs = {name: RunFolder(folder / name) for name in (MODEL, ALONE_MODEL)}
    runs = {name: run for name, run in runs.items() if run.finished}
    scores = {
        name: run.record()["scores"][study.target]["test"][study.metric]
        for name, run in runs.items()
    }
    if len(runs) == 1:
        return scores, None
    ours, theirs = (np.array(run.example_scores(study.target)) for run in runs.values())
    low, high = paired_bootstrap(ours, theirs).interval
    return scores, (float((ours - theirs).mean()), low, high)


def _on_unseen(folder: Path, study: BestStudy) -> dict[str, UnseenResult]:
    """Scores of the same models without what they have seen, where they have."""
    runs = {name: RunFolder(folder / name) for name in (MODEL, ALONE_MODEL)}
    records = {name: run.record() for name, run in runs.items() if run.finished}
    found = {name: record.get("unseen", {}).get(study.target) for name, record in records.items()}
    return {
        name: UnseenResult(
            seen=len(each["seen"]), of=each["of"], score=each["scores"].get(study.metric)
        )
        for name, each in found.items()
        if each is not None
    }


def _sources(search: Search, trials: list[Trial], decision: Decision) -> list[SourceResult]:
    """What runs that learned weights of all sources say of them, and runs with one source."""
    study = search.candidates.study
    records = [
        search.record(trial, part)
        for trial in trials
        if trial.recipe.weights == "learned" and set(trial.recipe.sources) == set(study.sources)
        for part in search.finished(trial)
    ]
    alone = {
        trial.recipe.sources[0]: decision.gains.get(trial.number)
        for trial in trials
        if len(trial.recipe.sources) == 1 and trial.state == "done"
    }
    return [
        SourceResult(
            name=name,
            verdict=_verdict([record.get("findings", {}).get(name) for record in records]),
            weight=_mean_weight(records, name),
            gain=alone.get(name),
        )
        for name in study.sources
    ]


def _verdict(findings: list[dict[str, Any] | None]) -> str:
    """What more than half of the runs say, if they do."""
    counts = Counter(each["verdict"] for each in findings if each is not None)
    if not counts:
        return _UNKNOWN
    verdict, count = counts.most_common(1)[0]
    return verdict if count > _AGREED * counts.total() else _UNKNOWN


def _mean_weight(records: list[dict[str, Any]], name: str) -> float | None:
    """Among the sources, whatever share the target has."""
    found = []
    for record in records:
        weights = record["weights"]
        total = sum(share for task, share in weights.items() if task != record["target"])
        if name in weights and total > 0:
            found.append(weights[name] / total)
    return float(np.mean(found)) if found else None
