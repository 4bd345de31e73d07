"""H = Σ ω_t ∇²L_t over the examples of several processes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from tawt.curvature import WeightedHessian
from tawt.given import counted_loss
from tawt.hypergradient.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tawt.curvature.base import Vector
    from tawt.ranks import Buckets, Ranks


class TogetherHessian(WeightedHessian):
    """The Hessian of several processes' losses; each product is added up over them.

    Solvers then take the same steps in all of them.

    Args:
        parameters: What H is the second derivative by.
        weights: ω_t by name.
        loss_of: A task's loss in this process, or a pair of it and its number of examples.
        buckets: How products travel.
        ranks: The processes.
    """

    def __init__(
        self,
        parameters: Sequence[Tensor],
        weights: Mapping[str, float],
        loss_of: Callable[[str], object],
        buckets: Buckets,
        ranks: Ranks,
    ) -> None:
        super().__init__(parameters, weights, loss_of)
        self._buckets = buckets
        self._ranks = ranks
        self._total: Tensor | None = None

    def product(self, vector: Vector) -> Vector:
        """H · vector, of all processes."""
        if self._total is None:
            self._total = self._weighed()
        nothing = self.filled([None] * len(self.parameters))
        own = self._ranks.attempt(lambda: super(TogetherHessian, self).product(vector), nothing)
        return self.filled(self._buckets.total(list(own)))

    def _objective(self) -> Tensor:
        """Σ ω_t n_r/n L_t, this process's part of the objective."""
        assert self._total is not None
        return self._total

    def _counted(self, task: str) -> tuple[Tensor, float | None]:
        return counted_loss(self._loss_of(task), task=task)

    def _weighed(self) -> Tensor:
        tally = Tally(self._ranks)
        total = torch.zeros(())
        parts: list[tuple[float, Tensor]] = []
        for name, weight in self._weights.items():
            nothing: tuple[Tensor, float | None] = total, 0.0
            loss, count = self._ranks.attempt(partial(self._counted, name), nothing)
            parts.append((weight * tally.add(name, count, reached=1), loss))
        _, counts = tally.exchanged(torch.zeros(0, dtype=torch.float64), [])
        terms = [w / n * loss for (w, loss), n in zip(parts, counts.tolist(), strict=True) if w]
        return torch.stack(terms).sum() if terms else total
