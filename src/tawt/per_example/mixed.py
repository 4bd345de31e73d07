"""⟨v, ∇ℓ_i⟩ by forward mode in mixed precision: matrix products in bfloat16, and a known error.

bfloat16 has float32's range and eight bits of its digits. Each factor of a matrix product is off by
some thousandth at random; over the terms of a sum, and of an example's product with the direction,
most of that cancels.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch.linalg import vector_norm

from tawt.errors import TrainingError, first_line, is_out_of_memory
from tawt.per_example.conditions import mixed_precision
from tawt.per_example.forward_mode import LEAN, ForwardMode, loss_tangents
from tawt.per_example.known_error import KnownError
from tawt.per_example.tidy_attention import tidy_attention
from tawt.per_example.wide_norms import WIDE_NORMS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

    from tawt.per_example.losses import Losses
    from tawt.per_example.replacing import Replacements
    from tawt.per_example.swapping import Swap

_log = logging.getLogger(__name__)

_INSTEAD: Replacements = {**LEAN, **WIDE_NORMS, F.multi_head_attention_forward: tidy_attention}
_DOUBTFUL = 0.1
_ADVICE = 'Take `way="forward"`, which is exact.'


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
        self._module = module
        self._moves = moves
        self._exactly = ForwardMode(module, moves)
        self._known = False
        self._error = KnownError(doubtful=_DOUBTFUL, advice=_ADVICE)

    @property
    def relative_error(self) -> float | None:
        """As far as first batches have shown it; one whose losses do not move shows nothing."""
        return self._error.largest

    def __call__(self, losses: Losses) -> Tensor:
        """The products, shape `(examples,)`; exact on the first batch of a task."""
        return self._narrow(losses) if self._known else self._compared(losses)

    def look_again(self) -> None:
        """Examples of another task follow: compare anew."""
        self._known = False

    def _compared(self, losses: Losses) -> Tensor:
        exact = self._exactly(losses)
        size = float(vector_norm(exact))
        if size == 0:
            return exact  # the next batch may show more
        apart = float(vector_norm(self._narrow(losses) - exact))
        self._error.add(apart / size, how="in mixed precision")
        self._known = True
        if apart == 0:
            _log.info(
                "Mixed precision has changed nothing: the model is in float64, has no matrix "
                "products, or sets its precision itself, which is then not seen in the error."
            )
        return exact

    def _narrow(self, losses: Losses) -> Tensor:
        around = mixed_precision(self._module)
        try:
            return loss_tangents(self._module, self._moves, losses, around=around, instead=_INSTEAD)
        except (RuntimeError, TypeError) as error:
            if is_out_of_memory(error):
                raise
            self._exactly(losses)  # raises what has nothing to do with the precision
            raise TrainingError(
                f"The model cannot be run in mixed precision ({first_line(error)}). "
                'Take `way="forward"`, which is exact, or "differences".'
            ) from error
