"""Weightings that move the weights of the sources alone."""

from __future__ import annotations

import logging
import math
from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch

from tawt.errors import ConfigError, TrainingError, WeightsError, is_number, is_whole
from tawt.given import names_of
from tawt.ranks import Ranks
from tawt.weighting.base import Weighting
from tawt.weighting.halves import check_half, way_of
from tawt.weighting.means import MeanAlignments
from tawt.weighting.outcome import Outcome
from tawt.weighting.skipping import reason_to_skip
from tawt.weighting.starting import check_roles, convex, initial_weights
from tawt.weighting.states import check_keys, checked_tensor, plain
from tawt.weighting.together import measuring_together
from tawt.weighting.writing import plain_numbers, written
from tawt.weights import History

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torch import Tensor, nn
    from torch.distributed import ProcessGroup

    from tawt.hypergradient import Hypergradient, LossesOf, LossOf
    from tawt.weighting.rule import TargetShare
    from tawt.weights import Initial, SourceWeights, WeightUpdate

_log = logging.getLogger(__name__)


class HeldTarget(Weighting):
    """A weighting that moves the sources' weights, on fresh batches, and holds the target's share.

    A subclass says what is measured (`_measured`) and where the weights of the sources, among
    themselves, go from there (`_moved`).

    Args:
        sources: Names of the source tasks, in a list: a state is of tasks in their order.
        target: Name of the target, or several targets with the share each has of what is wanted;
            none where nothing is compared with a target.
        target_share: What the target has of the objective in joint training, a number above 0 and
            below 1; `None` where it is not trained on beside the sources.
        initial: Where weights start, as for `TargetAware`.
        sizes: Number of training examples of each task that is weighed.
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        target: str | Mapping[str, float] | None,
        target_share: TargetShare | None,
        initial: Initial = "uniform",
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self.sources = tuple(names_of(sources, what="`sources`"))
        self.target = _targets(target)
        check_roles(self.sources, self.target)
        self.target_share = held_share(target_share)
        if self.target_share is not None and not self.target:
            raise WeightsError("`target_share` is given, but no `target` that has it; name one.")
        weighed = [] if self.target_share is None else [*self.target]
        self.weights = initial_weights(
            [*self.sources, *weighed],
            initial,
            sizes=sizes,
            target=self.target,
            target_share=self.target_share,
        )
        self.history = History()
        self._means = MeanAlignments.none(self.weights.logs)
        self._moves = 0
        self._sum = torch.zeros_like(self.weights.logs)

    @property
    @abstractmethod
    def rule(self) -> object:
        """How weights move: settings that must not differ between processes."""

    @abstractmethod
    def _measured(
        self, parameters: Sequence[Tensor], *, loss_of: LossOf, ranks: Ranks
    ) -> Hypergradient:
        """What the weights are to move by, of every task that is weighed."""

    @abstractmethod
    def _moved(self, logs: Tensor, measured: Hypergradient) -> Tensor:
        """Logarithms of the weights of the sources among themselves, after an update.

        Args:
            logs: The same before it; they are of weights that sum to one.
            measured: What was found; the sources come first in it.
        """

    def _problem(self, measured: Hypergradient) -> str | None:
        """Why what was measured cannot move the weights, if it cannot."""
        return reason_to_skip(measured, self.target, first=not self.history.updates)

    def _accept(self, measured: Hypergradient, weights: SourceWeights) -> None:
        """Go on from these weights."""
        self.weights = weights
        self._means.take(measured)
        self._moves += 1
        self._sum = self._sum + weights.logs.exp()

    @property
    def own_shares(self) -> Tensor:
        """Logarithms of the weights that the sources have among themselves."""
        return torch.log_softmax(self.weights.logs[: len(self.sources)], dim=0)

    def outcome(self) -> Outcome:
        """Where the weights are now, and the mean of what was measured on the way there."""
        return Outcome(weights=self.weights, mean_alignments=self._means.known())

    def average(self) -> dict[str, float]:
        """The mean of the weights over all updates; before the first, where weights start."""
        if not self._moves:
            return self.shares()
        means = (self._sum / self._moves).tolist()
        return dict(zip(self.weights.names, means, strict=True))

    def observing(self) -> None:
        """Refuse to learn from training steps.

        Raises:
            WeightsError: Always.
        """
        raise WeightsError(
            f"{type(self).__name__} measures on fresh batches, not by training steps: pass the "
            "representation and `loss_of` to `update`; in a configuration, `training.measure: "
            "fresh batches`."
        )

    def update(
        self,
        representation: nn.Module | Iterable[Tensor] | None = None,
        *,
        loss_of: LossOf | None = None,
        losses_of: LossesOf | None = None,
        step: int | None = None,
        touching: Iterable[nn.Module] = (),
        group: ProcessGroup | None = None,
        target_half: int | None = None,
    ) -> WeightUpdate:
        """Measure the sources on fresh batches and move their weights.

        Arguments, what is left as it was, what is skipped and what several processes do are as for
        `TargetAware.update`; `losses_of` is not used.
        """
        check_half(target_half)
        ranks = Ranks.of(group)
        if loss_of is None:
            raise TrainingError(
                f"{type(self).__name__} measures on fresh batches; pass the representation and "
                "`loss_of` to `update`."
            )
        together = measuring_together(
            self, representation, touching=touching, ranks=ranks, way=way_of(target_half)
        )
        with together as (parameters, _):
            measured = self._measured(parameters, loss_of=loss_of, ranks=ranks)
        reason = self._problem(measured)
        if reason is None:
            logs = self._logs_after(measured)
            # Processors differ in the last digit of an exponential, and a drift is refused.
            logs = ranks.from_first(logs) if ranks.several else logs
            reason = _problem_with(logs)
            if reason is None:
                self._accept(measured, self.weights.moved(logs))
        number = self.history.updates + 1 if step is None else step
        if reason is not None:
            _log.warning("update %d skipped: %s", number, reason)
        line = written(self.weights, measured, step=number, skipped=reason, target_half=target_half)
        self.history.append(replace(line, losses=plain_numbers(measured.losses)))
        return self.history[-1]

    def _logs_after(self, measured: Hypergradient) -> Tensor:
        """Logarithms of all weights after an update, the target's as they were."""
        rest = 0.0 if self.target_share is None else math.log1p(-self.target_share)
        logs = self.weights.logs.clone()
        logs[: len(self.sources)] = self._moved(self.own_shares, measured) + rest
        return logs

    def state_dict(self) -> dict[str, Any]:
        """As `Weighting.state_dict`, and the means of weights and of what was measured."""
        return {
            **super().state_dict(),
            **self._means.state(finer=False),
            "moves": self._moves,
            "sum_of_weights": plain(self._sum, finer=False),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly from a saved state, which is copied.

        Raises:
            WeightsError: It is not the state of such a weighting; nothing has changed then.
        """
        weights, history = self._checked_state(state)
        self._check_share(weights)
        means = self._means.restored(state)
        check_keys(state, ["moves", "sum_of_weights"])
        moves, total = state["moves"], state["sum_of_weights"]
        total = checked_tensor(total, self._sum, what="sum_of_weights")
        if not (is_whole(moves) and moves >= 0) or not bool(torch.isfinite(total).all()):
            raise WeightsError(
                "`moves` of the saved state must be a count, and `sum_of_weights` finite; got "
                f"{moves!r} and {total.tolist()}. Load a state from before that."
            )
        self.weights, self.history, self._means = weights, history, means
        self._moves, self._sum = int(moves), total

    def _check_share(self, weights: SourceWeights) -> None:
        found = math.fsum(weights[name] for name in self.target if name in weights.names)
        if abs(found - (self.target_share or 0.0)) > 1e-4:
            raise WeightsError(
                f"The saved weights give the target {found:.4g}, but `target_share` is "
                f"{self.target_share}. Build the weighting with the same share."
            )


def held_share(target_share: TargetShare | None) -> float | None:
    """The target's share, if it is one that is held.

    Raises:
        ConfigError: It is "learned", a range, or leaves nothing to one side.

    Example:
        >>> held_share(0.3), held_share(None)
        (0.3, None)
    """
    if target_share is None:
        return None
    if not (is_number(target_share) and 0 < target_share < 1):
        raise ConfigError(
            "`target_share` must be a number above 0 and below 1, or None where the target is not "
            f"trained on: weights of sources alone move; got {target_share!r}."
        )
    return float(target_share)


def _targets(target: str | Mapping[str, float] | None) -> dict[str, float]:
    if target is None:
        return {}
    return {target: 1.0} if isinstance(target, str) else convex(target)


def _problem_with(logs: Tensor) -> str | None:
    """Why these are not logarithms of weights, if they are not."""
    total = float(logs.exp().sum())
    if math.isfinite(total) and abs(total - 1) < 1e-9:
        return None
    return f"the step leads to weights that sum to {total:.6g}"
