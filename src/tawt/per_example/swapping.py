"""Other tensors in the place of a module's own, for the length of one run."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map_only

from tawt.errors import TrainingError
from tawt.per_example.losses import Losses, checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Swap = tuple[Tensor, Tensor]
"""One of the module's own tensors, and what stands in for it."""

_NARROW = (torch.float16, torch.bfloat16)


@contextmanager
def swapped(module: nn.Module, swaps: Iterable[Swap]) -> Iterator[None]:
    """Put other tensors wherever the module, or one inside it, keeps these of its own.

    Tied tensors, and modules that are reached by two names, are swapped everywhere and put back
    everywhere. (`torch.func.functional_call` leaves a module with two names changed.)

    Args:
        module: Whose tensors.
        swaps: Which, and for what.

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> with swapped(layer, [(layer.weight, torch.ones(1, 2))]):
        ...     layer(torch.tensor([3.0, 4.0]))
        tensor([7.])
    """
    with _swapped(list(module.modules()), swaps):
        yield


@contextmanager
def _swapped(inner: Sequence[nn.Module], swaps: Iterable[Swap]) -> Iterator[None]:
    instead = {id(own): other for own, other in swaps}
    places: list[tuple[dict[str, Any], str, Tensor]] = [
        (store, name, own)
        for part in inner
        for store in (part._parameters, part._buffers)
        for name, own in store.items()
        if own is not None and id(own) in instead
    ]
    # Recurrent layers keep a list of their weights beside; they renew it, but not back again.
    listed = [
        (part, part._flat_weights, part._flat_weight_refs)
        for part in inner
        if isinstance(part, nn.RNNBase)
    ]
    try:
        for store, name, own in places:
            store[name] = instead[id(own)]
        yield
    finally:
        for store, name, own in places:
            store[name] = own
        for part, weights, references in listed:
            part._flat_weights, part._flat_weight_refs = weights, references


def run_with(module: nn.Module, swaps: Sequence[Swap], losses: Losses) -> Tensor:
    """ℓ per example with these swaps, and all that is narrower than float32 in float32."""
    with swapped_widely(module, swaps):
        return checked(losses())


@contextmanager
def swapped_widely(module: nn.Module, swaps: Sequence[Swap]) -> Iterator[None]:
    """With these swaps, and all that is narrower than float32 in float32.

    A backward pass needs them too: activation checkpointing runs layers again.
    """
    inner = list(module.modules())
    given = {id(own) for own, _ in swaps}
    others = [
        (own, own.detach().float().requires_grad_(own.requires_grad))
        for own in tensors_of(inner)
        if is_narrow(own) and id(own) not in given
    ]
    with _swapped(inner, [*swaps, *others]):
        yield


def check_inside(module: nn.Module, parameters: Sequence[Tensor]) -> None:
    """Whether these are distinct parameters of the module."""
    known = {id(parameter) for parameter in module.parameters()}
    missing = [tuple(p.shape) for p in parameters if id(p) not in known]
    if missing:
        raise TrainingError(
            f"{len(missing)} of the {len(parameters)} parameters are not in `module` (the first "
            f"has shape {missing[0]}). Pass the module that holds all that `losses` runs, "
            "representation and heads, and parameters of that very module, not of a copy."
        )
    if len({id(parameter) for parameter in parameters}) != len(parameters):
        raise TrainingError(
            "A parameter is given twice; `tawt.gradients.trainable` lists each once."
        )


def wide(tensor: Tensor) -> Tensor:
    """Its values in float32 or better, detached; no copy where it has that."""
    return widened(tensor.detach())


def widened(tensor: Tensor) -> Tensor:
    """In float32 or better, still part of a graph; itself where it has that."""
    return tensor.float() if is_narrow(tensor) else tensor


def tensors_of(parts: Iterable[nn.Module]) -> Iterator[Tensor]:
    """The parameters and buffers that these modules themselves hold; tied ones more than once."""
    for part in parts:
        for found in (part.named_parameters, part.named_buffers):
            yield from (own for _, own in found(recurse=False, remove_duplicate=False))


def is_narrow(tensor: Tensor) -> bool:
    """Whether it has less than float32's precision."""
    return tensor.dtype in _NARROW


@contextmanager
def taking_wide_inputs(module: nn.Module) -> Iterator[None]:
    """Every module inside widens what it is given: inputs were made for narrow parameters."""

    def widen(_: nn.Module, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        return tree_map_only(Tensor, widened, (given, named))

    handles = [part.register_forward_pre_hook(widen, with_kwargs=True) for part in module.modules()]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
