"""The task distance by its definition, with empirical risks.

    dist(Σ ω_t D_t, D_0) = L0*(φ̄_ω) − L0*(φ0*)

φ̄_ω is trained on the weighted sources, φ0* on all that there is of the target; both are then
frozen, a head is fitted on the target's training examples, and its risk is measured on held-out
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from tawt.distance.items import gathered
from tawt.distance.probe import Probe, Risk
from tawt.errors import ConfigError, DataError
from tawt.training import Settings, SingleTask, train
from tawt.training.paradigms import Phase
from tawt.weighting import Fixed

if TYPE_CHECKING:
    from torch import nn

    from tawt.tasks import MultiTaskModel, Task

ModelFor = Callable[[int], "MultiTaskModel"]
"""A new model for a seed, with a head for every task."""


@dataclass(frozen=True)
class SourcesAlone:
    """Train on the weighted sources, and do nothing else."""

    epochs: int

    def phases(self) -> tuple[Phase, ...]:
        """One phase."""
        return (Phase("sources", "sources", self.epochs),)


@dataclass(frozen=True)
class Distance:
    """How far weighted sources are from a target, seed by seed."""

    risks: list[Risk]
    """L0*(φ̄_ω)."""
    best: list[Risk]
    """L0*(φ0*)."""

    @property
    def zero_one(self) -> list[float]:
        """Of each seed, by the share of wrong answers; empty for regression."""
        pairs = zip(self.risks, self.best, strict=True)
        return [
            a.zero_one - b.zero_one
            for a, b in pairs
            if a.zero_one is not None and b.zero_one is not None
        ]

    @property
    def clipped(self) -> list[float]:
        """Of each seed, by clipped log-loss."""
        return [a.clipped - b.clipped for a, b in zip(self.risks, self.best, strict=True)]


def interval(values: Sequence[float], *, level: float = 0.95) -> tuple[float, float] | None:
    """Of the mean, by Student's t; none for fewer than two values.

    Example:
        >>> [round(end, 3) for end in interval([1.0, 2.0, 3.0])]
        [-0.484, 4.484]
    """
    if len(values) < 2:
        return None
    mean, error = float(np.mean(values)), float(np.std(values, ddof=1)) / len(values) ** 0.5
    reach = float(stats.t.ppf((1 + level) / 2, len(values) - 1)) * error
    return mean - reach, mean + reach


def trained_distances(
    model_for: ModelFor,
    *,
    tasks: Sequence[Task],
    target: str,
    mixtures: Mapping[str, Mapping[str, float]],
    epochs: int,
    settings: Settings,
    seeds: Sequence[int],
    on_done: Callable[[], None] = lambda: None,
) -> dict[str, Distance]:
    """Train for every mixture of sources and every seed, and measure.

    Args:
        model_for: A new model for a seed.
        tasks: Sources and target.
        target: Name of the target, which must have held-out examples.
        mixtures: By name, the weights of some sources; they sum to one.
        epochs: Passes over the sources, and over the target for φ0*.
        settings: Of the training.
        seeds: Of the training.
        on_done: Told after each training.
    """
    by_name = {task.name: task for task in tasks}
    for weights in mixtures.values():
        if target in weights:
            raise ConfigError(f"The target {target!r} is no source of its own distance.")
    last = replace(settings, select="last", patience=None)
    found: dict[str, Distance] = {name: Distance([], []) for name in mixtures}
    for seed in seeds:
        best = model_for(seed)
        train(
            best,
            tasks=[by_name[target]],
            target=target,
            paradigm=SingleTask(epochs=epochs),
            settings=last,
            seed=seed,
        )
        reference = frozen_risk(best.representation, by_name[target])
        on_done()
        for name, weights in mixtures.items():
            model = model_for(seed)
            train(
                model,
                tasks=[*(by_name[source] for source in weights), by_name[target]],
                target=target,
                paradigm=SourcesAlone(epochs),
                weighting=Fixed(list(weights), initial=dict(weights)),
                settings=last,
                seed=seed,
            )
            found[name].risks.append(frozen_risk(model.representation, by_name[target]))
            found[name].best.append(reference)
            on_done()
    return found


def frozen_risk(representation: nn.Module, target: Task) -> Risk:
    """L0*(φ): a head is fitted on the target's training examples, and measured on held-out ones.

    Raises:
        DataError: The target has no held-out examples.
    """
    held_out = target.test or target.dev
    if held_out is None:
        raise DataError(f"The target {target.name!r} has neither dev nor test examples.")
    device = next(representation.parameters()).device
    seen = gathered(representation, target.kind, target.train, device=device)
    return Probe.fitted(seen).risk(gathered(representation, target.kind, held_out, device=device))
