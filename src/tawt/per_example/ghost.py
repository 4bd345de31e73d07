"""‖∇ℓ_i‖² from one forward and one backward pass, by the identities of the usual layers."""

from __future__ import annotations

import logging
import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakSet

import torch
from torch import Tensor, nn

from tawt.errors import is_out_of_memory
from tawt.given import check_differentiable
from tawt.per_example.conditions import at_rest, eager
from tawt.per_example.identities import Identity, Squares, embedding, identity_for
from tawt.per_example.recording import Calls, recorded
from tawt.per_example.swapping import run_with, swapped_widely, wide

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch.autograd.graph import GradientEdge

    from tawt.per_example.losses import Losses
    from tawt.per_example.swapping import Swap

_log = logging.getLogger(__name__)

_EVERY = 4  # batches that a layer is checked on: so many first ones, and one of so many later
_UNFIT: WeakSet[nn.Module] = WeakSet()
"""Layers that failed a check: another batch may not show it."""


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer that an identity holds for, and those of its parameters that are asked for."""

    module: nn.Module
    identity: Identity
    asked: Mapping[str, Tensor]


@dataclass(frozen=True)
class Pass:
    """A forward pass with its graph."""

    losses: Tensor
    calls: Calls
    points: Mapping[Layer, list[Tensor]]
    """What stood in for each layer's parameters."""

    @property
    def swaps(self) -> list[Swap]:
        """Parameters, and what stood in for each."""
        return [
            swap
            for layer, points in self.points.items()
            for swap in zip(layer.asked.values(), points, strict=True)
        ]


