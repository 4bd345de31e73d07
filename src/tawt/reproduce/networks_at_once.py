"""Networks of one shape trained side by side, every layer of all of them one batched product.

A network is a list of layers with ReLU between them; a layer is a weight, shape `(networks, in,
out)`, and a bias, shape `(networks, 1, out)`. Adam works on each number by itself, so that one
step on the sum of the networks' losses is, for each network, the step it would take alone.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Layer = tuple[Tensor, Tensor]

_AT_ONCE = 1000  # inputs measured at a time: 11 networks of 4096 hidden neurons hold 180 MB then


def initial_layers(
    sizes: Sequence[int], generators: Sequence[torch.Generator], *, device: torch.device
) -> list[Layer]:
    """Layers as `torch.nn.Linear` begins them: uniform within one over the root of the inputs.

    Args:
        sizes: Of the inputs, of what is between the layers, and of the outputs.
        generators: One for each network, on the CPU: the values are the same on every device.
        device: Where the layers will be.

    Example:
        >>> layers = initial_layers([5, 8, 3], [torch.Generator()] * 2, device=torch.device("cpu"))
        >>> [tuple(weight.shape) for weight, _ in layers]
        [(2, 5, 8), (2, 8, 3)]
    """
    layers = []
    for width, out in pairwise(sizes):
        bound = 1 / math.sqrt(width)
        drawn = [torch.rand(width + 1, out, generator=one) for one in generators]
        values = ((2 * torch.stack(drawn) - 1) * bound).to(device)
        layers.append((values[:, :-1].contiguous(), values[:, -1:].contiguous()))
    return layers


def outputs(layers: Sequence[Layer], inputs: Tensor) -> Tensor:
    """What the last layer says, shape `(networks, examples, out)`.

    Args:
        layers: Of all networks.
        inputs: Shape `(networks, examples, in)`.

    Example:
        >>> swap = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]]), torch.zeros(1, 1, 2)
        >>> outputs([swap, swap], torch.tensor([[[3.0, -4.0]]]))
        tensor([[[3., 0.]]])
    """
    (weight, bias), *rest = layers
    values = torch.baddbmm(bias, inputs, weight)
    for weight, bias in rest:
        values = torch.baddbmm(bias, values.relu(), weight)
    return values


def training(
    layers: Sequence[Layer],
    inputs: Tensor,
    labels: Tensor,
    *,
    orders: Iterable[Tensor],
    batch_size: int,
    learning_rate: float,
    on_step: Callable[[float], None] = lambda done: None,
) -> Iterator[int]:
    """Train all networks with Adam, in place; yields the epochs done after each of them.

    Args:
        layers: Of all networks.
        inputs: The same for all, shape `(examples, in)`, kept once; or each network's own, shape
            `(networks, examples, in)`.
        labels: Of each network, shape `(networks, examples)`.
        orders: For each epoch, the order in which each network sees the examples, shape
            `(networks, examples)`.
        batch_size: Examples of each network in a step; the last step of an epoch may have fewer.
        learning_rate: Adam's.
        on_step: Told the epochs done after each step, whole and in part.

    Example:
        >>> layers = initial_layers([2, 2], [torch.Generator()] * 3, device=torch.device("cpu"))
        >>> inputs, labels = torch.eye(2), torch.tensor([[0, 1]] * 3)
        >>> orders = [torch.tensor([[0, 1], [1, 0], [0, 1]])] * 50
        >>> for epoch in training(
        ...     layers, inputs, labels, orders=orders, batch_size=1, learning_rate=0.1
        ... ):
        ...     pass
        >>> epoch, predicted(layers, inputs).tolist()
        (50, [[0, 1], [0, 1], [0, 1]])
    """
    parameters = [tensor.requires_grad_() for layer in layers for tensor in layer]
    device = parameters[0].device
    fused = device.type in {"cpu", "cuda"}
    optimiser = torch.optim.Adam(parameters, lr=learning_rate, fused=fused)
    rows = torch.arange(len(labels), device=device)[:, None]
    try:
        for epoch, order in enumerate(orders, start=1):
            batches = torch.split(order.to(device), batch_size, dim=1)
            for step, picked in enumerate(batches, start=1):
                batch = inputs[picked] if inputs.ndim == 2 else inputs[rows, picked]
                losses = _losses(outputs(layers, batch), labels[rows, picked])
                optimiser.zero_grad()
                torch.autograd.backward(losses.mean(dim=1).sum())
                optimiser.step()
                on_step(epoch - 1 + step / len(batches))
            yield epoch
    finally:  # the caller may have seen enough before the last epoch
        for parameter in parameters:
            parameter.requires_grad_(False).grad = None


@torch.no_grad()
def predicted(layers: Sequence[Layer], inputs: Tensor) -> Tensor:
    """The class each network gives each input of shape `(examples, in)`; `(networks, examples)`.

    Example:
        >>> swap = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]]), torch.zeros(1, 1, 2)
        >>> predicted([swap], torch.eye(2))
        tensor([[1, 0]])
    """
    parts = [outputs(layers, part).argmax(dim=2) for part in _parts(layers, inputs)]
    return torch.cat(parts, dim=1)


@torch.no_grad()
def measured(layers: Sequence[Layer], inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Accuracy and mean loss of each network, two vectors of shape `(networks,)`, on the CPU.

    Args:
        layers: Of all networks.
        inputs: The same for all, shape `(examples, in)`.
        labels: Of each network, shape `(networks, examples)`.

    Example:
        >>> swap = torch.tensor([[[0.0, 9.0], [9.0, 0.0]]]), torch.zeros(1, 1, 2)
        >>> accuracy, loss = measured([swap], torch.eye(2), torch.tensor([[1, 1]]))
        >>> accuracy.tolist(), loss.round(decimals=3).tolist()
        ([0.5], [4.5])
    """
    hits = torch.zeros(len(labels), device=labels.device, dtype=torch.long)
    loss = layers[0][0].new_zeros(len(labels))
    many = torch.split(labels, _AT_ONCE, dim=1)
    for part, wanted in zip(_parts(layers, inputs), many, strict=True):
        logits = outputs(layers, part)
        hits += (logits.argmax(dim=2) == wanted).sum(dim=1)
        loss += _losses(logits, wanted).sum(dim=1)
    return hits.cpu().double() / len(inputs), loss.cpu().double() / len(inputs)


