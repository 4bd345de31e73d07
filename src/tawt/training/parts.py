"""A batch in parts of like length: short examples are not padded to long ones.

A step is on a batch drawn at random, whatever the lengths of its examples. What it costs is the
places of the padded rows, so they are computed a part at a time and gradients are added up, which
is the same gradient. (Batches of like length would cost as little, but each would be of short
sentences or of long ones alone, and models learn less from such steps.)
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from torch import nn

if TYPE_CHECKING:
    import torch

    from tawt.tasks import Examples
    from tawt.tasks.examples import Indices

_CPU_PASS = 110.0  # places; a pass of MiniLM takes 60 ms, and 0.55 ms a place, on two cores
_GPU_PASS = 2.0**40  # there a pass takes as long for many places as for few
BATCH_NORMS = (
    *(nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm),
    *(nn.LazyBatchNorm1d, nn.LazyBatchNorm2d, nn.LazyBatchNorm3d),
)


@dataclass(frozen=True)
class Parts:
    """How batches are taken apart.

    Args:
        pass_cost: What a pass forward and back costs beyond what its places do, in places.
        most_rows: That a part may have, unless a single example has more; bounds memory where
            examples are in several rows.

    Example:
        >>> from tawt.tasks import Examples
        >>> class Words(Examples):
        ...     lengths = np.array([9, 100, 12, 10])
        ...     def __len__(self): return 4
        ...     def batch(self, indices): raise NotImplementedError
        >>> Parts(pass_cost=64, most_rows=32).of(Words(), np.array([3, 1, 0]))
        [array([2, 0]), array([1])]
    """

    pass_cost: float
    most_rows: int

    @classmethod
    def on(cls, device: torch.device, *, batch_size: int, model: nn.Module) -> Parts:
        """As suits the device and the model: statistics of a batch must be of the whole of it."""
        if any(isinstance(module, BATCH_NORMS) for module in model.modules()):
            return cls(pass_cost=math.inf, most_rows=sys.maxsize)
        if device.type == "cpu":
            return cls(_CPU_PASS, most_rows=batch_size)
        # Two batches' worth: parts of many sizes would be as many recordings.
        return cls(_GPU_PASS, most_rows=2 * batch_size)

    def of(self, examples: Examples, indices: Indices) -> list[Indices]:
        """The parts that cost least in all, each as places among the indices given."""
        everything = np.arange(len(indices))
        lengths, rows = examples.lengths, examples.rows
        if lengths is None or len(indices) == 0:
            return [everything]
        counts = np.ones(len(indices), int) if rows is None else rows[indices]
        if counts.sum() <= self.most_rows and counts.sum() * lengths[indices].max() <= (
            self.pass_cost
        ):  # no more is to be saved than another pass costs
            return [everything]
        order = np.argsort(lengths[indices], kind="stable")
        cuts = self._cuts(lengths[indices][order], counts[order])
        return np.split(order, cuts)

    def _cuts(self, lengths: Indices, rows: Indices) -> list[int]:
        """Where to cut examples that are sorted by length: the cheapest way to each, in turn."""
        before = np.concatenate([[0], np.cumsum(rows)])
        cheapest = np.zeros(len(lengths) + 1)
        begins = np.zeros(len(lengths) + 1, int)
        for end in range(1, len(lengths) + 1):
            inside = before[end] - before[:end]  # rows, were the last part to begin there
            costs = cheapest[:end] + self.pass_cost + lengths[end - 1] * inside
            costs[:-1][inside[:-1] > self.most_rows] = np.inf
            begins[end] = int(np.argmin(costs))
            cheapest[end] = costs[begins[end]]
        cuts: list[int] = []
        end = int(begins[-1])
        while end:
            cuts.append(end)
            end = int(begins[end])
        return cuts[::-1]