class Ghost:
    """The norms of as many parameters as the identities are right for.

    A layer must be run once a batch, on inputs whose first dimension is the example. A table that
    is looked up once for all examples (of positions, say) is looked up for each. Every layer is
    checked on the first batches that run it and on every fourth one later: one example is
    differentiated by itself. (A model that sorts its rows does not show it on rows of one length.)
    A layer that fails is given up, in that batch and for good, here and wherever else the model's
    norms are asked for.

    Args:
        module: All that losses run.
        parameters: What the gradients are by.

    Example:
        >>> layer = nn.Linear(2, 1, bias=False)
        >>> norms = Ghost(layer, [layer.weight])
        >>> norms(lambda: layer(torch.tensor([[3.0, 4.0], [0.0, 1.0]])).squeeze(1))
        tensor([25.,  1.])
    """

    def __init__(self, module: nn.Module, parameters: Sequence[Tensor]) -> None:
        self._module = module
        self._layers = _layers(module, parameters)
        self._ran: Counter[Layer] = Counter()
        """Batches that ran a layer."""
        self._for_each: set[nn.Module] = set()
        self._may_repeat = True

    @property
    def covered(self) -> list[Tensor]:
        """Parameters whose norms were in the sum of the last batch."""
        return [parameter for layer in self._layers for parameter in layer.asked.values()]

    def __call__(self, losses: Losses) -> Tensor:
        """The sum of squares over the covered parameters, shape `(examples,)`."""
        with torch.enable_grad(), at_rest(self._module), eager():
            ran = self._forward(losses)
            total = torch.zeros_like(ran.losses)
            if not ran.losses.requires_grad:
                return total
            check_differentiable(ran.losses)
            with swapped_widely(self._module, ran.swaps):
                squares = self._backward(ran)
                self._check(ran, squares)
        for layer in self._layers:
            for value in squares[layer].values():
                total += value.clamp_min(0).to(total)
        return total

    def _forward(self, losses: Losses) -> Pass:
        if not self._for_each:
            ran = self._run(losses)
            self._for_each = self._tables_for_all(ran) if self._may_repeat else set()
            if not self._for_each:
                return ran
        with torch.no_grad():
            plain = run_with(self._module, [], losses)
        try:
            ran = self._run(losses, examples=len(plain))
            as_before = ran.losses.shape == plain.shape and torch.allclose(
                ran.losses.detach(), plain, rtol=1e-3, atol=1e-5, equal_nan=True
            )
        except RuntimeError as error:
            if is_out_of_memory(error):
                raise
            as_before = False
        if as_before:
            return ran
        # The model does more with the table than add it to something.
        self._may_repeat, self._for_each = False, set()
        return self._run(losses)

    def _run(self, losses: Losses, *, examples: int = 1) -> Pass:
        points = {
            layer: [wide(parameter).requires_grad_() for parameter in layer.asked.values()]
            for layer in self._layers
        }
        swaps = [
            swap
            for layer in self._layers
            for swap in zip(layer.asked.values(), points[layer], strict=True)
        ]
        modules = [layer.module for layer in self._layers]
        with recorded(modules, for_each=self._for_each, examples=examples) as calls:
            return Pass(run_with(self._module, swaps, losses), calls, points)

    def _tables_for_all(self, ran: Pass) -> set[nn.Module]:
        return {
            layer.module
            for layer in self._layers
            if layer.identity is embedding
            and any(call.is_for_all(len(ran.losses)) for call in ran.calls[layer.module])
        }

    def _backward(self, ran: Pass) -> dict[Layer, Squares]:
        """Squares of the layers that were run as they must be, or not at all; no others stay."""
        ran_once = {
            layer: calls[0]
            for layer in self._layers
            if len(calls := ran.calls[layer.module]) == 1
            and calls[0].is_by_example(len(ran.losses))
        }
        squares: dict[Layer, Squares] = {
            layer: {} for layer in self._layers if _is_unused(layer, ran)
        }
        back = _gradients(ran.losses.sum(), [call.output for call in ran_once.values()])
        for (layer, call), gradient in zip(ran_once.items(), back, strict=True):
            squares[layer] = {}
            if gradient is not None:
                found = layer.identity(layer.module, call.inputs, gradient)
                squares[layer] = {name: found[name] for name in layer.asked}
        self._layers = list(squares)
        return squares

    def _check(self, ran: Pass, squares: Mapping[Layer, Squares]) -> None:
        """Give up the layers whose norms are not those of an example differentiated by itself."""
        ran_here = [layer for layer in self._layers if squares[layer]]
        new = [
            layer
            for layer in ran_here
            if self._ran[layer] < _EVERY or self._ran[layer] % _EVERY == 0
        ]
        self._ran.update(ran_here)
        if not new:
            return
        total = torch.stack([value for layer in new for value in squares[layer].values()]).sum(0)
        largest = int(total.argmax())
        size = float(total[largest])
        if not 0 < size < math.inf:
            self._ran.subtract(new)
            return  # this batch shows nothing
        rough = 30 * torch.finfo(total.dtype).eps ** 0.5
        points = [point for layer in new for point in ran.points[layer]]
        exact = iter(_gradients(ran.losses[largest], points))
        for layer in new:
            pairs = [(float(squares[layer][name][largest]), next(exact)) for name in layer.asked]
            if all(_is_near(ours, exactly, rough, size) for ours, exactly in pairs):
                continue
            self._layers.remove(layer)
            _UNFIT.add(layer.module)
            if self._ran[layer] > 1:
                _log.warning(
                    "Norms from the layer %s are wrong in this batch, and may be in %d before it; "
                    "from now on they are taken one by one.",
                    self._name(layer),
                    self._ran[layer] - 1,
                )

    def _name(self, layer: Layer) -> str:
        names = (name for name, part in self._module.named_modules() if part is layer.module)
        return next(names, "") or type(layer.module).__name__


def _is_near(square: float, gradient: Tensor | None, rough: float, size: float) -> bool:
    exactly = 0.0 if gradient is None else float(gradient.square().sum())
    return abs(square - exactly) <= rough * exactly + rough**2 * size


def _is_unused(layer: Layer, ran: Pass) -> bool:
    """Whether it is not run, nor its parameters used by another module in its stead."""
    if ran.calls[layer.module]:
        return False
    return all(gradient is None for gradient in _gradients(ran.losses.sum(), ran.points[layer]))


def _gradients(
    loss: Tensor, places: Sequence[Tensor] | Sequence[GradientEdge]
) -> tuple[Tensor | None, ...]:
    if not places:
        return ()
    return torch.autograd.grad(loss, places, retain_graph=True, allow_unused=True)


def _layers(module: nn.Module, parameters: Sequence[Tensor]) -> list[Layer]:
    """Layers that have an identity, with the asked parameters that are theirs alone."""
    inner = {
        part: dict(part.named_parameters(recurse=False, remove_duplicate=False))
        for part in module.modules()
    }
    places = Counter(id(own) for held in inner.values() for own in held.values())
    asked = {id(parameter) for parameter in parameters if places[id(parameter)] == 1}
    layers = []
    for part, held in inner.items():
        identity = identity_for(part)
        own = {name: parameter for name, parameter in held.items() if id(parameter) in asked}
        if identity is not None and own and part not in _UNFIT:
            layers.append(Layer(part, identity, own))
    return layers
