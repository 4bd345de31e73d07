"""⟨v, ∇ℓ_i⟩ by central differences: two forward passes, and any operator will do.

    ⟨v, ∇ℓ_i(θ)⟩ ≈ (ℓ_i(θ + εv) − ℓ_i(θ − εv)) / 2ε

The step size ε is found on the first batch of every task (`step_search`).
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tawt.gradients import squared_norm, width
from tawt.per_example.conditions import at_rest, full_float32
from tawt.per_example.known_error import KnownError
from tawt.per_example.step_search import APART, StepSearch, quotient, wanted_change
from tawt.per_example.swapping import Swap, run_with, wide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.per_example.losses import Losses

_log = logging.getLogger(__name__)

_DOUBTFUL = 2e-2
_ADVICE = "Are losses near zero, the same at every call, and without autocast inside?"


class Differences:
    """Two forward passes a batch; on the first of a task a few more, to find the step size.

    One copy of the parameters is held, from the first batch on.

    Args:
        module: All that losses run.
        moves: Parameters, and the direction at each.

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> products = Differences(layer, [(layer.weight, torch.tensor([[1.0, -1.0]]))])
        >>> found = products(lambda: layer(torch.tensor([[5.0, 2.0], [0.0, 1.0]])).squeeze(1))
        >>> [round(float(product), 3) for product in found], products.relative_error < 1e-3
        ([3.0, -1.0], True)
    """

    def __init__(self, module: nn.Module, moves: Sequence[Swap]) -> None:
        self._module = module
        self._moves = moves
        self._room: list[Tensor] | None = None
        self._step: float | None = None
        self._near: float | None = None
        self._error = KnownError(doubtful=_DOUBTFUL, advice=_ADVICE)

    @property
    def relative_error(self) -> float | None:
        """As far as first batches have shown it; one whose losses do not move shows nothing."""
        return self._error.largest

    def __call__(self, losses: Losses) -> Tensor:
        """The products, shape `(examples,)`."""
        if self._step is None:
            return self._chosen(losses)
        return self._quotient(losses, self._step)

    def look_again(self) -> None:
        """Examples of another task follow: find the step size anew, beginning with this one."""
        self._near, self._step = self._step or self._near, None

    def _quotient(self, losses: Losses, step: float) -> Tensor:
        return quotient(*self._both(losses, step), step)

    def _both(self, losses: Losses, step: float) -> tuple[Tensor, Tensor]:
        """Losses at θ + step · v and at θ − step · v, with the same noise if there is any."""
        with torch.no_grad(), at_rest(self._module) as again, full_float32():
            # A clone, since losses may be a view of what the next run writes over.
            above = run_with(self._module, self._moved(step), losses).clone()
            again()
            return above, run_with(self._module, self._moved(-step), losses)

    def _moved(self, step: float) -> list[Swap]:
        """θ + step · v, always in the same memory: new pages would cost more than the sum."""
        if self._room is None:
            self._room = [torch.empty_like(wide(own)) for own, _ in self._moves]
        for room, (own, entry) in zip(self._room, self._moves, strict=True):
            torch.add(wide(own), entry.to(room), alpha=step, out=room)
        return [(own, room) for room, (own, _) in zip(self._room, self._moves, strict=True)]

    def _chosen(self, losses: Losses) -> Tensor:
        """A first batch's products, at the step size that it shows to be best."""
        precision = torch.finfo(width(self._moves[0][0])).eps
        first, most = _first_sizes(self._moves, precision, near=self._near)
        search = StepSearch(partial(self._both, losses), precision=precision, most=most)
        found = search(first)
        if found.step is None:
            _log.info("The losses of a batch do not move along the direction: products of 0.")
            return found.quotients  # the next batch may show more
        self._error.add(found.error, how=f"by differences: step {found.step:.3g}")
        self._step = found.step
        return found.quotients


def _first_sizes(
    moves: Sequence[Swap], precision: float, *, near: float | None
) -> tuple[float, float]:
    """ε to begin with, and the largest; losses should change by `wanted_change`.

    The direction is mostly a gradient, along which losses near one rise by about its squared norm.
    The largest moves the parameters by that share of their own norm, twice. Of a pair of step sizes
    the smaller is used: one that was good before is begun with as the smaller.
    """
    start = float(squared_norm([own for own, _ in moves]).sqrt())
    along = float(squared_norm([entry for _, entry in moves]).sqrt()) or 1.0
    share = wanted_change(precision)
    most = 2 * share * (start or 1.0) / along
    return min(most, share / along**2 if near is None else APART * near), most
