"""Gradients as lists of tensors, and a guarantee: measuring leaves no trace.

A gradient is one tensor per parameter, `None` where a loss does not reach that parameter. Sums
over entries accumulate in float32 or better and over parameters in float64, whatever the
parameters' own precision.
"""

from __future__ import annotations

import random
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from tawt.errors import TrainingError
from tawt.given import check_differentiable, parameters_of, scalar_loss

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Gradient = list[Tensor | None]
"""One entry per parameter; `None` where the loss does not reach it."""

_SHORT = 1 << 16  # entries of biases, norms and small layers


def trainable(representation: nn.Module | Iterable[Tensor]) -> list[Tensor]:
    """The distinct parameters that are trained: tied ones once, frozen ones not at all.

    Example:
        >>> layer = nn.Linear(2, 2)
        >>> layer.bias.requires_grad_(False).shape, len(trainable(layer))
        (torch.Size([2]), 1)
    """
    distinct = {
        id(parameter): parameter
        for parameter in parameters_of(representation)
        if parameter.requires_grad
    }
    if not distinct:
        raise TrainingError(
            "The representation has no trainable parameter, so no gradient can be compared; "
            "pass the module (or the parameters) that the tasks share and that is being trained."
        )
    return list(distinct.values())


def gradient_of(
    loss: Tensor, parameters: Sequence[Tensor], *, create_graph: bool = False
) -> Gradient:
    """∇ loss, without touching any `.grad`.

    Args:
        loss: A scalar with its graph attached.
        parameters: What to differentiate by.
        create_graph: Keep the graph, so that the result can be differentiated again.

    Raises:
        TrainingError: It is no scalar, or its graph hides parameters (reentrant checkpointing).

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> gradient_of((x * x).sum(), [x])
        [tensor([2., 4.])]
    """
    if not scalar_loss(loss).requires_grad:
        return [None] * len(parameters)
    check_differentiable(loss)
    found = torch.autograd.grad(loss, parameters, allow_unused=True, create_graph=create_graph)
    return [entry.to_dense() if entry is not None and entry.is_sparse else entry for entry in found]


def dot(left: Gradient, right: Gradient) -> Tensor:
    """⟨left, right⟩ as a float64 scalar on the gradients' device (no synchronisation).

    Example:
        >>> dot([torch.ones(2), None], [torch.tensor([3.0, 4.0]), torch.ones(1)])
        tensor(7., dtype=torch.float64)
    """
    if left is right:
        return squared_norm(left)
    with torch.no_grad():
        pairs = [
            (_wide(a), _wide(b))
            for a, b in zip(left, right, strict=True)
            if a is not None and b is not None
        ]
        terms = [torch.dot(a, b) for a, b in _packed(pairs)]
        return _together(terms).sum()


def squared_norm(gradient: Gradient) -> Tensor:
    """‖gradient‖² as a float64 scalar on the gradient's device (no synchronisation).

    Example:
        >>> squared_norm([torch.tensor([3.0, 4.0])])
        tensor(25., dtype=torch.float64)
    """
    entries = [entry.detach() for entry in gradient if entry is not None]
    wide = [entry for entry in entries if entry.dtype == width(entry)]
    # One launch for all of them; narrow ones are summed in float32 without being copied.
    norms = list(torch._foreach_norm(wide)) if wide else []
    norms += [
        torch.linalg.vector_norm(entry, dtype=width(entry))
        for entry in entries
        if entry.dtype != width(entry)
    ]
    return _together(norms).square().sum()


def add_scaled(total: Gradient | None, gradient: Gradient, scale: float) -> Gradient:
    """`total + scale · gradient`, in place in `total` where it can be.

    Example:
        >>> add_scaled([torch.ones(1), None], [torch.ones(1), torch.ones(1)], 2.0)
        [tensor([3.]), tensor([2.])]
    """
    if total is None:
        total = [None] * len(gradient)
    for index, entry in enumerate(gradient):
        if entry is None:
            continue
        kept, wide = total[index], entry.to(width(entry))
        total[index] = wide * scale if kept is None else kept.add_(wide, alpha=scale)
    return total


def scaled(gradient: Gradient, scale: float) -> Gradient:
    """`scale · gradient` in float32 or better.

    Example:
        >>> scaled([torch.tensor([1.0, 2.0]), None], 5.0)
        [tensor([ 5., 10.]), None]
    """
    return [None if entry is None else entry.to(width(entry)) * scale for entry in gradient]


