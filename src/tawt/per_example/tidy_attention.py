"""torch's own attention layer, on a CPU given what lies in one piece.

Examples first is how batches come, and positions first how this layer wants them. It transposes
without a copy; its linear layers then multiply position by position, and in bfloat16 on a CPU with
a copy of the weights for every one. A GPU has no need of that copy, nor of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch.nn.functional as F  # noqa: N812 - the name everyone uses

if TYPE_CHECKING:
    from torch import Tensor


def tidy_attention(
    query: Tensor, key: Tensor, value: Tensor, *args: Any, **kwargs: Any
) -> tuple[Tensor, Tensor | None]:
    """As `torch.nn.functional.multi_head_attention_forward`.

    Example:
        >>> import torch
        >>> from tawt.per_example.replacing import Replacing
        >>> layer = torch.nn.MultiheadAttention(4, 2, batch_first=True)
        >>> inputs = torch.ones(2, 3, 4)
        >>> with Replacing({F.multi_head_attention_forward: tidy_attention}):
        ...     layer(inputs, inputs, inputs)[0].shape
        torch.Size([2, 3, 4])
    """
    if query.is_cpu:
        # What is one tensor thrice stays one: only then all three are projected at once.
        pieces = {id(given): given.contiguous() for given in (query, key, value)}
        query, key, value = (pieces[id(given)] for given in (query, key, value))
    return F.multi_head_attention_forward(query, key, value, *args, **kwargs)
