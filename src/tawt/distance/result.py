"""What was found out about the distance of sources from a target."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.distance.bound import ADVICE, OPEN, Rates, Terms, leading, mean_terms
from tawt.distance.estimates import ESTIMATES, as_distance
from tawt.distance.ranks import rank_correlation
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.distance.gains import Gain
    from tawt.distance.trained import Distance


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
    terms: list[Terms] = field(default_factory=list)
    """How large the bound's terms are for the uniform mixture (or the only source), measured for
    each seed."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Of the trained distances together, of the gains, and of each estimate."""

    @property
    def advice(self) -> str | None:
        """What would help most, if one thing stands out."""
        largest = leading(self.terms) if self.terms else None
        return None if largest is None else ADVICE[largest]

    def correlations(self) -> dict[str, float]:
        """Spearman's, of each estimate with the trained distance, over sources of all targets.

        An estimate that is a score is turned around, so that the best is the one nearest to 1.
        """
        return self._with(
            {
                target: {
                    name: float(np.mean(distance.clipped))
                    for name, distance in found.items()
                    if name not in self.mixtures
                }
                for target, found in self.trained.items()
            }
        )

    def correlations_with_gains(self) -> dict[str, float]:
        """The same with what sources lose the target, over its sources."""
        return self._with({self.target: {name: -gain.mean for name, gain in self.gains.items()}})

    def _with(self, true: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        found = {name: rank_correlation(self._as_distances(name), true) for name in ESTIMATES}
        return {name: value for name, value in found.items() if value is not None}

    def _as_distances(self, estimate: str) -> dict[str, dict[str, float]]:
        """What an estimate says, as a distance."""
        return {
            target: {
                name: as_distance(estimate, values[estimate])
                for name, values in found.items()
                if estimate in values
            }
            for target, found in self.estimates.items()
        }

    def as_json(self) -> dict[str, Any]:
        """Plain values, with means, intervals and verdicts."""
        return {
            **asdict(self),
            "trained": {
                target: {name: _distance_json(distance) for name, distance in found.items()}
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
            "terms": _terms(self.terms) if self.terms else None,
            "open_constants": OPEN,
            "correlations": self.correlations(),
            "correlations_with_gains": self.correlations_with_gains(),
        }


def _terms(terms: Sequence[Terms]) -> dict[str, Any]:
    largest = leading(terms)
    return {
        **asdict(mean_terms(terms)),
        "dominant": largest,
        "advice": None if largest is None else ADVICE[largest],
        "seeds": [asdict(each) for each in terms],
    }


def _distance_json(distance: Distance) -> dict[str, Any]:
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
