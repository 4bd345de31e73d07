"""Linear layers in forward mode with the products that are needed, and no others.

torch's own formula adds two products, makes a tensor for each and multiplies by zeros where the
inputs or the weight have no tangent. Where the inputs are data, as in a first layer, that is a
third of the work; elsewhere the sum costs as much as an activation function.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor, nn


def lean_linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:  # noqa: A002
    """As `torch.nn.functional.linear`, autocast included, and differentiated without waste.

    Example:
        >>> lean_linear(torch.tensor([5.0, 7.0]), torch.tensor([[2.0, 3.0]]))
        tensor([31.])
    """
    if not _is_usual(input, weight, bias):
        return F.linear(input, weight, bias)
    rows = input.reshape(-1, input.shape[-1])
    given = [_as_autocast(rows), _as_autocast(weight), bias if bias is None else _as_autocast(bias)]
    found: Tensor = _Linear.apply(*given)  # type: ignore[no-untyped-call]
    return found.view(*input.shape[:-1], len(weight))


def _is_usual(rows: Tensor, weight: Tensor, bias: Tensor | None) -> bool:
    kinds = {type(value) for value in (rows, weight, bias)}
    return kinds <= {Tensor, nn.Parameter, type(None)} and weight.dim() == 2


def _as_autocast(given: Tensor) -> Tensor:
    """As autocast would pass it on, which does not see what is computed in a function's place."""
    kind = given.device.type
    fits = given.is_floating_point() and given.dtype != torch.float64
    if not fits or not torch.is_autocast_enabled(kind):
        return given
    return given.to(torch.get_autocast_dtype(kind))


class _Linear(torch.autograd.Function):
    # In one with the context: apart from it, every call would inspect the signature.
    @staticmethod
    def forward(ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_forward(rows, weight)
        ctx.set_materialize_grads(False)
        return _affine(rows, weight, bias)

    @staticmethod
    def jvp(
        ctx: Any, rows: Tensor | None, weight: Tensor | None, bias: Tensor | None
    ) -> Tensor | None:
        rows_at, weight_at = ctx.saved_tensors
        if weight is not None:
            found = _affine(rows_at, weight, bias)
            return found if rows is None else found.addmm_(rows, weight_at.mT)
        if rows is not None:
            return _affine(rows, weight_at, bias)
        return None if bias is None else bias.expand(len(rows_at), -1)


def _affine(rows: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """As `F.linear`, which on a CPU writes the bias into every row before it multiplies."""
    if bias is None or not rows.is_cpu or not rows.dtype == weight.dtype == bias.dtype:
        return F.linear(rows, weight, bias)
    return F.linear(rows, weight).add_(bias)
