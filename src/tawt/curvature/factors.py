"""The Kronecker factors of a layer, from what went into it and what came back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from tawt.curvature.base import eigenvectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tawt.curvature.base import Vector
    from tawt.curvature.layers import Use

_AT_ONCE = 1 << 24  # entries of per-example gradients held at a time


class Call(NamedTuple):
    """One call of a layer, for all or some examples of a source."""

    inputs: Tensor
    """a, shape `(examples, places, in)`, with a column of ones for the bias."""
    gradients: Tensor
    """∂L_t/∂y, or what comes back to y if terms of the loss count the root of what they do; shape
    `(examples, places, out)`."""


class Source(NamedTuple):
    """What one source has to say about a layer."""

    share: float
    """ω_t."""
    examples: int
    """That its loss is the mean of; one, if that is in the gradients by its root."""
    calls: list[Call]

    def input_factor(self) -> Tensor:
        """E[a aᵀ] over the rows that reach the loss: padding does not."""
        rows = [call.inputs[call.gradients.any(dim=2)] for call in self.calls]
        return _squares(rows) / max(1, sum(map(len, rows)))

    def output_factor(self) -> Tensor:
        """E[g gᵀ] over examples, summed over places; g is of an example's own loss."""
        return _squares([call.gradients.flatten(0, 1) for call in self.calls]) * self.examples

    def second_moments(self, outputs: Tensor, inputs: Tensor) -> Tensor:
        """E[(uᵀ G v)²] of an example's gradient G, for all columns u and v; shape `(out, in)`."""
        total = outputs.new_zeros(outputs.shape[1], inputs.shape[1])
        for call in self.calls:
            left, right = call.gradients @ outputs, call.inputs @ inputs
            if left.shape[1] == 1:  # one place: the square of a product is the product of squares
                total += left.squeeze(1).square().T @ right.squeeze(1).square()
                continue
            for some, others in _pieces(left, right, entries=total.numel()):
                total += (some.mT @ others).square().sum(0)
        return total * self.examples


@dataclass
class Layer:
    """A layer's parameters, by their places among all, and what each source says about it."""

    weight: int | None
    bias: int | None
    sources: list[Source] = field(default_factory=list)

    @property
    def places(self) -> list[int]:
        """Of those parameters that are trained."""
        return [place for place in (self.weight, self.bias) if place is not None]


@dataclass(frozen=True)
class Spectrum:
    """A layer's curvature: eigenvalues, shape `(out, in)`, along pairs of eigenvectors."""

    values: Tensor
    outputs: Tensor
    """Eigenvectors of B as columns."""
    inputs: Tensor
    """Eigenvectors of A as columns."""

    def divide(self, entries: Vector, *, damping: float) -> None:
        """(curvature + λI)⁻¹ · entries, in place; of the layer's weight, its bias, or both."""
        whole = torch.cat([entry.reshape(len(entry), -1) for entry in entries], dim=1)
        inside = (self.outputs.T @ whole @ self.inputs) / (self.values + damping)
        widths = [entry.numel() // len(entry) for entry in entries]
        pieces = torch.split(self.outputs @ inside @ self.inputs.T, widths, dim=1)
        for entry, piece in zip(entries, pieces, strict=True):
            entry.copy_(piece.reshape(entry.shape))


def product_spectrum(layer: Layer) -> Spectrum:
    """Of A ⊗ B (K-FAC), A and B over all sources."""
    total = sum(source.share for source in layer.sources)
    a = _sum((source.share / total) * source.input_factor() for source in layer.sources)
    b = _sum(source.share * source.output_factor() for source in layer.sources)
    (in_values, inputs), (out_values, outputs) = eigenvectors(a), eigenvectors(b)
    values = torch.outer(out_values.clamp(min=0), in_values.clamp(min=0))
    return Spectrum(values, outputs, inputs)


def corrected_spectrum(layer: Layer) -> Spectrum:
    """The eigenvectors of A ⊗ B, with the curvature that is really found along each (EKFAC)."""
    basis = product_spectrum(layer)
    values = _sum(
        source.share * source.second_moments(basis.outputs, basis.inputs)
        for source in layer.sources
    )
    return replace(basis, values=values)


def layers_of(
    seen: Iterable[tuple[float, Sequence[Use], bool]], parameters: Sequence[Tensor]
) -> list[Layer]:
    """The layers, each once, with what every source says about them.

    Args:
        seen: For every source its ω_t, the calls of layers, gradients filled in, and whether terms
            of its loss counted the root of what they do.
        parameters: Those that are trained, frozen ones left out.
    """
    places = {id(parameter): place for place, parameter in enumerate(parameters)}
    layers: dict[int, Layer] = {}
    for share, uses, by_root in seen:
        calls: dict[int, list[Call]] = {}
        for use in uses:
            if use.gradients is None:  # it did not reach the loss
                continue
            layer, key = _layer(use, places, layers)
            inputs = _columns(use, layer, places.get(id(use.bias)))
            calls.setdefault(key, []).append(Call(inputs, use.gradients))
        # A source can come in parts, and a layer can be called twice for the same examples.
        examples = min((sum(len(c.inputs) for c in found) for found in calls.values()), default=0)
        for key, found in calls.items():
            layers[key].sources.append(Source(share, 1 if by_root else examples, found))
    return list(layers.values())


def _layer(use: Use, places: Mapping[int, int], layers: dict[int, Layer]) -> tuple[Layer, int]:
    """The layer that was called, made if it is new, and its key: its first trained parameter."""
    weight, bias = places.get(id(use.weight)), places.get(id(use.bias))
    key = bias if weight is None else weight
    assert key is not None
    if key not in layers:
        taken = bias in {layer.bias for layer in layers.values()}
        layers[key] = Layer(weight, None if taken else bias)
    return layers[key], key


def _columns(use: Use, layer: Layer, bias: int | None) -> Tensor:
    """What the layer's trained parameters are multiplied with."""
    columns = [] if layer.weight is None else [use.inputs]
    if layer.bias is not None:
        # A weight can be shared by layers with biases of their own; one of them is this layer's.
        ones = float(bias == layer.bias)
        columns.append(use.inputs.new_full((*use.inputs.shape[:2], 1), ones))
    return torch.cat(columns, dim=2)


def _sum(matrices: Iterable[Tensor]) -> Tensor:
    total: Tensor | None = None
    for matrix in matrices:
        total = matrix if total is None else total.add_(matrix)
    assert total is not None
    return total


def _squares(rows: Iterable[Tensor]) -> Tensor:
    return _sum(some.T @ some for some in rows)


def _pieces(left: Tensor, right: Tensor, *, entries: int) -> Iterator[tuple[Tensor, Tensor]]:
    count = max(1, _AT_ONCE // entries)
    return zip(torch.split(left, count), torch.split(right, count), strict=True)
