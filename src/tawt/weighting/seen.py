"""Training steps that were seen and not yet asked about: a few numbers each."""

from __future__ import annotations

import hashlib
import json
import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tawt.errors import TrainingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.ranks import Ranks

_MOST = 1024  # steps that are kept; where nobody asks about them, the oldest are forgotten
_FETCHED = 256  # steps after which numbers are fetched from the device, where they would pile up
_OFF = 1e-3  # by how much products of one gradient may differ between processes


@dataclass
class SeenStep:
    """What one step showed."""

    shares: dict[str, float]
    """What each task had of the step."""
    numbers: Tensor
    """⟨v, g⟩, ‖g‖² and ‖v‖², float64; parts of them where parameters are sharded."""
    new_direction: bool
    """Whether the direction was taken anew since the last step."""


@dataclass(frozen=True)
class Products:
    """The numbers of a step, of all processes together."""

    shares: dict[str, float]
    inner: float
    squared: float
    direction_squared: float
    new_direction: bool

    @property
    def is_finite(self) -> bool:
        """Whether the step says anything."""
        return all(map(math.isfinite, (self.inner, self.squared, self.direction_squared)))


class SeenSteps:
    """Steps in their order, no more than a thousand."""

    def __init__(self) -> None:
        self._steps: deque[SeenStep] = deque(maxlen=_MOST)
        self._added = 0

    def __len__(self) -> int:
        return len(self._steps)

    def add(self, step: SeenStep) -> None:
        """Keep a step, without waiting for the device but now and then."""
        self._steps.append(step)
        self._added += 1
        if self._added % _FETCHED == 0:
            for kept in self._steps:
                kept.numbers = kept.numbers.cpu()

    def taken(self, ranks: Ranks, *, copies: int | None) -> list[Products]:
        """The steps, which are then forgotten; the same in all processes.

        Args:
            ranks: The processes that train together.
            copies: Where parameters are sharded, how many processes have the same part.

        Raises:
            TrainingError: Processes have not seen the same steps.
        """
        steps = list(self._steps)
        if ranks.several:
            self._check_alike(steps, ranks)
        rows = _rows(steps)
        if ranks.several and steps:
            table = ranks.table(rows.reshape(-1)).reshape(ranks.size, len(steps), 3)
            if copies is None:
                _check_same(table)
            # Whole gradients are the same everywhere; parts add up, some of them several times.
            rows = table.sum(0) / (ranks.size if copies is None else copies)
        self._steps.clear()
        return [
            Products(step.shares, inner, squared, held, step.new_direction)
            for step, (inner, squared, held) in zip(steps, rows.tolist(), strict=True)
        ]

    @staticmethod
    def _check_alike(steps: Sequence[SeenStep], ranks: Ranks) -> None:
        text = json.dumps([step.shares for step in steps], sort_keys=True)
        digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
        table = ranks.table([float(len(steps)), float(digest)])
        if bool((table != table[0]).any()):
            counts = ", ".join(str(int(count)) for count in table[:, 0])
            raise TrainingError(
                f"Processes have not observed the same steps (numbers of steps: {counts}). Call "
                "`observe` in all of them after the same steps, on tasks that all draw alike, as a "
                "`Mixture` does."
            )

    def state(self, *, is_sharded: bool) -> list[Any]:
        """The steps as plain values; parts of numbers are this process's alone, and left out."""
        if is_sharded or not self._steps:
            return []
        rows = _rows(list(self._steps)).tolist()
        found, is_new = [], False
        for step, numbers in zip(self._steps, rows, strict=True):
            is_new = is_new or step.new_direction
            if all(map(math.isfinite, numbers)):  # others say nothing, and JSON has no word for it
                found.append([step.shares, numbers, is_new])
                is_new = False
        return found

    def load(self, state: Sequence[tuple[Mapping[str, float], Sequence[float], bool]]) -> None:
        """Inverse of `state`."""
        self._steps.clear()
        for shares, numbers, is_new in state:
            row = torch.tensor(numbers, dtype=torch.float64).reshape(3)
            self._steps.append(SeenStep(dict(shares), row, bool(is_new)))


def _rows(steps: Sequence[SeenStep]) -> Tensor:
    """The numbers of all steps on the CPU: one wait for the device."""
    if not steps:
        return torch.zeros(0, 3, dtype=torch.float64)
    home = steps[-1].numbers.device
    return torch.stack([step.numbers.to(home) for step in steps]).cpu()


def _check_same(table: Tensor) -> None:
    """Refuse gradients that nobody has averaged over the processes."""
    lengths = (table[0, :, 1] * table[0, :, 2]).sqrt()
    off = (table[:, :, 0] - table[0, :, 0]).abs().max(0).values
    if bool((off > _OFF * lengths).any()):  # false where a number is not finite
        raise TrainingError(
            "The gradients that were observed differ between processes. Call `observe` when they "
            "have been averaged: after the backward pass of DistributedDataParallel or FSDP2, and "
            "not inside `no_sync`."
        )
