"""An update here against the authors' way of it, at BERT-base size.

What an update does beyond its backward passes is, for theirs, the parts that are not one (timed
one by one), and for ours the whole update less the same losses and gradients by themselves, the
two taken in turns. Both must find the same cosines, or nothing is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from benchmarks.authors_baseline import Stopwatch, authors_update
from benchmarks.data import TARGET, Shape, random_tasks, source_names
from benchmarks.finding import Finding, Numbers
from benchmarks.networks import bert_base, small_bert
from benchmarks.timing import in_turns, now, seconds
from tawt.tasks import MultiTaskModel
from tawt.training.devices import to_device
from tawt.weighting import TargetAware, UpdateRule

if TYPE_CHECKING:
    from collections.abc import Callable

_SOURCES = source_names(3)
_TOLERANCE = 1e-4  # of a cosine, between float32 sums here and float64 there


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The model, its losses, and how often each side is measured."""

    model: MultiTaskModel
    loss_with: Callable[[MultiTaskModel, str], Tensor]
    device: torch.device
    batch: str
    theirs: int
    """Times that the authors' update is run; it takes about a minute."""
    ours: int
    """Times that ours is run for each of theirs."""


def run(*, device: torch.device, quick: bool) -> list[Finding]:
    """Time beyond the backward passes, and of the whole update."""
    setting = _setting(device=device, quick=quick)
    theirs: list[dict[str, float]] = []
    wholes: list[float] = []
    alone: list[float] = []
    for _ in range(setting.theirs):
        theirs.append(_theirs(setting))
        times = _ours(setting)
        wholes += times["update"]
        alone += times["gradients alone"]
    return _findings(setting, theirs=theirs, wholes=wholes, alone=alone)


def _setting(*, device: torch.device, quick: bool) -> Setting:
    examples, length = (64, 32) if device.type == "cuda" else (2, 8)
    encoder = small_bert() if quick else bert_base()
    shape = Shape(length, vocabulary=encoder.tokens.num_embeddings)
    tasks = random_tasks(dict.fromkeys([*_SOURCES, TARGET], examples), shape=shape)
    model = MultiTaskModel.for_tasks(encoder, tasks, width=encoder.tokens.embedding_dim)
    # Without dropout, as an update of ours is; both sides then see the very same losses.
    model.to(device).eval()
    kinds = {task.name: task.kind for task in tasks}
    batches = {
        task.name: to_device(task.train.batch(torch.arange(examples).numpy()), device)
        for task in tasks
    }

    def loss_with(model: MultiTaskModel, task: str) -> Tensor:
        batch = batches[task]
        return kinds[task].losses(model(batch.inputs, task), batch.labels).mean()

    return Setting(
        model=model,
        loss_with=loss_with,
        device=device,
        batch=f"{examples} x {length} tokens",
        theirs=1 if quick else 2,
        ours=2 if quick else 15 if device.type == "cuda" else 7,
    )


def _theirs(setting: Setting) -> dict[str, float]:
    """Seconds of each part, and of the whole."""
    stopwatch = Stopwatch(setting.device)
    start = now(setting.device)
    cosines = authors_update(
        setting.model,
        sources=_SOURCES,
        target=TARGET,
        loss_with=setting.loss_with,
        stopwatch=stopwatch,
    )
    whole = now(setting.device) - start
    _check_same(cosines, _updated(setting))
    return {**stopwatch.parts, "whole": whole}


def _ours(setting: Setting) -> dict[str, list[float]]:
    parameters = list(setting.model.representation.parameters())

    def gradients_alone() -> None:
        for name in [TARGET, *_SOURCES]:
            torch.autograd.grad(setting.loss_with(setting.model, name), parameters)

    def timed(action: Callable[[], object]) -> Callable[[], float]:
        return lambda: seconds(action, device=setting.device)

    sides = {
        "update": timed(lambda: _updated(setting)),
        "gradients alone": timed(gradients_alone),
    }
    return in_turns(sides, repeats=setting.ours)


def _updated(setting: Setting) -> dict[str, float | None]:
    """One update of ours; returns the cosines."""
    weighting = TargetAware(
        sources=_SOURCES, target=TARGET, target_share="learned", rule=UpdateRule.paper()
    )
    update = weighting.update(
        setting.model.representation,
        loss_of=lambda task: setting.loss_with(setting.model, task),
        touching=[setting.model],
    )
    return update.alignments


def _check_same(theirs: dict[str, float], ours: dict[str, float | None]) -> None:
    for name, cosine in theirs.items():
        found = ours[name]
        if found is None or abs(found - cosine) > _TOLERANCE:
            raise RuntimeError(f"The two sides disagree on {name!r}: {cosine} and {found}.")


def _findings(
    setting: Setting, *, theirs: list[dict[str, float]], wholes: list[float], alone: list[float]
) -> list[Finding]:
    beyond = [whole - backward for whole, backward in zip(wholes, alone, strict=True)]
    their_wholes = [parts["whole"] for parts in theirs]
    their_beyond = [parts["whole"] - parts["backward"] for parts in theirs]
    size = sum(p.numel() for p in setting.model.representation.parameters())
    numbers: Numbers = {
        "parameters": size,
        "batch": setting.batch,
        "our_update_seconds": wholes,
        "our_gradients_alone_seconds": alone,
        "their_update_seconds": their_wholes,
        "their_beyond_seconds": their_beyond,
        **{
            f"their_{part}_seconds": median(parts[part] for parts in theirs)
            for part in ("copy", "backward", "flatten", "cosine")
        },
    }
    cuda = setting.device.type == "cuda"
    where = f"{size / 1e6:.0f}M parameters, {setting.batch}"
    return [
        _ratio(
            f"beyond the backward passes, {where}",
            their_beyond,
            beyond,
            numbers=numbers,
            goal=None if cuda else 50.0,
        ),
        _ratio(
            f"the whole update, {where}",
            their_wholes,
            wholes,
            numbers=numbers,
            goal=100.0 if cuda else None,
        ),
    ]


def _ratio(
    what: str, theirs: list[float], ours: list[float], *, numbers: Numbers, goal: float | None
) -> Finding:
    """Theirs over ours, by medians; the spread by the quartiles of ours."""
    ordered = sorted(ours)
    quarter = len(ordered) // 4
    low, high = ordered[quarter], ordered[-1 - quarter]
    return Finding(
        benchmark="authors_way",
        what=f"theirs over ours: {what}",
        value=median(theirs) / median(ours),
        unit="x",
        goal=goal,
        direction="at least",
        spread=(min(theirs) / high, max(theirs) / low),
        note=f"theirs {median(theirs):.2f} s, ours {median(ours):.4f} s "
        f"(quartiles {low:.4f} to {high:.4f})",
        numbers=numbers,
    )
