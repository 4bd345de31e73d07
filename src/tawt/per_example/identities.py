"""‖∇_W ℓ_i‖² of a layer from what went in and what came back, W's gradient never made.

A linear layer's gradient is Σ_t δ_t a_tᵀ over an example's positions t, with a the inputs and δ the
gradients at the outputs. Its squared norm is Σ_ts ⟨a_t, a_s⟩⟨δ_t, δ_s⟩: of a size that has nothing
to do with the layer's. Tables, convolutions and norms have the like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor, nn

Squares = dict[str, Tensor]
"""Squared norms by the parameter's name in its layer, each of shape `(examples,)`."""

Identity = Callable[[Any, Tensor, Tensor], Squares]
"""From the layer, its inputs `(examples, …)` and the gradients at its outputs."""

_ENTRIES = 1 << 26  # of per-example gradients at a time, where they are made after all


def identity_for(layer: nn.Module) -> Identity | None:
    """The identity that holds for this layer, if there is one.

    Example:
        >>> identity_for(nn.Linear(2, 2)) is linear, identity_for(nn.Bilinear(2, 2, 2))
        (True, None)
    """
    if isinstance(layer, nn.Embedding):
        return None if layer.scale_grad_by_freq or layer.max_norm is not None else embedding
    if isinstance(layer, nn.Conv1d | nn.Conv2d):
        simple = layer.groups == 1 and layer.padding_mode == "zeros"
        return convolution if simple and not isinstance(layer.padding, str) else None
    kinds: list[tuple[type[nn.Module], Identity]] = [
        (nn.Linear, linear),
        (nn.LayerNorm, layer_norm),
        (nn.BatchNorm1d, batch_norm),
        (nn.BatchNorm2d, batch_norm),
    ]
    return next((identity for kind, identity in kinds if isinstance(layer, kind)), None)


def linear(layer: nn.Linear, inputs: Tensor, back: Tensor) -> Squares:
    """Of `(examples, …, features)`.

    Example:
        >>> linear(nn.Linear(2, 1), torch.tensor([[3.0, 4.0]]), torch.tensor([[2.0]]))
        {'weight': tensor([100.]), 'bias': tensor([4.])}
    """
    inputs, back = _positions(inputs), _positions(back)
    return {"weight": _outer(inputs, back), "bias": _squares(back.sum(1))}


def embedding(layer: nn.Embedding, inputs: Tensor, back: Tensor) -> Squares:
    """Of ids `(examples, …)`: positions with the same id add to the same row."""
    ids, back = inputs.reshape(len(inputs), -1), _positions(back)
    if layer.padding_idx is not None:
        back = back.masked_fill((ids == layer.padding_idx)[..., None], 0)
    same = ids[:, :, None] == ids[:, None, :]
    return {"weight": (torch.bmm(back, back.mT) * same).sum((1, 2))}


def convolution(layer: nn.Conv1d | nn.Conv2d, inputs: Tensor, back: Tensor) -> Squares:
    """Of `(examples, channels, …)`: a linear layer on the patches."""
    flat = isinstance(layer, nn.Conv1d)
    sizes = (layer.kernel_size, layer.dilation, layer.padding, layer.stride)
    filled = [(*neutral, *size) for neutral, size in zip(_NEUTRAL, sizes, strict=True)]
    settings = filled if flat else sizes
    patches = F.unfold(inputs.unsqueeze(2) if flat else inputs, *settings).mT
    back = back.flatten(2).mT
    return {"weight": _outer(patches, back), "bias": _squares(back.sum(1))}


_NEUTRAL = ((1,), (1,), (0,), (1,))  # kernel, dilation, padding, stride of a dimension of one


def layer_norm(layer: nn.LayerNorm, inputs: Tensor, back: Tensor) -> Squares:
    """Of `(examples, …, *normalised)`."""
    shape = layer.normalized_shape
    plain = F.layer_norm(inputs, shape, None, None, layer.eps)
    between = tuple(range(1, inputs.dim() - len(shape)))
    return _of_scale_and_shift(plain, back, between)


def batch_norm(layer: nn.BatchNorm1d, inputs: Tensor, back: Tensor) -> Squares:
    """Of `(examples, channels, …)` in evaluation mode, where examples do not meet."""
    mean, var = layer.running_mean, layer.running_var
    if mean is not None and var is not None:
        mean, var = mean.to(inputs.dtype), var.to(inputs.dtype)
    plain = F.batch_norm(inputs, mean, var, None, None, mean is None, 0.0, layer.eps)
    return _of_scale_and_shift(plain, back, tuple(range(2, inputs.dim())))


def _of_scale_and_shift(plain: Tensor, back: Tensor, between: tuple[int, ...]) -> Squares:
    weight, bias = plain * back, back
    if between:
        weight, bias = weight.sum(between), bias.sum(between)
    return {"weight": _squares(weight), "bias": _squares(bias)}


def _outer(inputs: Tensor, back: Tensor) -> Tensor:
    """‖Σ_t δ_t a_tᵀ‖² of each example, from `(examples, positions, features)` both."""
    _, positions, features = inputs.shape
    if positions == 1:
        return _squares(inputs) * _squares(back)
    if positions * (features + back.shape[2]) <= 2 * features * back.shape[2]:
        return (torch.bmm(inputs, inputs.mT) * torch.bmm(back, back.mT)).sum((1, 2))
    # Longer than the layer is wide: the gradient itself is the smaller.
    some = max(1, _ENTRIES // (features * back.shape[2]))
    parts = zip(torch.split(inputs, some), torch.split(back, some), strict=True)
    return torch.cat([_squares(torch.bmm(b.mT, a)) for a, b in parts])


def _positions(values: Tensor) -> Tensor:
    """`(examples, positions, features)`, whatever lies between the first and the last."""
    return values.reshape(len(values), -1, values.shape[-1])


def _squares(values: Tensor) -> Tensor:
    return values.flatten(1).square().sum(1)
