"""Vectors and labels of a task's examples, made by one pass of a representation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from tawt.gradients import untouched, width
from tawt.probes import Items, OnPass, uncounted
from tawt.training.devices import moved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor, nn

    from tawt.tasks import Batch, Examples, Kind

_BATCH = 32


def gathered(
    representation: nn.Module,
    kind: Kind,
    examples: Examples,
    *,
    device: torch.device,
    positions: Tensor | None = None,
    on_pass: OnPass = uncounted,
) -> Items:
    """One pass over examples, without dropout and without a graph.

    Args:
        representation: φ.
        kind: Of the task.
        examples: Its examples.
        device: Where φ is.
        positions: Which examples; all by default.
        on_pass: Told after every batch.
    """
    vectors, labels = [], []
    with untouched([representation]), torch.no_grad():
        representation.eval()
        for batch in batches(examples, device=device, positions=positions):
            found, known = kind.items(representation(batch.inputs), batch.labels)
            vectors.append(found.to(width(found)).cpu())
            labels.append(known.cpu())
            on_pass(1)
    return Items(torch.cat(vectors), torch.cat(labels))


def batches(
    examples: Examples, *, device: torch.device, positions: Tensor | None = None
) -> Iterator[Batch]:
    """Examples in batches of about the same size, on the device."""
    order = torch.arange(len(examples)) if positions is None else positions
    for some in order.tensor_split(batch_count(len(order))):
        batch = examples.batch(some.numpy())
        yield type(batch)(moved(batch.inputs, device), moved(batch.labels, device))


def batch_count(size: int) -> int:
    """How many batches so many examples make.

    Example:
        >>> batch_count(100)
        4
    """
    return max(1, math.ceil(size / _BATCH))