def _packed(pairs: list[tuple[Tensor, Tensor]]) -> list[tuple[Tensor, Tensor]]:
    """The same pairs, on a GPU with the short ones end to end: launches cost more than they do."""
    short = [pair for pair in pairs if pair[0].is_cuda and len(pair[0]) <= _SHORT]
    if len({(a.dtype, b.dtype, a.device) for a, b in short}) != 1:
        return pairs
    whole = torch.cat([a for a, _ in short]), torch.cat([b for _, b in short])
    return [pair for pair in pairs if len(pair[0]) > _SHORT] + [whole]


def _wide(entry: Tensor) -> Tensor:
    wide = width(entry)
    return entry.reshape(-1) if entry.dtype == wide else entry.reshape(-1).to(wide)


def width(entry: Tensor) -> torch.dtype:
    """The precision to add its entries up in: float32, or float64 if it has that."""
    return torch.float64 if entry.dtype == torch.float64 else torch.float32


def _together(terms: list[Tensor]) -> Tensor:
    """Scalars as one float64 vector on the device of the first."""
    if not terms:
        return torch.zeros(1, dtype=torch.float64)
    device = terms[0].device
    if any(term.device != device for term in terms):
        terms = [term.to(device) for term in terms]
    return torch.stack(terms).double()


@contextmanager
def untouched(
    modules: Sequence[nn.Module], *, parameters: Iterable[Tensor] = ()
) -> Iterator[Callable[[], None]]:
    """Leave buffers, train/eval modes and every random stream as they were found.

    Nothing inside tawt writes parameters or `.grad` while measuring. Where the caller's own code
    does write `.grad` (a `loss_of` that calls `backward`, a hook), that is an error.

    Args:
        modules: Whose buffers (batch-norm statistics, say) and modes are restored.
        parameters: Where the measuring happens, if not on the modules' own devices.

    Raises:
        TrainingError: `.grad` is not as it was.

    Yields:
        A function that puts buffers and random streams back at once, so that a second run begins
        as the first did.

    Example:
        >>> norm = nn.BatchNorm1d(2)
        >>> with untouched([norm]):
        ...     _ = norm(torch.randn(4, 2))
        >>> norm.running_mean
        tensor([0., 0.])
    """
    inner = _all_inside(modules)
    modes = [(module, module.training) for module in inner]
    kept = [
        (module, name, buffer, None if buffer is None else buffer.detach().clone())
        for module in inner
        for name, buffer in module._buffers.items()
    ]
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    torch_state = torch.get_rng_state()
    parameters = [*parameters, *_own_parameters(inner)]
    streams = [(stream, stream.get()) for stream in _streams(parameters)]
    grads = [(p, p.grad, None if p.grad is None else p.grad._version) for p in parameters]
    torch.clear_autocast_cache()  # casts that were made without a graph would hide parameters

    def put_back() -> None:
        random.setstate(python_state)
        np.random.set_state(numpy_state)  # noqa: NPY002
        torch.set_rng_state(torch_state)
        for stream, state in streams:
            stream.set(state)
        for module, name, buffer, value in kept:
            if buffer is not None and value is not None:
                # Not through autograd, which would take a graph made before for spoilt.
                buffer.data.copy_(value)
            module._buffers[name] = buffer

    try:
        yield put_back
    finally:
        put_back()
        torch.clear_autocast_cache()
        for module, training in modes:
            if module.training != training:
                module.training = training
    if any(p.grad is not grad or (grad is not None and grad._version != v) for p, grad, v in grads):
        raise TrainingError(
            "`.grad` changed during the measurement, which must leave it as it is. Does `loss_of` "
            "call `backward` or `zero_grad`, or a hook write to `.grad`? Return the loss alone."
        )


def _all_inside(modules: Iterable[nn.Module]) -> list[nn.Module]:
    """The modules and all inside them, each once."""
    found: dict[int, nn.Module] = {}
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if id(module) not in found:
            found[id(module)] = module
            waiting += module.children()
    return list(found.values())


def _own_parameters(modules: Iterable[nn.Module]) -> list[Tensor]:
    return [p for module in modules for p in module._parameters.values() if p is not None]


@dataclass(frozen=True)
class _Stream:
    """The global random stream of a device that is not the CPU."""

    kind: str
    index: int

    def get(self) -> Tensor:
        module: Any = torch.get_device_module(self.kind)
        found: Tensor = module.get_rng_state(*self._which())
        return found

    def set(self, state: Tensor) -> None:
        module: Any = torch.get_device_module(self.kind)
        module.set_rng_state(state, *self._which())

    def _which(self) -> tuple[int, ...]:
        return () if self.kind == "mps" else (self.index,)  # of which there is one


def _streams(parameters: Iterable[Tensor]) -> list[_Stream]:
    devices = {parameter.device for parameter in parameters}
    found = {_Stream(d.type, d.index or 0) for d in devices if d.type not in ("cpu", "meta")}
    return sorted(found, key=lambda stream: (stream.kind, stream.index))
