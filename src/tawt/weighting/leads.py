"""How far each source is ahead of the others, from gradients that were seen one at a time.

Cosines that training steps show are not taken at one moment: the model moves on between two of
them, and the target's direction grows old. What all sources share of that is a level, which
wanders; what is left is a source's lead over the others:

    y_s = level_s + Σ_t share_t lead_t + noise,    level_s = level_{s−1} + a step of its own

This is a Kalman filter of that model. Its posterior shrinks the leads of sources that were seldom
seen towards zero, so that evidence decides how fast weights move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_LEAD = 0.1**2  # prior variance of a lead: cosines of most tasks differ by about a tenth
_WANDER = 0.03**2  # variance by which the level moves from one step to the next
_JUMP = 0.2**2  # and when the direction is taken anew
_NOISE = (0.3**2, 10.0)  # variance of an observation, and how many that guess is worth
_QUIETEST = 0.01**2  # no observation is more exact than this
_MEMORY = 200.0  # observations after which the guess of the noise forgets


@dataclass(frozen=True)
class LeadEstimates:
    """What training steps have shown of the sources that compete, in their order."""

    leads: list[float]
    """Of each over the mean of all."""
    scores: list[float]
    """The same in units of their error."""


class Leads:
    """The posterior of every source's lead.

    Args:
        names: Of the sources.

    Example:
        >>> leads = Leads(["near", "far"])
        >>> for _ in range(50):
        ...     leads.see({"near": 1.0}, 0.6)
        ...     leads.see({"far": 1.0}, 0.2)
        >>> found = leads.means()
        >>> round(found["near"] - found["far"], 1)
        0.4
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        count = len(self.names)
        self._places = {name: place for place, name in enumerate(self.names)}
        # The level is the last entry; nothing is known about it but that it is a cosine.
        self._mean = np.zeros(count + 1)
        self._covariance = np.diag([*[_LEAD] * count, 1.0])
        self._noise, self._noise_count = _NOISE

    def see(
        self, shares: Mapping[str, float], cosine: float, *, new_direction: bool = False
    ) -> None:
        """Take in the cosine of one step.

        Args:
            shares: What each source had of the step's gradient; they sum to one.
            cosine: Of that gradient with the target's direction.
            new_direction: Whether the direction was taken anew since the last step.
        """
        self._covariance[-1, -1] += _WANDER + (_JUMP if new_direction else 0.0)
        # Sums in an order of our own: a library's would round by where the numbers lie in memory.
        column, expected = self._covariance[:, -1].copy(), float(self._mean[-1])
        for name, share in shares.items():
            place = self._places[name]
            column += share * self._covariance[:, place]
            expected += share * float(self._mean[place])
        known = float(column[-1]) + sum(
            share * float(column[self._places[name]]) for name, share in shares.items()
        )
        off = cosine - expected
        self._hear_noise(off * off - known)
        gain = column / (known + self._noise)
        self._mean += gain * off
        self._covariance -= np.outer(gain, column)

    def _hear_noise(self, variance: float) -> None:
        """E off² is the variance of what was expected plus that of the noise."""
        total = self._noise * self._noise_count + max(variance, 0.0)
        self._noise = max(total / (self._noise_count + 1), _QUIETEST)
        self._noise_count = min(self._noise_count + 1, _MEMORY)

    @property
    def level(self) -> float:
        """What the sources have in common now."""
        return float(self._mean[-1])

    def means(self) -> dict[str, float]:
        """Posterior mean of each source's lead over the mean of all."""
        leads = self._mean[:-1] - self._mean[:-1].mean()
        return dict(zip(self.names, leads.tolist(), strict=True))

    def errors(self) -> dict[str, float]:
        """Posterior standard deviation of each source's lead over the mean of all."""
        errors = np.sqrt(self._variances(range(len(self.names))))
        return dict(zip(self.names, errors.tolist(), strict=True))

    def among(self, names: Sequence[str]) -> LeadEstimates:
        """What is known of these sources beside each other.

        Steps see few examples of the target, again and again, and which those are is not known. So
        however many steps there were, the error is never below the size of the leads themselves, as
        if all of these were chance.

        Args:
            names: Of those that compete.
        """
        places = [self._places[name] for name in names]
        leads = self._mean[places] - self._mean[places].mean()
        square = max(float(self._variances(places).mean()), float(np.square(leads).mean()))
        error = math.sqrt(square * len(places) / max(1, len(places) - 1))
        scores = leads / error if error else np.zeros(len(places))
        return LeadEstimates(leads.tolist(), scores.tolist())

    def _variances(self, places: Sequence[int]) -> NDArray[np.float64]:
        """Of the leads of these sources over their mean."""
        centred = np.eye(len(places)) - 1.0 / len(places)
        inside = centred @ self._covariance[np.ix_(places, places)] @ centred
        variances: NDArray[np.float64] = inside.diagonal().clip(min=0.0)
        return variances

    def state_dict(self) -> dict[str, Any]:
        """All of it, as plain values."""
        return {
            "mean": self._mean.tolist(),
            "covariance": self._covariance.tolist(),
            "noise": [self._noise, self._noise_count],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly from a saved state, which is copied."""
        self._mean = np.array(state["mean"], dtype=np.float64).reshape(self._mean.shape)
        covariance = np.array(state["covariance"], dtype=np.float64)
        self._covariance = covariance.reshape(self._covariance.shape)
        self._noise, self._noise_count = map(float, state["noise"])
