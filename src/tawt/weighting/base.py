"""What a training loop may ask of a weighting, whichever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from tawt.errors import WeightsError, suggestion
from tawt.weights import SourceWeights, WeightUpdate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from torch.optim import Optimizer

    from tawt.hypergradient import LossOf
    from tawt.unit_weights import UnitWeights


class Weighting(ABC):
    """Weights on the sources, and the rule by which they move.

    Attributes:
        weights: The current weights, of tasks or of finer units.
        history: Every update so far, in order.
        target: The convex combination of targets, or none where nothing is learned.
    """

    weights: SourceWeights | UnitWeights
    history: list[WeightUpdate]
    target: dict[str, float]

    def combine(self, losses: Mapping[str, Tensor]) -> Tensor:
        """Σ ω_t L_t over the losses given, graph attached.

        Args:
            losses: Mean loss of each task on its batch. Tasks may be left out, as when a step
                trains on some of them only; a name without a weight is refused.
        """
        if not losses:
            raise WeightsError("`combine` needs at least one task's loss; got none.")
        shares = self.weights.shares()
        for name in losses:
            if name not in shares:
                raise WeightsError(f"{name!r} has a loss but no weight; {suggestion(name, shares)}")
        return torch.stack([shares[name] * loss for name, loss in losses.items()]).sum()

    @property
    def skipped(self) -> int:
        """How many updates were skipped because a number in them was not finite."""
        return sum(update.skipped is not None for update in self.history)

    @property
    def asked_twice(self) -> frozenset[str]:
        """Tasks that an update asks for twice, wanting other examples the second time."""
        return frozenset()

    def follow(self, optimiser: Optimizer) -> None:  # noqa: B027 - most have no use for it
        """Hear which optimiser trains the representation, for a curvature that uses its state."""

    @abstractmethod
    def update(
        self,
        representation: nn.Module | Iterable[Tensor],
        *,
        loss_of: LossOf,
        step: int | None = None,
        touching: Iterable[nn.Module] = (),
    ) -> WeightUpdate | None:
        """Move the weights, if they move at all, and say what happened."""

    def state_dict(self) -> dict[str, Any]:
        """The weights and their history; the rest is the constructor's."""
        return {
            "names": list(self.weights.names),
            "logs": self.weights.logs.clone(),
            "history": [update.to_json() for update in self.history],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly from a saved state."""
        if tuple(state["names"]) != self.weights.names:
            raise WeightsError(
                f"The saved weights are for {', '.join(state['names'])}; these are for "
                f"{', '.join(self.weights.names)}. Build the weighting with the same tasks."
            )
        self.weights = self.weights.restored(torch.as_tensor(state["logs"]))
        self.history = [WeightUpdate.from_json(update) for update in state["history"]]
