"""The task distance by its definition, with empirical risks.

    dist(Σ ω_t D_t, D_0) = L0*(φ̄_ω) − L0*(φ0*)

φ̄_ω is trained on the weighted sources, φ0* on all that there is of the target; both are then
frozen, a head is fitted on the target's training examples, and its risk is measured on held-out
ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from tawt.distance.items import gathered
from tawt.errors import DataError
from tawt.probes import Items, OnPass, Probe, Risk, uncounted
from tawt.streams import stream

if TYPE_CHECKING:
    from torch import nn

    from tawt.tasks import Examples, Task


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


@dataclass(frozen=True)
class Frozen:
    """What a head reaches on a representation that no longer moves."""

    risk: Risk
    """Of the head that all of the target's training examples give."""
    half: Risk
    """Of the head that half of them give."""


def frozen_risk(representation: nn.Module, target: Task, *, on_pass: OnPass = uncounted) -> Frozen:
    """L0*(φ): a head is fitted on the target's training examples, and measured on held-out ones.

    Args:
        representation: φ.
        target: With held-out examples.
        on_pass: Told of every pass; may raise to stop.

    Raises:
        DataError: The target has no held-out examples.
    """
    device = next(representation.parameters()).device
    # At random, since files are often sorted by their labels; the same half for every seed.
    order = stream(0, "distance", target.name, "head").permutation(len(target.train))
    parts = [
        gathered(
            representation,
            target.kind,
            target.train,
            device=device,
            positions=positions,
            on_pass=on_pass,
        )
        for positions in torch.from_numpy(order).tensor_split(2)
        if len(positions)
    ]
    unseen = gathered(representation, target.kind, held_out(target), device=device, on_pass=on_pass)
    whole = Items(
        torch.cat([part.vectors for part in parts]), torch.cat([part.labels for part in parts])
    )
    full = Probe.fitted(whole, on_pass=on_pass)
    classes = None if whole.is_regression else whole.classes
    half = Probe.fitted(parts[0], classes=classes, on_pass=on_pass)
    half = replace(half, variance=full.variance)  # both risks in the same units
    return Frozen(full.risk(unseen), half.risk(unseen))


def held_out(target: Task) -> Examples:
    """Its test examples, or its dev examples if it has no others.

    Raises:
        DataError: It has neither.
    """
    found = target.test or target.dev
    if found is None:
        raise DataError(f"The target {target.name!r} has neither dev nor test examples.")
    return found
