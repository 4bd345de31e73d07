"""⟨v, ∇ℓ_i⟩ by central differences: two forward passes, and any operator will do.

    ⟨v, ∇ℓ_i(θ)⟩ ≈ (ℓ_i(θ + εv) − ℓ_i(θ − εv)) / 2ε

Too large an ε bends or goes over kinks, too small a one drowns in rounding. The first batch tells:
the quotients at ε and at 8ε would be the same if none of it mattered, so how far they are apart
says how far off they are (Richardson), and ε is moved to where that is least; so for every task's
first batch. Eight, not two: few losses have a kink within a small ε, and the error that kinks make
falls with its root alone, so a few examples show them only at a much larger step than is used.
"""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from tawt.gradients import squared_norm, width
from tawt.per_example.conditions import at_rest, full_float32
from tawt.per_example.swapping import Swap, run_with, wide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.per_example.losses import Losses

_log = logging.getLogger(__name__)

_TRIES = 6
_APART = 8.0  # the step size in use and the one it is compared with; and from try to try
_NEAR = 0.01  # of the change that is wanted: one that drowns in rounding
_FAR = 0.1  # of the losses: a change that is no longer to be taken for a straight line
_FAIR = 5e-3  # of the products' norm: what losses with kinks allow in float32
_DOUBTFUL = 2e-2  # a warning above


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
        self.relative_error: float | None = None
        """Of the products of a task's first batch, by their norm: the largest, if there were any.

        A batch whose losses do not move shows nothing, and the next is looked at instead.
        """

    def __call__(self, losses: Losses) -> Tensor:
        """The products, shape `(examples,)`."""
        if self._step is None:
            return self._chosen(losses)
        return self._quotient(losses, self._step)

    def look_again(self) -> None:
        """Examples of another task follow: find the step size anew, beginning with this one."""
        self._near, self._step = self._step or self._near, None

    def _quotient(self, losses: Losses, step: float) -> Tensor:
        return _over(*self._both(losses, step), step)

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
        size, most = _first_sizes(self._moves, precision, near=self._near)
        begun = size
        wanted = math.cbrt(precision)
        quotients: dict[float, Tensor] = {}
        errors: dict[float, float] = {}  # of the pairs, by their larger step size
        slope = 0.0  # by which share of themselves losses change, by step size
        for _ in range(_TRIES):
            if size not in quotients:
                above, below = self._both(losses, size)
                if torch.equal(above, below) and size >= most:
                    _log.info("The losses of a batch do not move along the direction: 0 each.")
                    return torch.zeros_like(_over(above, below, size))  # the next may show more
                change = _change(above, below)
                if not errors and change < _NEAR * wanted and size < most:
                    size = min(most, size * wanted / max(change, precision))
                    continue
                if change > _FAR:
                    errors[size] = math.inf
                    alone = all(map(math.isinf, errors.values()))
                    nearer = max(wanted / change, _APART**-2)
                    size = size * nearer if alone else _next_size(errors)
                    continue
                quotients[size] = _over(above, below, size)
                slope = slope or change / size
            fine = size / _APART
            if fine not in quotients:
                quotients[fine] = self._quotient(losses, fine)
            # Few examples may agree by luck, but no loss is known beyond its last digit.
            rounding = precision / (slope * fine) if slope else math.inf
            moved = bool(quotients[fine].any())  # two quotients of zero agree, and say nothing
            apart = _ratio(quotients[size] - quotients[fine], quotients[fine])
            errors[size] = max(apart, rounding) if moved else math.inf
            if _is_enough(errors, good=5 * math.sqrt(precision)):
                break
            size = _next_size(errors)
        return self._settled(losses, begun, errors, quotients)

    def _settled(
        self,
        losses: Losses,
        begun: float,
        errors: Mapping[float, float],
        quotients: Mapping[float, Tensor],
    ) -> Tensor:
        """Keep the best of what was tried, or else what was begun with; the products there."""
        least = min(errors.values(), default=math.inf)
        if math.isfinite(least):
            self._step = min(errors, key=lambda tried: errors[tried]) / _APART
        else:
            self._step = begun
        # Twice, for a small batch does not show all.
        error = 2 * least
        _tell(self._step, error)
        self.relative_error = max(error, self.relative_error or 0.0)
        found = quotients.get(self._step)
        return self._quotient(losses, self._step) if found is None else found


def _tell(step: float | None, error: float) -> None:
    said = f"Products by differences: step {step:.3g}, relative error about {error:.1e}"
    if error <= _DOUBTFUL:
        _log.info("%s.", said)
    else:
        _log.warning(
            "%s; they are hardly to be trusted. Are losses near zero, the same at every call, and "
            "without autocast inside?",
            said,
        )


def _first_sizes(
    moves: Sequence[Swap], precision: float, *, near: float | None
) -> tuple[float, float]:
    """ε to begin with, and the largest; losses should change by the precision's cube root.

    The direction is mostly a gradient, along which losses near one rise by about its squared norm.
    The largest moves the parameters by that share of their own norm, twice. Of a pair of step sizes
    the smaller is used: one that was good before is begun with as the smaller.
    """
    start = float(squared_norm([own for own, _ in moves]).sqrt())
    along = float(squared_norm([entry for _, entry in moves]).sqrt()) or 1.0
    share = math.cbrt(precision)
    most = 2 * share * (start or 1.0) / along
    return min(most, share / along**2 if near is None else _APART * near), most


def _change(above: Tensor, below: Tensor) -> float:
    """By which share of themselves losses change between the two."""
    high, low = above.double(), below.double()
    return _ratio(high - low, (high + low) / 2)


def _over(above: Tensor, below: Tensor, step: float) -> Tensor:
    # No float64: the difference of two numbers that are close to each other is exact.
    return (above.to(width(above)) - below) / (2 * step)


def _ratio(part: Tensor, whole: Tensor) -> float:
    """‖part‖ over ‖whole‖; infinite where that is no number.

    Example:
        >>> _ratio(torch.tensor([3.0, 4.0]), torch.ones(1)), _ratio(torch.ones(1), torch.zeros(1))
        (5.0, inf)
    """
    over, under = (float(torch.linalg.vector_norm(values.double())) for values in (part, whole))
    if over == 0:
        return 0.0
    return over / under if under > 0 and math.isfinite(over / under) else math.inf


def _is_enough(errors: Mapping[float, float], *, good: float) -> bool:
    """Whether the best is good, or fair and no longer an end of what was tried."""
    sizes = sorted(errors, key=lambda size: errors[size])
    least = errors[sizes[0]]
    inside = min(errors) < sizes[0] < max(errors)
    return least <= good or (inside and least <= _FAIR)


def _next_size(errors: Mapping[float, float]) -> float:
    """Beyond the best if it is an end, else between it and the better of its neighbours.

    Example:
        >>> _next_size({8.0: 0.3, 1.0: 0.2}), _next_size({8.0: 0.1, 1.0: 0.2})
        (0.125, 64.0)
        >>> _next_size({16.0: 0.3, 4.0: 0.1, 1.0: 0.2})
        2.0
    """
    sizes = sorted(errors)
    best = min(sizes, key=lambda size: (errors[size], size))
    if best == sizes[0]:
        return best / _APART
    if best == sizes[-1]:
        return best * _APART
    place = sizes.index(best)
    neighbour = min(sizes[place - 1], sizes[place + 1], key=lambda size: errors[size])
    return math.sqrt(best * neighbour)