@torch.no_grad()
def features(layer: Layer, inputs: Tensor) -> Tensor:
    """What a first layer, ReLU after it, makes of inputs; `(networks, examples, out)`.

    Example:
        >>> swap = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]]), torch.zeros(1, 1, 2)
        >>> features(swap, torch.tensor([[3.0, -4.0]]))
        tensor([[[0., 3.]]])
    """
    weight, _ = layer
    found = weight.new_empty(len(weight), len(inputs), weight.shape[2])
    many = torch.split(found, _AT_ONCE, dim=1)
    for part, into in zip(_parts([layer], inputs), many, strict=True):
        into.copy_(outputs([layer], part).relu_())
    return found


@contextmanager
def fast_products(device: torch.device) -> Iterator[None]:
    """TF32 in the matrix products of a CUDA device, and what was before it afterwards."""
    if device.type != "cuda":
        yield
        return
    products = torch.backends.cuda.matmul
    before = products.fp32_precision
    products.fp32_precision = "tf32"
    try:
        yield
    finally:
        products.fp32_precision = before


def _losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Cross-entropy of each example, shape `(networks, examples)`."""
    losses = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="none")
    return losses.view_as(labels)


def _parts(layers: Sequence[Layer], inputs: Tensor) -> Iterator[Tensor]:
    """The inputs a few at a time, as every network's without being copied."""
    for part in torch.split(inputs, _AT_ONCE):
        yield part.expand(len(layers[0][0]), -1, -1)
