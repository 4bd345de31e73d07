"""Sentences on weights that data cannot follow: what they ask for, and what there is of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tawt import simplex
from tawt.training.scaled import most_scaled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.training.schedule import Schedule
    from tawt.weights import SourceWeights

_SMALL = 0.1  # of the examples that there are
_OFTEN = 10.0  # times; what is hardly repeated may be few


def of_steps(schedule: Schedule, shares: Mapping[str, float], *, step: int) -> str | None:
    """A sentence, if a task counts far more than is seen of it.

    Args:
        schedule: Of the steps.
        shares: The weights they are drawn by.
        step: How many steps there were before.

    Example:
        >>> from tawt.training.schedule import Schedule
        >>> sizes = {"few": 20, "many": 1980}
        >>> schedule = Schedule(
        ...     sizes, batch_size=10, sampling="size", seed=0, phase="x", guarded=True
        ... )
        >>> of_steps(schedule, {"few": 0.3, "many": 0.7}, step=20).split(",")[0]
        "'few' is 30% of the objective but 1% of the examples: from step 21 on"
    """
    if schedule.sampling != "size":
        return None
    found = most_scaled(schedule.sizes, shares)
    if not found.too_much:
        return None
    counts = f"{found.task!r} is {_percent(found.share)} of the objective but"
    if schedule.guarded:
        return (
            f"{counts} {_percent(found.drawn)} of the examples: from step {step + 1} on, while "
            "that is so, tasks are drawn by weight, not by size (`training.guard`)."
        )
    return (
        f"{counts} only {_percent(found.drawn)} of the steps, so its loss is scaled by "
        f"{found.scale:.0f}: training is likely to fail, or to fall behind. Set "
        "`training.sampling: weight`, which draws each task in proportion to its weight."
    )


def of_passes(
    schedule: Schedule,
    shares: Mapping[str, float],
    taken: Mapping[str, int],
    *,
    left: int,
    step: int,
) -> str | None:
    """A sentence, if a source would be passed over too often, while others are hardly seen.

    Args:
        schedule: Of the steps.
        shares: The weights they are drawn by.
        taken: How many examples of each task the steps before have had.
        left: Steps to come.
        step: How many there were before.

    Example:
        >>> from tawt.training.schedule import Schedule
        >>> sizes, often = {"few": 8, "many": 3992}, {"few": 100.0, "many": 100.0}
        >>> schedule = Schedule(
        ...     sizes, batch_size=10, sampling="weight", seed=0, phase="x", too_often=often
        ... )
        >>> said = of_passes(schedule, {"few": 0.5, "many": 0.5}, {}, left=400, step=0)
        >>> said.partition(",")[0]
        "'few' (8 examples) has 50% of the weight: it would be passed over 200 times"
    """
    if not schedule.too_often:
        return None
    to_come = schedule.expected_examples(shares, steps=left)
    wanted = {name: taken.get(name, 0) + to_come[name] for name in schedule.too_often}
    passes = {name: number / schedule.sizes[name] for name, number in wanted.items()}
    often = max(passes, key=lambda name: passes[name] / schedule.too_often[name])
    most = schedule.too_often[often]
    if passes[often] <= most:
        return None
    together = sum(wanted.values()) / sum(schedule.sizes[name] for name in wanted)
    said = (
        f"{often!r} ({schedule.sizes[often]:,} examples) has {_percent(shares[often])} of the "
        f"weight: it would be passed over {passes[often]:,.0f} times, all sources together "
        f"{together:.2g} times"
    )
    if not schedule.guarded:
        return f"{said}. It is learned by heart then; `training.most_passes` sets a limit."
    return (
        f"{said}. From step {step + 1} on it is drawn less often, for {most:,.0f} passes in all "
        "(`training.guard`; `training.most_passes` sets another limit)."
    )


def of_size(schedule: Schedule, weights: SourceWeights, *, left: int) -> str | None:
    """A sentence, if weights are worth a small part of the examples, which is repeated for it.

    Args:
        schedule: Of the steps.
        weights: They are drawn by.
        left: Steps to come.

    Example:
        >>> from tawt.training.schedule import Schedule
        >>> from tawt.weights import SourceWeights
        >>> sizes, often = {"few": 100, "many": 9900}, {"few": 100.0, "many": 100.0}
        >>> schedule = Schedule(
        ...     sizes, batch_size=10, sampling="weight", seed=0, phase="x", too_often=often
        ... )
        >>> weights = SourceWeights.of({"few": 0.5, "many": 0.5})
        >>> of_size(schedule, weights, left=1000).partition(" (")[0]
        'by their weights, sources are worth 396 of their 10,000 examples'
        >>> of_size(schedule, weights, left=100)
    """
    sources = {name: schedule.sizes[name] for name in schedule.too_often}
    members = weights.members(sources)
    logs = weights.logs.double()[members]
    if len(sources) < 2 or not torch.isfinite(share := logs.logsumexp(0)):
        return None
    counts = torch.from_numpy(weights.units.counts(schedule.sizes)).double()[members]
    worth = simplex.effective_sample_size(logs - share, counts)
    wanted = schedule.expected_examples(weights.shares(), steps=left)
    total, often = sum(sources.values()), sum(wanted[name] for name in sources) / worth
    if worth >= _SMALL * total or often < _OFTEN:
        return None
    return (
        f"by their weights, sources are worth {worth:,.0f} of their {total:,} examples (effective "
        f"sample size): the same ones come {often:,.0f} times. Leave out the smallest sources, or "
        "start with `weighting.initial: proportional`."
    )


def _percent(share: float) -> str:
    """A share as one reads it.

    Example:
        >>> [_percent(share) for share in (0.999, 0.3, 0.0042, 0.00003)]
        ['100%', '30%', '0.4%', '0.003%']
    """
    return f"{share:.0%}" if share >= 0.1 else f"{100 * share:.1g}%"
