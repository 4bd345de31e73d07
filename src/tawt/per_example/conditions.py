"""Under what conditions a batch is run: without dropout, without a trace, how precisely."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from tawt.gradients import untouched
from tawt.per_example.swapping import is_narrow, taking_wide_inputs, tensors_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch import Tensor, nn


@contextmanager
def at_rest(module: nn.Module) -> Iterator[Callable[[], None]]:
    """Evaluation mode, no autocast; modes, buffers and random streams are put back.

    Yields:
        A function that puts buffers and random streams back at once: what noise is left is then
        the same in the next run, as both sides of a difference need it.
    """
    parts = list(module.modules())
    owns = [*tensors_of(parts)]
    with ExitStack() as stack:
        again = stack.enter_context(untouched([module]))
        for kind in _autocasting(owns):
            stack.enter_context(torch.autocast(kind, enabled=False))
        if any(is_narrow(own) for own in owns):
            stack.enter_context(taking_wide_inputs(module))
        if any(part.training for part in parts):
            module.eval()
        yield again


@contextmanager
def mixed_precision(module: nn.Module) -> Iterator[None]:
    """Matrix products in bfloat16 wherever autocast takes them to be safe."""
    with ExitStack() as stack:
        for kind in _autocasting(tensors_of(module.modules())):
            # What is cast without a graph is not kept for a training step around this.
            stack.enter_context(torch.autocast(kind, torch.bfloat16, cache_enabled=False))
        yield


def _autocasting(owns: Iterable[Tensor]) -> list[str]:
    """The kinds of devices that these lie on, where autocast exists."""
    kinds = {own.device.type for own in owns}
    return [kind for kind in kinds if torch.amp.is_autocast_available(kind)]


@contextmanager
def plain_operators() -> Iterator[None]:
    """Attention by matrix products and no compiled code: both can be differentiated in any way."""
    fast = torch.backends.mha.get_fastpath_enabled()
    with ExitStack() as stack:
        stack.enter_context(eager())
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            yield
        finally:
            torch.backends.mha.set_fastpath_enabled(fast)


@contextmanager
def eager() -> Iterator[None]:
    """Compiled modules run as they were written."""
    # Not imported yet: nothing is compiled, and the import takes a second.
    if "torch._dynamo" not in sys.modules:
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield


@contextmanager
def full_float32() -> Iterator[None]:
    """No TF32 or bf16 inside float32 products: differences would drown in its rounding."""
    backends: Any = torch.backends
    switches = [
        *(backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn),
        *(backends.mkldnn.matmul, backends.mkldnn.conv, backends.mkldnn.rnn),
    ]
    found = [(switch, switch.fp32_precision) for switch in switches]
    loose = [(switch, was) for switch, was in found if was not in ("ieee", "none")]
    try:
        for switch, _ in loose:
            switch.fp32_precision = "ieee"
        yield
    finally:
        for switch, was in loose:
            switch.fp32_precision = was
