"""Norm layers in mixed precision: in float32, on every device.

Autocast leaves some of them to bfloat16 inputs beside float32 weights. Forward mode then gives the
tangent the weights' type and the value the inputs', and the next layer is given both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch.overrides import TorchFunctionMode

from tawt.per_example.swapping import is_narrow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor

_NORMS = {F.batch_norm, F.layer_norm, F.group_norm, F.instance_norm, F.rms_norm}


class WideNorms(TorchFunctionMode):
    """While it is on, norms of `torch.nn.functional` are computed in float32 or better.

    Example:
        >>> import torch
        >>> with WideNorms():
        ...     F.layer_norm(torch.tensor([1.0, 3.0], dtype=torch.bfloat16), [2], eps=0.0)
        tensor([-1.,  1.])
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the function, with a wide input if it is a norm."""
        if func in _NORMS:
            return _widened(func, *args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _widened(norm: Callable[..., Tensor], input: Tensor, *args: Any, **kwargs: Any) -> Tensor:  # noqa: A002
    return norm(input.float() if is_narrow(input) else input, *args, **kwargs)
