"""One step of the weights, and whether what it leads to are weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tawt import simplex
from tawt.errors import WeightsError

if TYPE_CHECKING:
    from torch import Tensor

    from tawt.weighting.rule import UpdateRule

_FAR = 1e3  # from zero: where logarithms begin to lack digits
_EXPLORED = math.log(0.02)
"""A probability that every source is given, so that its head goes on learning and can be measured
through."""
_LOST = -100.0  # the logarithm of a weight that is nothing beside one, in float64 too
_OFF = {torch.float64: 1e-9, torch.float32: 1e-4}
"""By how much rounding may change a sum of weights."""


@dataclass(frozen=True, kw_only=True)
class Stepping:
    """How weights move under a rule, inside their bounds.

    Args:
        rule: How they move.
        initial: Logarithms of the weights they started from.
        members: Which weights are those of targets; boolean.
        share: The range that the targets' share is kept in.
        by_size: Whether the ratio bound is on how far weights move apart from where they started,
            as for units of a task, which start by their sizes.
    """

    rule: UpdateRule
    initial: Tensor
    members: Tensor
    share: tuple[float, float]
    by_size: bool

    @property
    def competing(self) -> Tensor:
        """Which weights are compared with each other; a share that is held is in no competition."""
        low, high = self.share
        return ~self.members if low == high else torch.ones_like(self.members)

    def placed(self, scores: Tensor) -> Tensor:
        """Logarithms of the weights that leads in units of their errors give.

        Each is in proportion to where it began, and to the probability that its lead is positive.
        Those that compete have together what they began with.

        Args:
            scores: Of each weight; one that does not compete has none.
        """
        logs = self._in_proportion(scores)
        return logs if self._stays_inside else self.allowed(logs)

    def placed_rows(self, scores: Tensor) -> Tensor:
        """The weights themselves, of many scores at once.

        Args:
            scores: Shape `(rows, weights)`.
        """
        logs = self._in_proportion(scores)
        if self._stays_inside:
            return logs.double().exp()
        low, high = self.share
        bound = self.rule.ratio_bound
        if bound is not None:
            bounded = torch.ones_like(self.members) if self._is_free else ~self.members
            total = torch.logsumexp(logs[:, bounded], -1, keepdim=True)
            logs[:, bounded] = simplex.bounded_rows(logs[:, bounded] - total, beta=bound) + total
        weights = logs.double().exp()
        share = weights[:, self.members].sum(-1, keepdim=True)
        wanted = share.clamp(low, high)
        by = torch.where(self.members, wanted / share, (1 - wanted) / (1 - share))
        return weights * by.where((share > 0) & (share < 1), 1.0)

    def _in_proportion(self, scores: Tensor) -> Tensor:
        competing = self.competing
        chances = torch.special.log_ndtr(scores.double())
        chances = torch.logaddexp(chances, torch.full_like(chances, _EXPLORED)).to(self.initial)
        together = self.initial[competing].logsumexp(0)
        logs = self.initial.expand(scores.shape).clone()
        logs[..., competing] = together + torch.log_softmax((logs + chances)[..., competing], -1)
        return logs

    @property
    def _stays_inside(self) -> bool:
        """Whether the probabilities alone lead to weights that are allowed."""
        in_range = bool(self.competing.all()) and bool(self.members.any())
        return self.rule.ratio_bound is None and not in_range

    @property
    def _is_free(self) -> bool:
        return self.share == (0.0, 1.0)

    def moved(self, logs: Tensor, gradient: Tensor) -> Tensor:
        """Logarithms of the weights after a step."""
        start = simplex.anchored(logs, self.initial, share=self.rule.anchor)
        return self.allowed(self._mirrored(start, gradient))

    def _mirrored(self, start: Tensor, gradient: Tensor) -> Tensor:
        """A mirror step, after which sources and targets that get a share back have their digits.

        Beside the other side, all of one that is all but lost are alike. So they are compared with
        each other alone, and the side is put where it is still nothing, but can be told apart.
        """
        size = self.rule.step_size
        logs = simplex.mirror_step(start, gradient, step_size=size)
        low, high = self.share
        for side, gets_back in ((self.members, low > 0), (~self.members, high < 1)):
            lost = gets_back and bool(side.any()) and bool((logs[side] < -_FAR).all())
            if lost and bool((start[side] > -math.inf).any()):
                within = simplex.mirror_step(start[side], gradient[side], step_size=size)
                logs[side] = within + _LOST
        return logs

    def allowed(self, logs: Tensor) -> Tensor:
        """The nearest weights that respect the ratio bound and the targets' share."""
        low, high = self.share
        free = self._is_free
        if self.rule.ratio_bound is not None:
            # A share that is held by hand is not a ratio that was learned: bound the rest alone.
            bounded = torch.ones_like(self.members) if free else ~self.members
            total = torch.logsumexp(logs[bounded], dim=0)
            if total > -math.inf:  # a target with everything leaves nothing to bound
                base = self.initial[bounded] if self.by_size else None
                inside = simplex.bounded(
                    logs[bounded] - total, beta=self.rule.ratio_bound, base=base
                )
                logs = logs.clone()
                logs[bounded] = inside + total
        return logs if free else simplex.with_share(logs, self.members, low=low, high=high)

    def problem(self, logs: Tensor) -> str | None:
        """Why these are not logarithms of weights that may be, if they are not."""
        if bool(torch.isnan(logs).any() | (logs == math.inf).any()):
            return "the step leads to weights that are not finite"
        off, total = _OFF[logs.dtype], float(logs.double().exp().sum())
        if abs(total - 1) > off:
            return f"the step leads to weights that sum to {total:.6g}"
        share = self.share_of_targets(logs)
        if self.holds(share, off=off):
            return None
        return f"the step leads to a share of {share:.6g} for the target"

    def share_of_targets(self, logs: Tensor) -> float:
        """What the targets have of these weights."""
        return float(logs[self.members].double().exp().sum())

    def check_share(self, logs: Tensor) -> None:
        """Refuse saved weights that give the targets more or less than they may have.

        Raises:
            WeightsError: They do.
        """
        share = self.share_of_targets(logs)
        if not self.holds(share, off=1e-4):
            low, high = self.share
            allowed = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            raise WeightsError(
                f"The saved weights give the target {share:.4g}, but `target_share` is {allowed}. "
                "Build the weighting with the same share."
            )

    def holds(self, share: float, *, off: float) -> bool:
        """Whether the targets may have this share; they may have none where they are not weighed.

        Args:
            share: What they have.
            off: By how much it may be off.
        """
        low, high = self.share
        return not bool(self.members.any()) or low - off <= share <= high + off
