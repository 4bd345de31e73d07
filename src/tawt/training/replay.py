"""Work on a GPU without waiting for Python: recorded once as a CUDA graph, then replayed.

A small batch keeps a GPU busy for less time than Python needs to launch its hundreds of kernels.
A graph launches them all at once. What is recorded must be the same kernels on the same memory
every time: functions given here take all that changes as tensors, and leave what they find in
tensors that live elsewhere (parameters, sums), not in a result.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils import recursively_apply

from tawt.training.devices import moved, number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from torch import Tensor

_log = logging.getLogger(__name__)
_MOST_GRAPHS = 256


class Replay:
    """Calls functions, on a GPU by replaying what they did before.

    A function that cannot be recorded is called as it is, when what it left half done is cleared.

    A function runs as it is the first time it is called with inputs of some shapes, which also
    creates what is created once (an optimiser's state, a library's workspace). The second time
    it is recorded. Whether it is replayed makes no difference to what it computes.

    Args:
        device: Where functions compute.
        enabled: Whether to record at all; never on a CPU.
        clear: Clears away what a function may have left half done: gradients, say.

    Example:
        >>> total = torch.zeros(())
        >>> replay = Replay(torch.device("cpu"), enabled=True)
        >>> replay("add", lambda given: total.add_(given.sum()), torch.ones(3))
        >>> total
        tensor(3.)
    """

    def __init__(
        self,
        device: torch.device,
        *,
        enabled: bool,
        clear: Callable[[], object] = lambda: None,
    ) -> None:
        self._device = device
        self._clear = clear
        self._enabled = enabled and device.type == "cuda"
        self._seen: set[Hashable] = set()
        self._graphs: dict[Hashable, _Graph] = {}
        self._pool = self._new_pool()

    def __call__(
        self,
        name: Hashable,
        function: Callable[[Any], object],
        inputs: Any,
        *,
        warm: bool = False,
    ) -> None:
        """Call the function.

        Args:
            name: Of what it does; functions of one name must do the same with the same shapes.
            function: Called with the inputs, on the device.
            inputs: A nest of tensors, on any device.
            warm: Whether it creates nothing the first time, and can be recorded at once.
        """
        if not self._enabled:
            function(moved(inputs, self._device))
            return
        tensors = _tensors(inputs)
        key = name, tuple((tuple(tensor.shape), tensor.dtype) for tensor in tensors)
        graph = self._graphs.get(key)
        known = warm or key in self._seen
        if graph is None and known and len(self._graphs) < _MOST_GRAPHS:
            graph = self._recorded(key, function, inputs)
        self._seen.add(key)
        if graph is None:
            function(moved(inputs, self._device))
        else:
            graph.replay(tensors)

    def forget(self) -> None:
        """Let go of all recordings, when what they did will not be done again."""
        self._graphs.clear()
        self._seen.clear()
        self._pool = self._new_pool()  # one whose last graph is gone takes no other

    def _new_pool(self) -> Any:
        """Memory that all graphs may use together: none leaves a result in it."""
        return torch.cuda.graph_pool_handle() if self._enabled else None

    def _recorded(
        self, key: Hashable, function: Callable[[Any], object], inputs: Any
    ) -> _Graph | None:
        # Copies: a tensor that is on the device already belongs to the caller.
        held = recursively_apply(torch.clone, moved(inputs, self._device))
        graph = torch.cuda.CUDAGraph()
        random = torch.cuda.default_generators[number_of(self._device)]
        spare = random.clone_state()
        torch.cuda.synchronize(self._device)
        try:
            # Other threads may go on using the device, to pin batches for instance.
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                function(held)
        except RuntimeError as error:
            # A model that waits for the device, or moves data to the host, cannot be recorded.
            _log.warning("steps are not recorded as CUDA graphs: %s", str(error).splitlines()[0])
            torch.cuda.synchronize(self._device)
            random.graphsafe_set_state(spare)  # the other is left as if still recording
            self._clear()
            self._enabled = False
            return None
        self._graphs[key] = _Graph(graph, _tensors(held))
        return self._graphs[key]


class _Graph:
    """A recording, and the memory that its inputs are read from."""

    def __init__(self, graph: torch.cuda.CUDAGraph, inputs: list[Tensor]) -> None:
        self._graph = graph
        self._inputs = inputs

    def replay(self, inputs: list[Tensor]) -> None:
        for held, given in zip(self._inputs, inputs, strict=True):
            held.copy_(given, non_blocking=True)
        self._graph.replay()


def _tensors(nest: Any) -> list[Tensor]:
    if isinstance(nest, torch.Tensor):
        return [nest]
    if isinstance(nest, dict):
        nest = nest.values()
    if isinstance(nest, str | bytes) or not isinstance(nest, Iterable):
        return []
    return [tensor for part in nest for tensor in _tensors(part)]
