"""Norm layers in mixed precision: in float32, on every device.

Autocast leaves some of them to bfloat16 inputs beside float32 weights. Forward mode then gives the
tangent the weights' type and the value the inputs', and the next layer is given both.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch.nn.functional as F  # noqa: N812 - the name everyone uses

from tawt.per_example.swapping import widened

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from tawt.per_example.replacing import Replacements


def _wide(norm: Callable[..., Tensor], input: Tensor, *args: Any, **kwargs: Any) -> Tensor:  # noqa: A002
    return norm(widened(input), *args, **kwargs)


WIDE_NORMS: Replacements = {
    norm: partial(_wide, norm)
    for norm in (F.batch_norm, F.layer_norm, F.group_norm, F.instance_norm, F.rms_norm)
}
"""Each norm, and the same in float32 or better."""
