"""⟨v, ∇ℓ_i⟩ by forward-mode differentiation: from one pass that carries a tangent."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor, nn
from torch.autograd import forward_ad

from tawt.per_example.conditions import at_rest, plain_operators
from tawt.per_example.hidden import NothingHidden
from tawt.per_example.lean_linear import lean_linear
from tawt.per_example.swapping import Swap, run_with, wide

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from tawt.per_example.losses import Losses
    from tawt.per_example.replacing import Replacements

LEAN: Replacements = {F.linear: lean_linear}
"""What every pass that carries tangents runs in the place of torch's own."""


class ForwardMode:
    """Exact, where every operator that is run can be differentiated forwards.

    Args:
        module: All that losses run.
        moves: Parameters, and the direction at each.

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> products = ForwardMode(layer, [(layer.weight, torch.tensor([[1.0, -1.0]]))])
        >>> products(lambda: layer(torch.tensor([[5.0, 2.0], [0.0, 1.0]])).squeeze(1))
        tensor([ 3., -1.])
    """

    relative_error: float | None = None

    def __init__(self, module: nn.Module, moves: Sequence[Swap]) -> None:
        self._module = module
        self._moves = moves

    def __call__(self, losses: Losses) -> Tensor:
        """The products, shape `(examples,)`."""
        return loss_tangents(self._module, self._moves, losses, around=nullcontext(), instead=LEAN)

    def look_again(self) -> None:
        """Examples of another task follow, which is all the same here."""


def loss_tangents(
    module: nn.Module,
    moves: Sequence[Swap],
    losses: Losses,
    *,
    around: AbstractContextManager[None],
    instead: Replacements,
) -> Tensor:
    """The losses' tangents, from one pass that carries one beside each value.

    Args:
        module: All that losses run.
        moves: Parameters, and the direction at each.
        losses: Of one batch.
        around: What the pass is run in.
        instead: What it runs in the place of torch's functions.
    """
    _load_formulas()
    owns = [parameter for parameter, _ in moves]
    points = [wide(parameter) for parameter in owns]
    tangents = [entry.to(point) for point, (_, entry) in zip(points, moves, strict=True)]
    with (
        torch.no_grad(),
        at_rest(module),
        around,
        plain_operators(),
        NothingHidden(instead),
        forward_ad.dual_level(),
    ):
        duals = [
            forward_ad.make_dual(point, tangent)  # type: ignore[no-untyped-call]
            for point, tangent in zip(points, tangents, strict=True)
        ]
        found = run_with(module, list(zip(owns, duals, strict=True)), losses)
        value, slope = forward_ad.unpack_dual(found)  # type: ignore[no-untyped-call]
        return torch.zeros_like(wide(value)) if slope is None else wide(slope).clone()


@cache
def _load_formulas() -> None:
    """What torch loads at the first dual number, with a warning at its own use of torch.jit."""
    with warnings.catch_warnings(), forward_ad.dual_level():
        warnings.simplefilter("ignore", DeprecationWarning)
        forward_ad.make_dual(torch.zeros(1), torch.zeros(1))  # type: ignore[no-untyped-call]
