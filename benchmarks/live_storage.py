"""How much memory tensors made in a block hold at once, on a device that does not count it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class LiveStorage(TorchDispatchMode):
    """Follows every storage that an operation makes until it is freed.

    What a kernel needs inside one operation is not seen; everything that outlives one is.

    Example:
        >>> with LiveStorage() as live:
        ...     kept = torch.ones(10)
        ...     total = float((kept + 1).sum())
        >>> live.peak >= 80, live.now
        (True, 40)
    """

    def __init__(self) -> None:
        super().__init__()
        self.now = 0
        """Bytes held at this moment."""
        self.peak = 0
        """Most bytes held at any moment."""
        self._seen: dict[int, weakref.finalize[..., Any]] = {}

    def ignore(self, tensors: Sequence[Tensor]) -> None:
        """Count nothing for these: they were there before."""
        for tensor in tensors:
            self._follow(tensor, counted=False)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Run the operation and follow what it returns."""
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self._follow(leaf, counted=True)
        return result

    def _follow(self, tensor: Tensor, *, counted: bool) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._seen:
            return
        size = storage.nbytes() if counted else 0
        self._seen[key] = weakref.finalize(storage, self._freed, key, size)
        self.now += size
        self.peak = max(self.peak, self.now)

    def _freed(self, key: int, size: int) -> None:
        del self._seen[key]
        self.now -= size


def peak_extra_bytes(
    action: Callable[[], object], *, device: torch.device, present: Sequence[Tensor]
) -> int:
    """The most memory an action holds beyond what was there before it.

    Args:
        action: What to run; on a GPU it should have run once before, for the libraries' own needs.
        device: Where it runs.
        present: Tensors that exist already (parameters, buffers, examples).
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        # What is asked for, not the blocks it is rounded up to: those are the allocator's affair.
        before = torch.cuda.memory_stats(device)["requested_bytes.all.current"]
        action()
        return int(torch.cuda.memory_stats(device)["requested_bytes.all.peak"] - before)
    live = LiveStorage()
    live.ignore(present)
    with live:
        action()
    return live.peak
