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

from tawt.per_example.conditions import at_rest, mixed_precision, plain_operators
from tawt.per_example.lean_linear import lean_linear
from tawt.per_example.replacing import Replacements, Replacing
from tawt.per_example.swapping import Swap, run_with, wide
from tawt.per_example.tidy_attention import tidy_attention
from tawt.per_example.wide_norms import WIDE_NORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.per_example.losses import Losses

_EXACT: Replacements = {
    F.linear: lean_linear,
    F.multi_head_attention_forward: tidy_attention,
}
_NARROW: Replacements = {**_EXACT, **WIDE_NORMS}


class ForwardMode:
    """Exact, where every operator that is run can be differentiated forwards.

    Args:
        module: All that losses run.
        moves: Parameters, and the direction at each.
        mixed: In mixed precision, which is exact no longer.

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> products = ForwardMode(layer, [(layer.weight, torch.tensor([[1.0, -1.0]]))])
        >>> products(lambda: layer(torch.tensor([[5.0, 2.0], [0.0, 1.0]])).squeeze(1))
        tensor([ 3., -1.])
    """

    def __init__(self, module: nn.Module, moves: Sequence[Swap], *, mixed: bool = False) -> None:
        self._module = module
        self._moves = moves
        self._mixed = mixed
        self.relative_error: float | None = None
        """None that this could know of."""

    def __call__(self, losses: Losses) -> Tensor:
        """The products, shape `(examples,)`."""
        _load_formulas()
        owns = [parameter for parameter, _ in self._moves]
        points = [wide(parameter) for parameter in owns]
        tangents = [entry.to(point) for point, (_, entry) in zip(points, self._moves, strict=True)]
        with (
            torch.no_grad(),
            at_rest(self._module),
            mixed_precision(self._module) if self._mixed else nullcontext(),
            plain_operators(),
            Replacing(_NARROW if self._mixed else _EXACT),
            forward_ad.dual_level(),
        ):
            duals = [
                forward_ad.make_dual(point, tangent)  # type: ignore[no-untyped-call]
                for point, tangent in zip(points, tangents, strict=True)
            ]
            found = run_with(self._module, list(zip(owns, duals, strict=True)), losses)
            value, slope = forward_ad.unpack_dual(found)  # type: ignore[no-untyped-call]
            return torch.zeros_like(wide(value)) if slope is None else wide(slope).clone()

    def look_again(self) -> None:
        """Examples of another task follow, which is all the same here."""


@cache
def _load_formulas() -> None:
    """What torch loads at the first dual number, with a warning at its own use of torch.jit."""
    with warnings.catch_warnings(), forward_ad.dual_level():
        warnings.simplefilter("ignore", DeprecationWarning)
        forward_ad.make_dual(torch.zeros(1), torch.zeros(1))  # type: ignore[no-untyped-call]
