"""⟨v, ∇ℓ_i⟩ by forward mode in mixed precision: matrix products in bfloat16, and a known error.

bfloat16 has float32's range and eight bits of its digits. Each factor of a matrix product is off by
some thousandth at random; over the terms of a sum, and of an example's product with the direction,
most of that cancels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from torch.linalg import vector_norm

from tawt.errors import TrainingError, first_line, is_out_of_memory
from tawt.per_example.forward_mode import ForwardMode
from tawt.per_example.told import tell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

    from tawt.per_example.losses import Losses
    from tawt.per_example.swapping import Swap


class MixedPrecision:
    """One pass a batch, cheaper than an exact one; on the first of a task the exact one beside it.

    Args:
        module: All that losses run.
        moves: Parameters, and the direction at each.

    Example:
        >>> import torch
        >>> from torch import nn
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> products = MixedPrecision(layer, [(layer.weight, torch.tensor([[1.0, -1.0]]))])
        >>> products(lambda: layer(torch.tensor([[5.0, 2.0], [0.0, 1.0]])).squeeze(1))
        tensor([ 3., -1.])
        >>> products.relative_error
        0.0
    """

    def __init__(self, module: nn.Module, moves: Sequence[Swap]) -> None:
        self._exactly = ForwardMode(module, moves)
        self._roughly = ForwardMode(module, moves, mixed=True)
        self._known = False
        self.relative_error: float | None = None
        """Of the products of a task's first batch, by their norm: the largest, if there were any.

        A batch whose losses do not move shows nothing, and the next is looked at instead.
        """

    def __call__(self, losses: Losses) -> Tensor:
        """The products, shape `(examples,)`."""
        return self._roughly(losses) if self._known else self._compared(losses)

    def look_again(self) -> None:
        """Examples of another task follow: compare anew."""
        self._known = False

    def _compared(self, losses: Losses) -> Tensor:
        """A first batch's products, exactly, and how far the others will be off."""
        exact = self._exactly(losses)
        size = float(vector_norm(exact))
        if size == 0:
            return exact  # the next batch may show more
        apart = float(vector_norm(self._first(losses) - exact)) / size
        # Twice, for a small batch does not show all.
        error = 2 * apart if math.isfinite(apart) else math.inf
        tell("in mixed precision", error, advice='Take `way="forward"`, which is exact.')
        self._known = True
        self.relative_error = max(error, self.relative_error or 0.0)
        return exact

    def _first(self, losses: Losses) -> Tensor:
        try:
            return self._roughly(losses)
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise
            # The exact pass went well, so it is the precision.
            raise TrainingError(
                f"The model cannot be run in mixed precision ({first_line(error)}). "
                'Take `way="forward"`, which is exact, or "differences".'
            ) from error
