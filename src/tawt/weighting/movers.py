"""What moves weights: the gradient of an update, or the evidence of all updates so far."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tawt.weighting.evidence import Evidence
from tawt.weighting.states import check_keys

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.hypergradient import Hypergradient
    from tawt.weighting.stepping import Stepping

_NINE_OF_TEN = 1.645  # standard errors to either side


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
        step: int,
        half: int | None,
        watched: Sequence[float] | None,
    ) -> Tensor:
        """Logarithms of the weights after an update.

        Args:
            logs: Before it.
            measured: What it found.
            step: How far training is.
            half: Which half of the target's examples it saw, if it saw one.
            watched: Leads in units of their errors, where training steps have shown them.
        """

    @property
    def error(self) -> float | None:
        """Standard error of a lead, where weights go by it."""
        return None

    def intervals(self, watched: Sequence[float] | None) -> dict[int, tuple[float, float]]:
        """By position, where a weight would lie in nine of ten runs with other examples.

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
        step: int,
        half: int | None,
        watched: Sequence[float] | None,
    ) -> Tensor:
        """A step along the gradient."""
        del step, half, watched
        return self.stepping.moved(logs, measured.values)


class ByEvidence(Mover):
    """By the probability that a source leads, as all updates have shown it.

    Args:
        stepping: How weights move, inside their bounds.
    """

    def __init__(self, stepping: Stepping) -> None:
        super().__init__(stepping)
        size = 1.0 if stepping.rule.alignment.needs_norms else None
        self._evidence = Evidence(int(stepping.competing.sum()), size=size)

    def moved(
        self,
        logs: Tensor,
        measured: Hypergradient,
        *,
        step: int,
        half: int | None,
        watched: Sequence[float] | None,
    ) -> Tensor:
        """Where all evidence puts them, wherever they were."""
        del logs
        if watched is None:
            found = measured.alignments[self.stepping.competing].double().numpy()
            self._evidence.take(found, step=step, half=half)
        return self.stepping.placed(self._scores(watched))

    @property
    def error(self) -> float | None:
        """Of all sources together."""
        return self._evidence.error

    def intervals(self, watched: Sequence[float] | None) -> dict[int, tuple[float, float]]:
        """Those that a weight's own score would give, were it less or more."""
        scores, ends = self._scores(watched), {}
        for place in self.stepping.competing.nonzero().flatten().tolist():
            off = torch.zeros_like(scores)
            off[place] = _NINE_OF_TEN
            low, high = (self.stepping.placed(scores + sign * off)[place].exp() for sign in (-1, 1))
            ends[place] = float(low), float(high)
        return ends

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
