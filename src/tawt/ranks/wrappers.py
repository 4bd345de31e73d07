"""Models that others have wrapped for several processes: what they must not do in a measurement.

A wrapped model is found when it is called, wherever the caller keeps the wrapper.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import distributed, nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.nn.parallel import DistributedDataParallel

from tawt.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch import Tensor

_AT_REST = {
    "require_backward_grad_sync": False,  # or its reducer waits for gradients that never come
    "require_forward_param_sync": False,  # or buffers are sent, to processes that may not ask
    "_static_graph_delay_allreduce_enqueued": True,  # or the first measurement is taken for a step
}


@dataclass
class Calls:
    """Wrapped models that were called."""

    sharded: list[nn.Module] = field(default_factory=list)
    """By `fully_shard`, each once."""
    _resting: list[tuple[DistributedDataParallel, dict[str, bool]]] = field(default_factory=list)

    def saw(self, module: nn.Module) -> None:
        """Take notice of a call, before it begins."""
        if isinstance(module, DistributedDataParallel):
            self._rest(module)
        elif is_fully_sharded(module):
            if not any(module is known for known in self.sharded):
                self.sharded.append(module)
        elif _is_a(module, "torch.distributed.fsdp", "FullyShardedDataParallel"):
            raise refused_fsdp1()

    def _rest(self, module: DistributedDataParallel) -> None:
        if all(module is not known for known, _ in self._resting):
            before = {name: getattr(module, name) for name in _AT_REST if hasattr(module, name)}
            self._resting.append((module, before))
        for name, value in _AT_REST.items():
            if hasattr(module, name):
                setattr(module, name, value)

    def wake(self) -> None:
        """Let wrappers go on as before.

        A sharded model that was run forward and not back, because of an error, holds more than its
        own parts.
        """
        for sharded in self.sharded:
            sharded.reshard()  # type: ignore[operator]
        for module, before in self._resting:
            for name, value in before.items():
                setattr(module, name, value)


@contextmanager
def watched_calls() -> Iterator[Calls]:
    """Have wrapped models that are called inside leave no trace of it.

    A `DistributedDataParallel` neither waits for a backward pass nor sends its buffers.

    Yields:
        Which were called.
    """
    calls = Calls()
    if not (distributed.is_available() and distributed.is_initialized()):
        yield calls
        return

    def before(module: nn.Module, _: Any) -> None:
        calls.saw(module)

    handle = register_module_forward_pre_hook(before)
    try:
        with warnings.catch_warnings():
            # A module that is compiled is seen twice, which does no harm.
            warnings.filterwarnings("ignore", "Using `torch.compile.module.` when there are global")
            yield calls
    finally:
        handle.remove()
        calls.wake()


def check_parameters(parameters: Iterable[Tensor]) -> None:
    """Refuse parameters that a wrapper keeps in a form in which nothing can be measured.

    Raises:
        TrainingError: They are those of FSDP1, or of DeepSpeed's ZeRO-3.
    """
    for parameter in parameters:
        if hasattr(parameter, "ds_id"):
            raise TrainingError(
                "The representation's parameters are partitioned by DeepSpeed (ZeRO-3), in which "
                "nothing can be measured; use ZeRO-1 or 2, DDP, or `fully_shard`."
            )
        if getattr(parameter, "_fsdp_flattened", False):
            raise refused_fsdp1()


def is_fully_sharded(module: nn.Module) -> bool:
    """Whether `fully_shard` was called on it (FSDP2)."""
    return _is_a(module, "torch.distributed.fsdp", "FSDPModule")


def is_distributed_tensor(tensor: Tensor) -> bool:
    """Whether it is a DTensor."""
    return _is_a(tensor, "torch.distributed.tensor", "DTensor")


def refused_fsdp1() -> TrainingError:
    """The error where a model is wrapped by the older FSDP."""
    return TrainingError(
        "The model is wrapped in FullyShardedDataParallel (FSDP1), in which nothing can be "
        "measured; use `torch.distributed.fsdp.fully_shard` (FSDP2) or DistributedDataParallel."
    )


def _is_a(thing: object, module: str, name: str) -> bool:
    """Whether it is of a class that nobody has who did not import its module, which takes long."""
    found = getattr(sys.modules.get(module), name, None)
    return found is not None and isinstance(thing, found)
