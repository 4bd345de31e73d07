"""Functions that hide from forward mode what they compute with."""

from __future__ import annotations

from inspect import currentframe
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.autograd.function import FunctionCtx

from tawt.per_example.replacing import Replacing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FrameType


class NothingHidden(Replacing):
    """Refuses parameters that a function uses without being given them, as in checkpointing.

    Inside a `torch.autograd.Function` forward mode is off. One that is given a parameter has a
    formula for it, or torch raises. One that finds it by itself, as reentrant activation
    checkpointing does, gives a result without a tangent, and nobody would notice.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the function, or the other, if no tangent is lost in it."""
        if not torch._C._is_fwd_grad_enabled():
            _check([*args, *(kwargs or {}).values()])
        return super().__torch_function__(func, types, args, kwargs)


def _check(given: Sequence[Any]) -> None:
    if not any(isinstance(value, Tensor) and _has_tangent(value) for value in given):
        return
    function = _running(currentframe())
    if function is not None and function.jvp is torch.autograd.Function.jvp:
        raise NotImplementedError(
            f"{function.__name__} uses parameters that it is not given, as reentrant activation "
            "checkpointing does; use_reentrant=False does not."
        )


def _has_tangent(value: Tensor) -> bool:
    with forward_ad._set_fwd_grad_enabled(True):
        return forward_ad.unpack_dual(value).tangent is not None  # type: ignore[no-untyped-call]


def _running(frame: FrameType | None) -> Any:
    """The function of autograd that is being run, if it can be told."""
    while frame is not None:
        for name in frame.f_code.co_varnames[:1]:
            context = frame.f_locals.get(name)
            if isinstance(context, FunctionCtx):
                return getattr(context, "_forward_cls", None)
        frame = frame.f_back
    return None
