"""Weights that explore one source at a time: EXP3, as in FLAD."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from tawt.errors import ConfigError, WeightsError, is_number, is_whole
from tawt.hypergradient import Cosine, Hypergradient, hypergradient
from tawt.streams import stream
from tawt.weighting.held_target import HeldTarget
from tawt.weighting.states import check_keys, checked_tensor, plain
from tawt.weights import SourceWeights

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import Tensor

    from tawt.hypergradient import LossOf
    from tawt.ranks import Ranks
    from tawt.weighting.rule import TargetShare


class Bandit(HeldTarget):
    """Learn the weights by trying one source an update, drawn by its weight.

        r = cos(∇L_a, ∇L_target)                        of the source a that was drawn
        R_a ← R_a + r / p_a                             p_a: its weight among the sources
        p ← (1 − γ) softmax(γ' R / k) + γ / k           γ' is the γ of before, k the sources

    An update takes two gradients, however many sources there are. Dividing by p_a makes R, in
    expectation, the sum of the rewards of every update for every source.

    This is EXP3 (Auer et al. 2002) with the rewards and the schedule of FLAD (Albalak et al. 2023,
    "Improving Few-Shot Generalization by Exploring and Exploiting Auxiliary Data"):
    γ = min(1, √(k ln k / t)) before the t-th update. What differs: a source is drawn for a
    measurement on a fresh batch, where FLAD draws the batches of training and measures these; all
    of the representation's gradient is compared; and rewards begin at zero, where FLAD measures
    every source once at the start. As in FLAD rewards may be negative, which EXP3 does not foresee.

    Weights start uniform, as they must: with γ = 1 nothing else is explored.

    Args:
        sources: Names of the source tasks, in a list.
        target: Name of the target, or several targets with the share each has of what is wanted.
        target_share: The share the target is held at in joint training, or `None`.
        exploration: γ, above 0 and at most 1, where it is to be held; FLAD's schedule by default.
        seed: Of the draws. That of an update depends on the seed and its number alone.

    Example:
        >>> x = torch.zeros(2, requires_grad=True)
        >>> ways = {"near": [2.0, 0.0], "far": [-1.0, 3.0], "goal": [1.0, 0.0]}
        >>> weights = Bandit(sources=["near", "far"], target="goal", target_share=None)
        >>> for _ in range(20):
        ...     update = weights.update([x], loss_of=lambda task: x @ torch.tensor(ways[task]))
        >>> len(update.alignments), weights["near"] > weights["far"]
        (1, True)
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        target: str | Mapping[str, float],
        target_share: TargetShare | None,
        exploration: float | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(sources=sources, target=target, target_share=target_share)
        if exploration is not None and not (is_number(exploration) and 0 < exploration <= 1):
            raise ConfigError(
                "`exploration` (γ) must be a number above 0 and at most 1, or None for FLAD's "
                f"schedule; got {exploration!r}."
            )
        if not is_whole(seed):
            raise ConfigError(f"`seed` must be a whole number; got {seed!r}.")
        self.exploration = None if exploration is None else float(exploration)
        self.seed = int(seed)
        self._rewards = torch.zeros(len(self.sources), dtype=torch.float64)

    @property
    def rule(self) -> object:
        """γ and the seed."""
        return self.exploration, self.seed

    def _measured(
        self, parameters: Sequence[Tensor], *, loss_of: LossOf, ranks: Ranks
    ) -> Hypergradient:
        arm = self._drawn()
        if ranks.several:  # processors differ in the last digit of a logarithm
            arm = int(ranks.from_first(torch.tensor(arm)))
        found = hypergradient(
            parameters,
            weights=SourceWeights.uniform([self.sources[arm]]),
            targets=self.target,
            loss_of=loss_of,
            alignment=Cosine(),
            ranks=ranks,
        )
        values = torch.zeros_like(self.weights.logs)
        values[arm] = found.alignments[0]
        measured = torch.arange(len(values)) == arm
        return replace(found, units=self.weights.units, alignments=values, measured=measured)

    def _drawn(self) -> int:
        """The position of a source, drawn by the weights.

        The largest sum of log weight and Gumbel noise is such a draw. Every source has a stream of
        its own, so the draw does not depend on their order.
        """
        number = self.history.updates + 1
        noise = [stream(self.seed, "bandit", number, name).gumbel() for name in self.sources]
        return int((self.own_shares + torch.tensor(noise, dtype=torch.float64)).argmax())

    def _moved(self, logs: Tensor, measured: Hypergradient) -> Tensor:
        number = self._moves + 1
        return exploring(
            self._rewarded(measured),
            exploration=self._exploration(number + 1),
            before=self._exploration(number),
        )

    def _rewarded(self, measured: Hypergradient) -> Tensor:
        """Rewards with that of the source that was measured added."""
        count = len(self.sources)
        won = measured.alignments[:count] / self.own_shares.exp()
        return self._rewards + torch.where(measured.measured[:count], won, 0.0)

    def _exploration(self, number: int) -> float:
        """γ before the update of this number."""
        count = len(self.sources)
        if self.exploration is not None:
            return self.exploration
        return min(1.0, math.sqrt(count * math.log(count) / number))

    def _accept(self, measured: Hypergradient, weights: SourceWeights) -> None:
        self._rewards = self._rewarded(measured)  # by the weights that the source was drawn by
        super()._accept(measured, weights)

    def state_dict(self) -> dict[str, Any]:
        """As `HeldTarget.state_dict`, and the rewards."""
        return {**super().state_dict(), "rewards": plain(self._rewards, finer=False)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly from a saved state, which is copied.

        Raises:
            WeightsError: It is not the state of such a weighting; nothing has changed then.
        """
        check_keys(state, ["rewards"])
        rewards = checked_tensor(state["rewards"], self._rewards, what="rewards")
        if not bool(torch.isfinite(rewards).all()):
            raise WeightsError(
                "`rewards` of the saved state must be finite; some are not. Load a state from "
                "before that."
            )
        super().load_state_dict(state)
        self._rewards = rewards


def exploring(rewards: Tensor, *, exploration: float, before: float) -> Tensor:
    """Logarithms of EXP3's probabilities.

    Args:
        rewards: Sums of importance-weighted rewards, one for each arm.
        exploration: γ, the share that the uniform distribution has.
        before: The γ that rewards are scaled by.

    Example:
        >>> exploring(torch.tensor([4.0, 0.0]), exploration=0.5, before=0.5).exp()
        tensor([0.6155, 0.3845])
    """
    count = len(rewards)
    greedy = torch.softmax(before * rewards / count, dim=0)
    return ((1 - exploration) * greedy + exploration / count).log()
