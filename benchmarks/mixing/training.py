"""Trains what a spec says, in this process."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from benchmarks.mixing.corpora import configuration, source_names, target_names
from tawt import Cosine, Fixed, TargetAware, UpdateRule
from tawt.corpora.importance import Buckets, log_importance, resampled
from tawt.corpora.networks import language_model
from tawt.streams import derived_seed
from tawt.tasks import Task
from tawt.tasks.examples import Subset
from tawt.training import PreTraining, SourcesOnly, train
from tawt.training.devices import accelerator_for
from tawt.training.evaluation import evaluate
from tawt.weighting.bandit import Bandit
from tawt.weighting.doge import DoGE
from tawt.weighting.excess_loss import ExcessLoss

if TYPE_CHECKING:
    from benchmarks.mixing.spec import Spec
    from tawt.tasks import MultiTaskModel
    from tawt.training import Settings
    from tawt.weighting import Weighting

WINDOW = 256
MODEL: dict[str, Any] = {"layers": 4, "width": 256, "heads": 4}
TRAINING: dict[str, Any] = {
    "batch_size": 16,
    "learning_rate": 2e-3,
    "warmup": 0.05,
    "weight_decay": 0.1,
    "sampling": "weight",
    "select": "last",
}
_AIM_EVERY = 5  # as in `tawt.training.watching`


@cache
def _all(data: str, scratch: str) -> tuple[Any, dict[str, Task]]:
    """The configuration and every task, once for a process."""
    config = configuration(
        Path(data), Path(scratch), window=WINDOW, model=MODEL, training=TRAINING
    )
    names = [*source_names(Path(data)), *target_names(Path(data))]
    found = config.modality.tasks(
        config.data, config.model, names=names, targets=target_names(Path(data)), seed=0
    )
    return config, {task.name: task for task in found}


def trained(spec: Spec, *, data: str, scratch: str, device: str) -> dict[str, Any]:
    """Train, and score on the held-out text of every target."""
    torch.set_num_threads(1)
    began = time.perf_counter()
    config, tasks = _all(data, scratch)
    every = source_names(Path(data))
    targets = target_names(Path(data))
    sources = list(spec.sources or every)
    target = spec.target or targets[0]
    chosen = {name: tasks[name] for name in [*sources, target]}
    if spec.kind == "dsir":
        chosen |= _selected(chosen, sources, target, spec)
    model = _model(config, list(chosen.values()), spec)
    weighting = _weighting(spec, sources, target, chosen, model, device)
    settings = _settings(spec, config.training, sources=len(sources))
    paradigm: Any = SourcesOnly(epochs=1)
    if spec.then_target:
        paradigm = PreTraining(epochs=1, fine_tune_epochs=spec.then_target)
    accelerator = accelerator_for(settings.precision, device=device)
    if spec.with_target:  # under another name, so that it can be a source
        chosen[f"text of {target}"] = replace(tasks[target], name=f"text of {target}")
        model = _model(config, list(chosen.values()), spec)
        weighting = Fixed([*sources, f"text of {target}"])
    found = train(
        model,
        tasks=list(chosen.values()),
        target=target,
        paradigm=paradigm,
        weighting=weighting,
        settings=settings,
        seed=spec.seed,
        accelerator=accelerator,
    )
    wanted = [target] if spec.target else targets
    return {
        "spec": spec.to_json(),
        "steps": found.steps,
        "scores": {name: _scores(model, tasks[name], target, accelerator) for name in wanted},
        "weights": found.weights,
        "course": [[update.step, update.weights] for update in found.history],
        "passes": found.passes,
        "seconds": round(time.perf_counter() - began, 2),
    }


def _model(config: Any, tasks: list[Task], spec: Spec) -> MultiTaskModel:
    section = config.model.model_copy(update=spec.model)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(spec.seed, "model"))
        return language_model(section, tasks)


def _settings(spec: Spec, usual: Settings, *, sources: int) -> Settings:
    """With as many steps as the budget leaves."""
    settings = replace(usual, **spec.settings)
    return replace(settings, steps=max(1, round(spec.budget / _cost(spec, settings, sources))))


def _cost(spec: Spec, settings: Settings, sources: int) -> float:
    """What a step costs, updates included, beside a step without them."""
    if spec.kind in ("fixed", "by size", "tempered", "dsir") or settings.update_every is None:
        return 1.0
    measured = {"bandit": 2, "excess-loss": sources}.get(spec.kind, sources + 1)
    windows = measured * settings.gradient_examples / settings.update_every
    if settings.measure == "training steps":
        windows = -(-settings.gradient_examples // _AIM_EVERY) / _AIM_EVERY
    return 1.0 + windows / settings.batch_size


def _weighting(
    spec: Spec,
    sources: list[str],
    target: str,
    tasks: dict[str, Task],
    model: MultiTaskModel,
    device: str,
) -> Weighting:
    sizes = {name: len(tasks[name].train) for name in sources}
    given: dict[str, Any] = {"sources": sources, "target": target, "target_share": None}
    if spec.weights:
        return Fixed(sources, initial=spec.weights)
    if spec.kind in ("by size", "dsir"):
        return Fixed(sources, initial="proportional", sizes=sizes)
    if spec.kind == "tempered":
        powers = {name: size**0.5 for name, size in sizes.items()}
        total = sum(powers.values())
        return Fixed(sources, initial={name: power / total for name, power in powers.items()})
    if spec.kind == "target-aware":
        rule = {key: value for key, value in spec.rule.items() if key != "scale"}
        alignment = Cosine(scale=spec.rule.get("scale", 1.0))
        return TargetAware(**given, rule=UpdateRule(alignment=alignment, **rule))
    if spec.kind == "doge":
        return DoGE(**given, **spec.rule)
    if spec.kind == "bandit":
        return Bandit(**given, seed=spec.seed, **spec.rule)
    if spec.kind == "excess-loss":
        return ExcessLoss(**given, reference=spec.rule["reference"])
    return Fixed(sources)


def _selected(
    tasks: dict[str, Task], sources: list[str], target: str, spec: Spec
) -> dict[str, Task]:
    """Of every source, the windows that importance resampling keeps: one pass of the budget."""
    texts = [_texts(tasks[name]) for name in sources]
    flat = [text for found in texts for text in found]
    wanted = min(len(flat), spec.budget * TRAINING["batch_size"])
    logs = log_importance(
        flat, target=Buckets.of(_texts(tasks[target])), sources=Buckets.of(flat)
    )
    kept = resampled(logs, count=wanted, seed=spec.seed)
    first, found = 0, {}
    for name, each in zip(sources, texts, strict=True):
        mine = kept[(kept >= first) & (kept < first + len(each))] - first
        first += len(each)
        if len(mine):
            found[name] = replace(tasks[name], train=Subset(tasks[name].train, np.asarray(mine)))
    dropped = [name for name in sources if name not in found]
    sources[:] = [name for name in sources if name in found]
    for name in dropped:
        del tasks[name]
    return found


_read: dict[str, list[str]] = {}


def _texts(task: Task) -> list[str]:
    if task.name not in _read:
        _read[task.name] = [task.train.text(index) for index in range(len(task.train))]
    return _read[task.name]


def _scores(
    model: MultiTaskModel, task: Task, head: str, accelerator: Any
) -> dict[str, float]:
    """Bits a byte on dev and test; any head will do, since none does anything."""
    device = accelerator.device
    same = replace(task, name=head)
    found = {}
    for split, examples in (("dev", task.dev), ("test", task.test)):
        assert examples is not None
        said = evaluate(model, same, examples, batch_size=64, device=device)
        found[split] = said.scores["bits_per_byte"]
    return found
