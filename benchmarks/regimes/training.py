"""Trains what a spec says, in this process."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchmarks.regimes.area import area
from benchmarks.regimes.arrays import (
    digits,
    noisy_examples,
    noisy_groups,
    noisy_labels,
    teachers,
)
from benchmarks.regimes.head_first import Anew, HeadFirst
from benchmarks.regimes.methods import EQUAL, METHODS, ROUNDS, Method, weighting
from benchmarks.regimes.regimes import REGIMES, Regime
from benchmarks.regimes.tagging import tagging
from tawt.training import JointTraining, PreTraining, SingleTask, train
from tawt.training.devices import accelerator_for, to_device
from tawt.training.evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.regimes.problems import Problem
    from benchmarks.regimes.spec import Spec
    from tawt.tasks import MultiTaskModel, Task
    from tawt.training import Paradigm, Settings, TrainingResult

_AT_ONCE = 64  # held-out examples
_REFERENCE = 128  # examples of a source that its reference loss is the mean of


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where things are on this machine; no part of what is trained."""

    texts: str
    encoder: str | None
    device: str


def prepare() -> None:
    """A process for trainings, one of several."""
    torch.set_num_threads(1)
    for name in ("tawt.data", "tawt.weighting"):  # few examples lack labels; skipped updates
        logging.getLogger(name).setLevel(logging.ERROR)


def trained(spec: Spec, place: Place) -> dict[str, Any]:
    """Train, and score on the target's held-out examples."""
    regime, method = REGIMES[spec.regime], METHODS[spec.method]
    whole = _problem(spec, regime, place)
    began, worked = time.perf_counter(), time.process_time()
    problem = whole.of(_sources(spec, method, whole))
    reference: dict[str, float] = {}
    if method.kind == "excess loss":
        equal = METHODS[EQUAL]
        first, _ = _fitted(problem, regime, equal, seed=spec.seed, reference={}, place=place)
        reference = {task.name: _mean_loss(first, task, place) for task in problem.sources}
    model, found = _fitted(
        problem, regime, method, seed=spec.seed, reference=reference, place=place
    )
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    target = whole.target
    scores = found.scores[target.name]["test"]
    assert target.dev is not None
    device = torch.device(place.device)
    dev = evaluate(model, target, target.dev, batch_size=_AT_ONCE, device=device).scores
    metric = found.metric[target.name]
    return {
        "spec": spec.to_json(),
        "metric": metric,
        "score": scores[metric],
        "scores": scores,
        "dev": dev[metric],
        **_ordered(found, problem),
        "worth": whole.worth,
        "findings": {name: finding.to_json() for name, finding in found.findings.items()},
        "warnings": found.warnings,
        "passes": found.passes,
        "steps": found.steps,
        **_spent(found, problem, _settings(method, problem, regime)),
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
    }


def _problem(spec: Spec, regime: Regime, place: Place) -> Problem:
    given: dict[str, int] = {"examples": spec.examples, "seed": spec.seed}
    if regime.problem == "tagging":
        assert place.encoder is not None
        return tagging(spec.target, **given, texts=Path(place.texts), encoder=place.encoder)
    makers = {
        "digits": digits,
        "noisy labels": noisy_labels,
        "teachers": teachers,
        "groups": noisy_groups,
        "examples": noisy_examples,
    }
    return makers[regime.problem](**given)


def _sources(spec: Spec, method: Method, whole: Problem) -> tuple[str, ...]:
    if method.kind == "alone":
        return ()
    if spec.source is not None:
        return (spec.source,)
    return whole.picked if method.sources == "picked" else whole.names


def _fitted(
    problem: Problem,
    regime: Regime,
    method: Method,
    *,
    seed: int,
    reference: Mapping[str, float],
    place: Place,
) -> tuple[MultiTaskModel, TrainingResult]:
    # Without dev examples: the model at the end is what is scored.
    tasks = [*problem.sources, replace(problem.target, dev=None)]
    model = problem.model(tasks)
    is_joint = regime.paradigm == "joint"
    settings = _settings(method, problem, regime)
    alone = method.kind == "alone"
    weighs = None
    if not alone:
        weighs = weighting(method, problem, is_joint=is_joint, seed=seed, reference=reference)
    found = train(
        model,
        tasks=tasks,
        target=problem.target.name,
        paradigm=_paradigm(regime, method),
        weighting=weighs,
        settings=replace(settings, learning_rate=regime.target_rate) if alone else settings,
        seed=seed,
        accelerator=accelerator_for("fp32", device=place.device),
        on_progress=Anew(model.heads[problem.target.name]),
    )
    return model, found


def _settings(method: Method, problem: Problem, regime: Regime) -> Settings:
    return method.settings(regime.settings, kind=regime.kind, unit=problem.unit)


def _paradigm(regime: Regime, method: Method) -> Paradigm:
    if method.kind == "alone":
        return SingleTask(epochs=regime.target_passes)
    epochs = regime.source_passes if method.by_size else ROUNDS
    if regime.paradigm == "joint":
        return JointTraining(epochs=epochs)
    return HeadFirst(
        PreTraining(
            epochs=epochs,
            fine_tune_epochs=regime.target_passes,
            fine_tune_learning_rate=regime.target_rate,
        ),
        passes=regime.head_passes,
    )


def _mean_loss(model: MultiTaskModel, task: Task, place: Place) -> float:
    """Of some of its training examples, through its head as it is."""
    some = np.arange(min(len(task.train), _REFERENCE))
    batch = to_device(task.train.batch(some), torch.device(place.device))
    model.eval()
    with torch.no_grad():
        outputs = model(batch.inputs, task.name).float()
    return float(task.kind.losses(outputs, batch.labels).mean())


def _ordered(found: TrainingResult, problem: Problem) -> dict[str, Any]:
    """Final weights, and how well they are in the order of what has them is worth."""
    weights, worth, parts = found.weights, problem.worth, problem.parts
    if parts is None or not problem.sources:
        return {"weights": weights, "area": area(weights, worth)}
    assert found.outcome is not None
    factors = parts.factors(found.outcome.weights, problem.sources[0].name)
    return {"weights": parts.means(factors), "area": parts.area(factors, worth)}


def _spent(found: TrainingResult, problem: Problem, settings: Settings) -> dict[str, int]:
    """Updates, and the examples whose gradients (or losses) they took."""
    sizes, target, measured = problem.sizes, problem.target, 0
    # Units finer than tasks are measured by all examples of their source.
    most = settings.gradient_examples if problem.units is None else sum(sizes.values())
    for update in found.history:
        names = [name for name in sizes if update.alignments.get(name) is not None]
        measured += sum(min(sizes[name], most) for name in names)
        if update.target_norm is not None:
            seen = len(target.train) // (1 if update.target_half is None else 2)
            measured += min(seen, settings.target_examples or settings.gradient_examples)
    return {"updates": len(found.history), "examples_measured": measured}
