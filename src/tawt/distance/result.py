"""What was found out about the distance of sources from a target."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from tawt.distance.bound import OPEN, Rates, Terms
from tawt.distance.estimates import ESTIMATES, NEARER_IF_LARGER
from tawt.distance.trained import Distance, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.distance.gains import Gain


@dataclass(frozen=True, kw_only=True)
class TaskDistance:
    """Distances by definition and by estimates, gains, and the terms of the bound.

    Where nothing was trained, there are estimates alone.
    """

    target: str
    sources: list[str]
    seeds: list[int]
    mixtures: dict[str, dict[str, float]] = field(default_factory=dict)
    """ω of each mixture, averaged over seeds where it was learned."""
    trained: dict[str, dict[str, Distance]] = field(default_factory=dict)
    """By target, by source or mixture."""
    estimates: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    """By target, by source or mixture, by estimate."""
    gains: dict[str, Gain] = field(default_factory=dict)
    """By source: in the target's score."""
    metric: str | None = None
    """Which score gains are in."""
    rates: dict[str, Rates] = field(default_factory=dict)
    """Of the bound, by mixture."""
    terms: Terms | None = None
    """How large the bound's terms are for the uniform mixture, measured."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Of the trained distances together, of the gains, and of each estimate."""

    def correlations(self, *, gains: bool = False) -> dict[str, float]:
        """Spearman's, of each estimate with the trained distance, over pairs of tasks.

        An estimate that is a score is turned around, so that all are better nearer to one. Of
        several targets the ranks are taken within each, since their risks have different scales.

        Args:
            gains: With gains instead, of the one target; turned around too.
        """
        found = {}
        for name in ESTIMATES:
            pairs = self._gain_pairs(name) if gains else self._pairs(name)
            told, true = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            if min(len(set(told)), len(set(true))) > 1 and len(pairs) > 2:
                found[name] = float(stats.spearmanr(told, true).statistic)
        return found

    def _pairs(self, estimate: str) -> list[tuple[float, float]]:
        pairs: list[tuple[float, float]] = []
        for target, distances in self.trained.items():
            known = self.estimates.get(target, {})
            both = [s for s in distances if estimate in known.get(s, {}) and s not in self.mixtures]
            if not both:
                continue
            told = _ranks([_as_distance(estimate, known[name][estimate]) for name in both])
            true = _ranks([float(np.mean(distances[name].clipped)) for name in both])
            pairs += zip(told, true, strict=True)
        return pairs

    def _gain_pairs(self, estimate: str) -> list[tuple[float, float]]:
        known = self.estimates.get(self.target, {})
        both = [name for name in self.gains if estimate in known.get(name, {})]
        return [
            (_as_distance(estimate, known[name][estimate]), -self.gains[name].mean) for name in both
        ]

    def as_json(self) -> dict[str, Any]:
        """Plain values, with means, intervals and verdicts."""
        return {
            **asdict(self),
            "trained": {
                target: {name: _told(distance) for name, distance in found.items()}
                for target, found in self.trained.items()
            },
            "gains": {
                name: {
                    **asdict(gain),
                    "mean": gain.mean,
                    "verdict": gain.verdict,
                    "recommendation": gain.recommendation,
                }
                for name, gain in self.gains.items()
            },
            "terms": None if self.terms is None else _terms(self.terms),
            "open_constants": OPEN,
            "correlations": self.correlations(),
        }


def _terms(terms: Terms) -> dict[str, Any]:
    return {**asdict(terms), "dominant": terms.dominant, "advice": terms.advice}


def _told(distance: Distance) -> dict[str, Any]:
    by_loss: dict[str, Any] = {}
    for loss in ("zero_one", "clipped"):
        values = getattr(distance, loss)
        if values:
            by_loss[loss] = {
                "mean": float(np.mean(values)),
                "interval": interval(values),
                "seeds": values,
            }
    return {
        **by_loss,
        "risks": [asdict(risk) for risk in distance.risks],
        "best": [asdict(risk) for risk in distance.best],
    }


def _as_distance(estimate: str, value: float) -> float:
    return -value if estimate in NEARER_IF_LARGER else value


def _ranks(values: Sequence[float]) -> list[float]:
    """From 0 to 1.

    Example:
        >>> _ranks([3.0, 9.0, 5.0])
        [0.0, 1.0, 0.5]
    """
    if len(values) == 1:
        return [0.5]
    ranked = stats.rankdata(values)
    return [float(rank - 1) / (len(values) - 1) for rank in ranked]
