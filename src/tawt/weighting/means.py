"""The mean of what was measured of each unit, over all updates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tawt.errors import WeightsError
from tawt.weighting.states import check_keys, checked_tensor, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.hypergradient import Hypergradient


@dataclass
class MeanAlignments:
    """Mean alignment of each unit, over the updates that measured it."""

    values: Tensor
    times: Tensor
    """How many updates measured it."""

    @classmethod
    def none(cls, like: Tensor) -> MeanAlignments:
        """Before the first update."""
        return cls(torch.zeros_like(like), torch.zeros_like(like, dtype=torch.int32))

    def take(self, measured: Hypergradient) -> None:
        """Count what was measured into the means."""
        self.times += measured.measured
        times = self.times.clamp(min=1)
        change = (measured.alignments - self.values) / times
        if not bool(torch.isfinite(change).all()):  # their difference has overflowed
            change = measured.alignments / times - self.values / times
        self.values += torch.where(measured.measured, change, 0.0)

    def state(self, *, finer: bool) -> dict[str, Any]:
        """As they are saved; see `plain`."""
        return {
            "mean_alignments": plain(self.values, finer=finer),
            "measured": plain(self.times, finer=finer),
        }

    def restored(self, state: Mapping[str, Any]) -> MeanAlignments:
        """Copies of the means of a saved state, if that is what they are.

        Raises:
            WeightsError: They are not.
        """
        check_keys(state, ["mean_alignments", "measured"])
        values = checked_tensor(state["mean_alignments"], self.values, what="mean_alignments")
        times = checked_tensor(state["measured"], self.times, what="measured")
        if not bool(torch.isfinite(values).all() & (times >= 0).all()):
            raise WeightsError(
                "`mean_alignments` of the saved state must be finite, and `measured` counts; some "
                "are not. Load a state from before that."
            )
        return MeanAlignments(values, times)
