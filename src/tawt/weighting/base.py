"""What a training loop may ask of a weighting, whichever it is."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from tawt.errors import WeightsError, suggestion
from tawt.given import names_of, scalar_loss
from tawt.weighting.clipping import clip_weighed
from tawt.weighting.outcome import Outcome
from tawt.weighting.states import check_keys, check_names, checked_history, checked_logs, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch.distributed import ProcessGroup
    from torch.optim import Optimizer

    from tawt.hypergradient import LossesOf, LossOf
    from tawt.weighting.observing import Observer
    from tawt.weights import Finding, History, SourceWeights, WeightUpdate


class Weighting(ABC):
    """Weights on the sources, and the rule by which they move.

    Shares are read by name: `weighting["pos"]`, `for task in weighting`, `weighting.shares()`.

    Attributes:
        weights: The current weights; `weights.units` says what they are put on.
        history: Every update so far, in order; of more than 10,000, every second or fourth.
        target: The convex combination of targets, or none where nothing is learned.
    """

    weights: SourceWeights
    history: History
    target: dict[str, float]

    def __getitem__(self, task: str) -> float:
        return self.weights[task]

    def __iter__(self) -> Iterator[str]:
        return iter(self.weights)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.weights.shown()})"

    def shares(self) -> dict[str, float]:
        """ω_t by name: the share of the training objective that each task has now."""
        return self.weights.shares()

    @property
    def judges_sources(self) -> bool:
        """Whether what updates find of sources is told from chance, by parts of the target."""
        return False

    @property
    def goes_by_evidence(self) -> bool:
        """Whether weights follow how sure it is that a source leads, which halves tell."""
        return False

    def findings(self) -> dict[str, Finding]:
        """Whether each source helps or hurts, where that is known; see `Finding`."""
        return {}

    def outcome(self) -> Outcome:
        """Where the weights are now, and what was measured on the way there."""
        nothing = torch.full_like(self.weights.logs, torch.nan)
        return Outcome(weights=self.weights, mean_alignments=nothing)

    def combine(self, losses: Mapping[str, Tensor]) -> Tensor:
        """Σ ω_t L_t over the losses given, graph attached.

        Args:
            losses: Mean loss of each task on its batch, a scalar. Tasks may be left out, as when a
                step trains on some of them only (then clip with `clip_gradients`); a name without
                a weight is refused.
        """
        if not isinstance(losses, Mapping):
            raise WeightsError(
                f"`combine` needs the losses by name; got {type(losses).__name__}. Pass "
                '{"task": loss, …}.'
            )
        if not losses:
            raise WeightsError("`combine` needs at least one task's loss; got none.")
        shares = self._shares_of(losses)
        return torch.stack(
            [shares[name] * scalar_loss(loss, task=name) for name, loss in losses.items()]
        ).sum()

    def clip_gradients(
        self,
        parameters: nn.Module | Iterable[Tensor],
        *,
        max_norm: float,
        tasks: Iterable[str],
    ) -> Tensor:
        """Shorten gradients of a step on some of the tasks, without undoing their weights.

        A step on one task has the gradient ω_t ∇L_t. Bounding its norm by the same number in every
        step would make steps of a task with nine times the weight as long as the others'. Here the
        bound is scaled by the weights of the tasks in the step: what is clipped is the gradient
        before it was weighed. With all tasks in the step this is torch's `clip_grad_norm_`.

        Call it between `backward` and the optimiser's step, before the weights move again.

        Args:
            parameters: Whose `.grad` is clipped, in place; or a module.
            max_norm: Largest norm of the gradient before weights.
            tasks: Those that the step trained on, or the losses given to `combine`; if gradients
                of several batches were added up, once for each.

        Returns:
            The norm of the gradient before clipping, divided by the weights of the tasks.

        Example:
            >>> from tawt import Fixed
            >>> x = torch.zeros(1, requires_grad=True)
            >>> weights = Fixed(["a", "b"], initial={"a": 0.9, "b": 0.1})
            >>> loss = {"a": 100 * x.sum()}
            >>> weights.combine(loss).backward()
            >>> norm = weights.clip_gradients([x], max_norm=1.0, tasks=loss)
            >>> norm, x.grad
            (tensor(100.), tensor([0.9000]))
        """
        names = names_of(tasks, what="`tasks`")
        shares = self._shares_of(names)
        return clip_weighed(
            parameters, max_norm=max_norm, share=math.fsum(shares[name] for name in names)
        )

    def _shares_of(self, names: Iterable[str]) -> dict[str, float]:
        shares = self.weights.shares()
        for name in names:
            if name in self.target and name not in shares:
                raise WeightsError(
                    f"{name!r} is the target, which `target_share=None` (pre-training) leaves out "
                    "of the objective; leave its loss out, or set `target_share` (0.3, say) to "
                    "train on it beside the sources."
                )
            if name not in shares:
                raise WeightsError(
                    f"There is no weight for {name!r}; {suggestion(str(name), shares)}"
                )
        return shares

    @property
    def skipped(self) -> int:
        """How many updates were skipped; the history has the reason of each."""
        return self.history.skipped

    @property
    def failures(self) -> list[str]:
        """Why updates were skipped; one whose target had nothing left to learn has not failed."""
        return self.history.failures

    @property
    def asked_twice(self) -> frozenset[str]:
        """Tasks that an update asks for twice, wanting other examples the second time."""
        return frozenset()

    @property
    def needs_norms(self) -> bool:
        """Whether an update takes the gradient norms of single examples, where units are finer."""
        return False

    def follow(self, optimiser: Optimizer) -> None:  # noqa: B027 - most have no use for it
        """Hear which optimiser trains the representation, for a curvature that uses its state."""

    def observing(self) -> Observer | None:
        """What learns from the gradients of training steps; nothing, where weights do not move."""
        return None

    def aim(  # noqa: B027 - most have no use for it
        self,
        representation: nn.Module | Iterable[Tensor],
        *,
        loss_of: LossOf,
        touching: Iterable[nn.Module] = (),
        group: ProcessGroup | None = None,
    ) -> None:
        """Hold the target's gradient, for `observe` to compare those of training steps with."""

    def observe(  # noqa: B027 - the same
        self, representation: nn.Module | Iterable[Tensor], tasks: str | Mapping[str, float]
    ) -> None:
        """Learn from the gradient that a training step has left, before it is used and cleared."""

    @abstractmethod
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
    ) -> WeightUpdate | None:
        """Move the weights, if they move at all, and say what happened."""

    def state_dict(self) -> dict[str, Any]:
        """The weights and their history, in values that JSON knows; the rest is the constructor's.

        Numbers on tasks are lists, and on finer units text (base64 of their bytes). A round trip
        through JSON is exact.
        """
        return {
            "names": list(self.weights.names),
            "logs": plain(self.weights.logs, finer=bool(self.weights.units.finer)),
            # A tuple, which `torch.distributed.checkpoint` takes as one value: a list of mappings
            # it would take apart, and give back only what is in the history already.
            "history": tuple(update.to_json() for update in self.history),
            "left_out": self.history.left_out(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly from a saved state, which is copied.

        Raises:
            WeightsError: It is not the state of such a weighting; nothing has changed then.
        """
        self.weights, self.history = self._checked_state(state)

    def _checked_state(self, state: Mapping[str, Any]) -> tuple[SourceWeights, History]:
        """Copies of what the state holds, if it is one of this weighting."""
        check_keys(state, ["names", "logs", "history"])
        check_names(state["names"], self.weights.names)
        logs = checked_logs(state["logs"], self.weights.logs)
        history = checked_history(
            state["history"], self.weights.names, left_out=state.get("left_out")
        )
        return self.weights.restored(logs), history
