"""What moves weights: the gradient of an update, or the evidence of all updates so far."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from tawt.weighting.evidence import Evidence
from tawt.weighting.states import check_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.hypergradient import Hypergradient
    from tawt.weighting.stepping import Stepping

_DRAWS = 256
_TAILS = torch.tensor([0.05, 0.95], dtype=torch.float64)
_BOTH_RUNS = 2.0  # variances: another run is as far off as this one


class Mover(ABC):
    """Takes what updates have measured, and says where the weights go.

    Args:
        stepping: How weights move, inside their bounds.
    """

    def __init__(self, stepping: Stepping) -> None:
        self.stepping = stepping

    @abstractmethod
    def moved(
        self,
        logs: Tensor,
        measured: Hypergradient,
        *,
        half: int | None,
        watched: Sequence[float] | None,
    ) -> Tensor:
        """Logarithms of the weights after an update.

        Args:
            logs: Before it.
            measured: What it found.
            half: Which half of the target's examples it saw, if it saw one.
            watched: Leads in units of their errors, where training steps have shown them.
        """

    @property
    def error(self) -> float | None:
        """Standard error of a lead, where weights go by it."""
        return None

    @property
    def leads(self) -> dict[int, float]:
        """By position, the mean lead of all updates so far, where weights go by it."""
        return {}

    def intervals(self, watched: Sequence[float] | None) -> dict[int, tuple[float, float]]:
        """By position, where the weight of another run would lie, in nine of ten such runs.

        Other runs have other examples, of the target as of the sources.

        Args:
            watched: As for `moved`.
        """
        del watched
        return {}

    def state(self) -> dict[str, Any]:
        """What is to be saved, by its key in the state of a weighting."""
        return {}

    def restored(self, state: Mapping[str, Any]) -> Mover:
        """One that goes on from a saved state.

        Raises:
            WeightsError: It has no such state.
        """
        del state
        return self


class ByGradient(Mover):
    """By mirror descent: each update adds to those before."""

    def moved(
        self,
        logs: Tensor,
        measured: Hypergradient,
        *,
        half: int | None,
        watched: Sequence[float] | None,
    ) -> Tensor:
        """A step along the gradient."""
        del half, watched
        return self.stepping.moved(logs, measured.values)


class ByEvidence(Mover):
    """By the probability that a source leads, as all updates have shown it.

    Args:
        stepping: How weights move, inside their bounds.
    """

    def __init__(self, stepping: Stepping) -> None:
        super().__init__(stepping)
        self._evidence = Evidence(int(stepping.competing.sum()))

    def moved(
        self,
        logs: Tensor,
        measured: Hypergradient,
        *,
        half: int | None,
        watched: Sequence[float] | None,
    ) -> Tensor:
        """Where all evidence puts them, wherever they were."""
        del logs
        if watched is None:
            found = measured.alignments[self.stepping.competing].double().numpy()
            self._evidence.take(found, half=half)
        return self.stepping.placed(self._scores(watched))

    @property
    def error(self) -> float | None:
        """Of all sources together."""
        return self._evidence.error

    @property
    def leads(self) -> dict[int, float]:
        """Of every source, over the mean of all."""
        places = self.stepping.competing.nonzero().flatten().tolist()
        return dict(zip(places, self._evidence.leads.tolist(), strict=True))

    def intervals(self, watched: Sequence[float] | None) -> dict[int, tuple[float, float]]:
        """Of weights that leads with other errors would give, all sources at once."""
        competing = self.stepping.competing
        sources = int(competing.sum())
        known = watched is not None or math.isfinite(self._evidence.error)
        if sources < 2 or not known:
            return {}
        scores = self._scores(watched)
        noise = np.random.default_rng(0).normal(size=(_DRAWS, sources))
        noise -= noise.mean(1, keepdims=True)  # leads are over the mean of all
        noise *= math.sqrt(_BOTH_RUNS * sources / (sources - 1))
        drawn = scores.repeat(_DRAWS, 1)
        drawn[:, competing] += torch.as_tensor(noise).to(scores)
        weights = self.stepping.placed(drawn).double().exp()
        low, high = torch.quantile(weights, _TAILS, dim=0).tolist()
        places = competing.nonzero().flatten().tolist()
        return {place: (low[place], high[place]) for place in places}

    def state(self) -> dict[str, Any]:
        """The evidence."""
        return {"evidence": self._evidence.state_dict()}

    def restored(self, state: Mapping[str, Any]) -> Mover:
        """One with the evidence that was saved."""
        check_keys(state, ["evidence"])
        found = ByEvidence(self.stepping)
        found._evidence.load_state_dict(state["evidence"])
        return found

    def _scores(self, watched: Sequence[float] | None) -> Tensor:
        """Leads in units of their error, of units that compete; zero for others."""
        competing, initial = self.stepping.competing, self.stepping.initial
        scores = torch.zeros_like(initial)
        if watched is None:
            scores[competing] = torch.as_tensor(self._evidence.scores()).to(scores)
        else:
            scores[competing] = scores.new_tensor(watched)[competing]
        return scores


def mover_for(stepping: Stepping) -> Mover:
    """The one that the rule names."""
    return ByEvidence(stepping) if stepping.rule.step == "evidence" else ByGradient(stepping)
