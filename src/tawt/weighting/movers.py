"""What moves weights: the gradient of an update, or the evidence of all updates so far."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from tawt.weighting.evidence import Evidence
from tawt.weighting.states import check_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tawt.hypergradient import Hypergradient
    from tawt.weighting.leads import LeadEstimates
    from tawt.weighting.stepping import Stepping

_DRAWS = 256
_LARGEST = 1e150  # alignment, whose square has digits to spare
_TAILS = (0.05, 0.95)
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
        watched: LeadEstimates | None,
    ) -> Tensor:
        """Logarithms of the weights after an update.

        Args:
            logs: Before it.
            measured: What it found.
            half: Which half of the target's examples it saw, if it saw one.
            watched: What training steps have shown, where the update goes by them.
        """

    def problem(self, measured: Hypergradient) -> str | None:
        """Why nothing can be said by this, if it cannot.

        Args:
            measured: What an update found, in finite numbers.
        """
        del measured
        return None

    def leads(self, watched: LeadEstimates | None) -> dict[int, float]:
        """By position, the mean lead of all updates so far, where weights go by it.

        Args:
            watched: As for `moved`.
        """
        del watched
        return {}

    def error(self, watched: LeadEstimates | None) -> float | None:
        """Standard error of a lead, where halves of the target's examples have shown it.

        Args:
            watched: As for `moved`.
        """
        del watched
        return None

    def intervals(self, watched: LeadEstimates | None) -> dict[int, tuple[float, float]]:
        """By position, where the weight of another run would lie, in nine of ten such runs.

        Other runs have other examples, of the target as of the sources. Where no halves of the
        target's examples were seen, that is not known.

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
        watched: LeadEstimates | None,
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
        watched: LeadEstimates | None,
    ) -> Tensor:
        """Where all evidence of the kind that the update goes by puts them."""
        if watched is None:
            found = measured.alignments[self.stepping.competing].double().numpy()
            self._evidence.take(found, half=half)
            if not self._evidence.is_known:
                return logs
        return self.stepping.placed(self._scores(watched))

    def problem(self, measured: Hypergradient) -> str | None:
        """Squares of what was measured must be numbers, of which sums can be taken."""
        largest = float(measured.alignments[self.stepping.competing].double().abs().max())
        if largest == 0 or 1 / _LARGEST < largest < _LARGEST:
            return None
        return f"alignments of {largest:.3g} are too large or too small to be compared"

    def leads(self, watched: LeadEstimates | None) -> dict[int, float]:
        """Of every source, over the mean of all."""
        found = self._evidence.leads.tolist() if watched is None else watched.leads
        return dict(zip(self._places, found, strict=True))

    def error(self, watched: LeadEstimates | None) -> float | None:
        """Of all sources together."""
        return self._evidence.error if self._is_sure(watched) else None

    def intervals(self, watched: LeadEstimates | None) -> dict[int, tuple[float, float]]:
        """Of weights that leads with other errors would give, all sources at once."""
        sources = len(self._places)
        if sources < 2 or not self._is_sure(watched):
            return {}
        noise = _normal(sources) * math.sqrt(_BOTH_RUNS * sources / (sources - 1))
        scores = self._scores(watched).double()
        drawn = scores.repeat(_DRAWS, 1)
        drawn[:, self.stepping.competing] += torch.as_tensor(noise)
        weights = self.stepping.placed_rows(drawn)[:, self._places].numpy()
        low, high = np.quantile(weights, _TAILS, axis=0).tolist()
        return {place: (low[at], high[at]) for at, place in enumerate(self._places)}

    def _is_sure(self, watched: LeadEstimates | None) -> bool:
        return watched is None and self._evidence.is_in_halves

    @property
    def _places(self) -> list[int]:
        found: list[int] = self.stepping.competing.nonzero().flatten().tolist()
        return found

    def state(self) -> dict[str, Any]:
        """The evidence."""
        return {"evidence": self._evidence.state_dict()}

    def restored(self, state: Mapping[str, Any]) -> Mover:
        """One with the evidence that was saved."""
        check_keys(state, ["evidence"])
        found = ByEvidence(self.stepping)
        found._evidence.load_state_dict(state["evidence"])
        return found

    def _scores(self, watched: LeadEstimates | None) -> Tensor:
        """Leads in units of their error, of units that compete; zero for others."""
        scores = torch.zeros_like(self.stepping.initial)
        found = self._evidence.scores().tolist() if watched is None else watched.scores
        scores[self.stepping.competing] = scores.new_tensor(found)
        return scores


@lru_cache(maxsize=4)
def _normal(sources: int) -> NDArray[np.float64]:
    """Draws of leads over the mean of all, always the same."""
    noise: NDArray[np.float64] = np.random.default_rng(0).normal(size=(_DRAWS, sources))
    noise -= noise.mean(1, keepdims=True)
    noise.setflags(write=False)
    return noise


def mover_for(stepping: Stepping) -> Mover:
    """The one that the rule names."""
    return ByEvidence(stepping) if stepping.rule.step == "evidence" else ByGradient(stepping)
