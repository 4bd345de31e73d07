"""Trains what a spec says, in this process."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from benchmarks.mixing.corpora import configuration, source_names, target_names
from benchmarks.mixing.cost import affordable_steps
from benchmarks.mixing.setups import setup
from tawt import Cosine, Fixed, TargetAware, UpdateRule
from tawt.corpora.importance import BucketCounts, log_importance, resampled
from tawt.corpora.networks import language_model
from tawt.streams import derived_seed
from tawt.tasks.examples import Subset
from tawt.training import PreTraining, SingleTask, SourcesOnly, train
from tawt.training.devices import accelerator_for
from tawt.training.evaluation import evaluate
from tawt.weighting.bandit import Bandit
from tawt.weighting.doge import DoGE
from tawt.weighting.excess_loss import ExcessLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.mixing.spec import Spec
    from tawt.tasks import Examples, MultiTaskModel, Task
    from tawt.training import Settings, TrainingResult
    from tawt.weighting import Weighting

_BATCH = 16
_COURSE = 60  # updates of a record, about


class Where(NamedTuple):
    """Where things are."""

    data: str
    scratch: str
    device: str
    checkpoint: str | None = None


@cache
def _all(where: Where, name: str) -> tuple[Any, dict[str, Task]]:
    """The configuration of a setup and every task, once for a process."""
    data, scratch, _, checkpoint = where
    found = setup(name, checkpoint=checkpoint)
    config = configuration(
        Path(data), Path(scratch), window=found.window, model=found.model, training=found.settings
    )
    names = [*source_names(Path(data)), *target_names(Path(data))]
    tasks = config.modality.tasks(
        config.data, config.model, names=names, targets=target_names(Path(data)), seed=0
    )
    return config, {task.name: task for task in tasks}


def trained(spec: Spec, where: Where) -> dict[str, Any]:
    """Train, and score on the held-out text of every target."""
    torch.set_num_threads(1)
    torch.set_float32_matmul_precision("high")  # TF32, on a GPU that has it
    began = time.perf_counter()
    asked_for = spec
    if spec.kind == "excess-loss":
        spec = _with_reference(spec, where)
    config, tasks = _all(where, spec.setup)
    targets = target_names(Path(where.data))
    target = spec.target or targets[0]
    model, found = _fitted(spec, where, config, tasks, target=target)
    return {
        "spec": asked_for.to_json(),
        "steps": found.steps if found else 0,
        "scores": {
            name: _scores(model, tasks[name], target, where)
            for name in ([target] if spec.target else targets)
        },
        "weights": found.weights if found else {},
        "course": _course(found) if found else [],
        "passes": found.passes if found else {},
        "seconds": round(time.perf_counter() - began, 2),
    }


def _course(found: TrainingResult) -> list[list[Any]]:
    """Weights after some of the updates, the last one among them."""
    every = 1 + len(found.history) // _COURSE
    kept = found.history[::-1][::every][::-1]
    return [[update.step, update.weights] for update in kept]


def _fitted(
    spec: Spec, where: Where, config: Any, tasks: dict[str, Task], *, target: str
) -> tuple[MultiTaskModel, TrainingResult | None]:
    """The model, trained if the budget is not zero."""
    sources = list(spec.sources or source_names(Path(where.data)))
    chosen = {name: tasks[name] for name in [*sources, target]}
    if spec.kind == "dsir":
        chosen |= _selected(chosen, sources, target, spec)
    if spec.with_target:  # under another name, so that it can be a source
        sources.append(f"text of {target}")
        chosen[sources[-1]] = replace(tasks[target], name=sources[-1])
    every = list(chosen.values())
    model = _model(config, every, spec)
    accelerator = accelerator_for(config.training.precision, device=where.device)
    if not spec.budget and not spec.then_target:
        return model.to(accelerator.device), None
    paradigm: Any = SourcesOnly(epochs=1)
    if not spec.budget:
        paradigm = SingleTask(epochs=spec.then_target)
        every = [chosen[target]]
    elif spec.then_target:
        paradigm = PreTraining(epochs=1, fine_tune_epochs=spec.then_target)
    found = train(
        model,
        tasks=every,
        target=target,
        paradigm=paradigm,
        weighting=_weighting(spec, sources, target, chosen) if spec.budget else None,
        settings=_settings(spec, config.training, sources=len(sources), after=tasks[target].train),
        seed=spec.seed,
        accelerator=accelerator,
    )
    return model, found


def _with_reference(spec: Spec, where: Where) -> Spec:
    """With the losses of a model that half of the budget is spent on, with equal weights."""
    half = spec.of(budget=spec.budget // 2)
    config, tasks = _all(where, spec.setup)
    sources = source_names(Path(where.data))
    chosen = [tasks[name] for name in [*sources, target_names(Path(where.data))[0]]]
    model = _model(config, chosen, spec)
    accelerator = accelerator_for(config.training.precision, device=where.device)
    train(
        model,
        tasks=chosen,
        target=chosen[-1].name,
        paradigm=SourcesOnly(epochs=1),
        weighting=Fixed(sources),
        settings=replace(config.training, steps=half.budget),
        seed=spec.seed,
        accelerator=accelerator,
    )
    reference = {}
    for task in chosen[:-1]:
        some = Subset(task.train, np.arange(min(len(task.train), 128)))
        said = evaluate(model, task, some, batch_size=64, device=accelerator.device)
        reference[task.name] = said.scores["loss"]
    return half.of(rule={**spec.rule, "reference": reference})


def _model(config: Any, tasks: list[Task], spec: Spec) -> MultiTaskModel:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(spec.seed, "model"))
        return language_model(config.model, tasks)


def _settings(spec: Spec, usual: Settings, *, sources: int, after: Examples) -> Settings:
    """With as many steps as the budget leaves; passes over the target afterwards are paid for."""
    settings = replace(usual, **spec.settings)
    if not spec.budget:
        return settings
    spent = -(-spec.then_target * len(after) // settings.batch_size)
    left = spec.of(budget=spec.budget - spent)
    return replace(settings, steps=affordable_steps(left, settings, sources=sources))


def _weighting(
    spec: Spec,
    sources: list[str],
    target: str,
    tasks: dict[str, Task],
) -> Weighting:
    sizes = {name: len(tasks[name].train) for name in sources}
    given: dict[str, Any] = {"sources": sources, "target": target, "target_share": None}
    rule = {key: value for key, value in spec.rule.items() if key != "scale"}
    alignment = Cosine(scale=spec.rule.get("scale", 1.0))
    makers: dict[str, Callable[[], Weighting]] = {
        "fixed": lambda: Fixed(sources, initial=spec.weights or "uniform"),
        "by size": lambda: Fixed(sources, initial="proportional", sizes=sizes),
        "dsir": lambda: Fixed(sources, initial="proportional", sizes=sizes),
        "tempered": lambda: Fixed(sources, initial=_roots(sizes)),
        "target-aware": lambda: TargetAware(**given, rule=UpdateRule(alignment=alignment, **rule)),
        "doge": lambda: DoGE(**given, **rule),
        "bandit": lambda: Bandit(**given, seed=spec.seed, **rule),
        "excess-loss": lambda: ExcessLoss(**given, **rule),
    }
    return makers[spec.kind]()


def _roots(sizes: dict[str, int]) -> dict[str, float]:
    total = sum(size**0.5 for size in sizes.values())
    return {name: size**0.5 / total for name, size in sizes.items()}


def _selected(
    tasks: dict[str, Task], sources: list[str], target: str, spec: Spec
) -> dict[str, Task]:
    """Of every source, the windows that importance resampling keeps.

    As many as the budget has room for, divided by the passes that are to be made over them.
    """
    texts = [_texts(tasks[name]) for name in sources]
    flat = [text for found in texts for text in found]
    wanted = min(len(flat), round(spec.budget * _BATCH / spec.rule.get("passes", 1.0)))
    logs = log_importance(
        flat, target=BucketCounts.of(_texts(tasks[target])), sources=BucketCounts.of(flat)
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
        windows: Any = task.train
        rows = windows.batch(np.arange(len(windows))).inputs["tokens"].numpy()
        _read[task.name] = [windows.vocabulary.decode(row[1:]) for row in rows]
    return _read[task.name]


def _scores(model: MultiTaskModel, task: Task, head: str, where: Where) -> dict[str, float]:
    """Bits a byte on dev and test; any head will do, since none does anything."""
    device = torch.device(where.device)
    same = replace(task, name=head)
    found = {}
    for split, examples in (("dev", task.dev), ("test", task.test)):
        assert examples is not None
        said = evaluate(model, same, examples, batch_size=64, device=device)
        found[split] = said.scores["bits_per_byte"]
    return found
