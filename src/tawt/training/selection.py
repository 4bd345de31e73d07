"""Keeping the best model by its dev score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor, nn


def copied(model: nn.Module) -> dict[str, Tensor]:
    """Its parameters and buffers, in the host's memory."""
    state = model.state_dict()
    return {name: value.detach().to("cpu", copy=True) for name, value in state.items()}


class Selection:
    """The best score so far and, if it is to be kept, the model that had it.

    Example:
        >>> selection = Selection()
        >>> for epoch, score in enumerate([0.5, 0.7, 0.6, 0.65]):
        ...     selection.offer(score, epoch, None)
        >>> selection.epoch, selection.stale(2), selection.stale(None)
        (1, True, False)
    """

    def __init__(self) -> None:
        self.score = -math.inf
        self.epoch: int | None = None
        self._last: int | None = None
        self._parameters: dict[str, Tensor] | None = None

    def offer(self, score: float, epoch: int, model: nn.Module | None) -> None:
        """Keep this epoch if it is better than any before; the first of equals wins."""
        self._last = epoch
        score = -math.inf if math.isnan(score) else score
        if not score > self.score and self.epoch is not None:
            return
        self.score, self.epoch = score, epoch
        if model is not None:
            self._parameters = copied(model)

    @property
    def kept(self) -> int | None:
        """The epoch whose model is kept: the best, or the last where none was put aside."""
        return self._last if self._parameters is None else self.epoch

    @property
    def is_put_back(self) -> bool:
        """Whether that is not the last epoch."""
        return self._parameters is not None and self.epoch != self._last

    def stale(self, patience: int | None) -> bool:
        """Whether `patience` epochs have passed without a better score."""
        if patience is None or self.epoch is None or self._last is None:
            return False
        return self._last - self.epoch >= patience

    def restore(self, model: nn.Module) -> None:
        """Put the kept parameters back into the model, if any were kept."""
        if self._parameters is not None:
            model.load_state_dict(self._parameters)

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {
            "score": self.score if math.isfinite(self.score) else None,
            "epoch": self.epoch,
            "last": self._last,
            "parameters": self._parameters,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """Inverse of `state_dict`."""
        made = cls()
        made.score = -math.inf if state["score"] is None else state["score"]
        made.epoch, made._last = state["epoch"], state["last"]
        made._parameters = state["parameters"]
        return made
