"""Weights that follow the target: the method of the paper."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from tawt.errors import WeightsError
from tawt.given import names_of
from tawt.gradients import untouched
from tawt.hypergradient import Hypergradient, LossesOf, LossOf, OwnAlignment, hypergradient
from tawt.ranks import Ranks
from tawt.units import Units
from tawt.weighting.agreeing import check_alike, fingerprint_of
from tawt.weighting.base import Weighting
from tawt.weighting.measurable import measurable
from tawt.weighting.outcome import Outcome
from tawt.weighting.rule import (
    TargetShare,
    UpdateRule,
    checked_rule,
    plain_share,
    share_range,
)
from tawt.weighting.skipping import reason_to_skip
from tawt.weighting.starting import check_ratio, check_roles, convex, initial_weights
from tawt.weighting.states import check_keys, check_names, checked_means, plain
from tawt.weighting.stepping import Stepping
from tawt.weighting.writing import written
from tawt.weights import History, Initial, SourceWeights, WeightUpdate, known_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch.distributed import ProcessGroup
    from torch.optim import Optimizer

_log = logging.getLogger(__name__)


class TargetAware(Weighting):
    """Learn the weights, by how well each source's gradient agrees with the target's.

    Gradients of the target pass through its head, so the head must be trained. In joint training it
    is, beside the sources. With `target_share=None` (pre-training) the target is not among the
    tasks trained on: fit its head before each update, on the representation as it then is, and
    fine-tune the whole model on the target at the end.

    Args:
        sources: Names of the source tasks, in a list: a state is of tasks in their order.
        target: Name of the target, or several targets with the share each has of what is wanted.
        target_share: `None` for pre-training. In joint training the target is one of the tasks
            weighed: a number holds its share, a range keeps it inside, "learned" lets it compete
            with the sources as in the paper.
        initial: "uniform", "proportional" (needs `sizes`), or a mapping from task to weight.
        sizes: Number of training examples of each task that is weighed.
        rule: How the weights move.
        units: What the sources' weights are put on, if not on whole tasks:
            `Units.of_examples(sizes)`, or `Units.of_groups(labels)`. `initial` is still by task:
            examples of a task start equal.

    Example:
        >>> _ = torch.manual_seed(0)
        >>> draw = torch.Generator().manual_seed(0)
        >>> encoder = nn.Linear(8, 16)
        >>> heads = nn.ModuleDict({name: nn.Linear(16, 2) for name in ("near", "far", "goal")})
        >>> optimiser = torch.optim.SGD([*encoder.parameters(), *heads.parameters()], lr=0.1)
        >>> def loss_of(task):  # labels of "near" and "goal" depend on the inputs
        ...     inputs, noise = torch.randn(2, 32, 8, generator=draw)
        ...     labels = (noise if task == "far" else inputs)[:, 0] > 0
        ...     return nn.functional.cross_entropy(heads[task](encoder(inputs)), labels.long())

        >>> weights = TargetAware(sources=["near", "far"], target="goal", target_share=0.3)
        >>> for step in range(1, 101):
        ...     loss = weights.combine({task: loss_of(task) for task in weights})
        ...     optimiser.zero_grad()
        ...     loss.backward()
        ...     optimiser.step()
        ...     if step % 5 == 0:
        ...         update = weights.update(encoder, loss_of=loss_of)
        >>> weights["near"] > 2 * weights["far"], round(weights["goal"], 6)
        (True, 0.3)
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        target: str | Mapping[str, float],
        target_share: TargetShare | None,
        initial: Initial = "uniform",
        sizes: Mapping[str, int] | None = None,
        rule: UpdateRule | None = None,
        units: Units | None = None,
    ) -> None:
        sources = names_of(sources, what="`sources`")
        self.target = {target: 1.0} if isinstance(target, str) else convex(target)
        check_roles(sources, self.target)
        self.rule = UpdateRule.robust() if rule is None else checked_rule(rule)
        self.target_share = target_share = plain_share(target_share)
        self.history = History()
        weighed = [] if target_share is None else [*self.target]
        if units is None:
            units = Units.of_tasks([*sources, *weighed])
        else:
            _check_units(units, sources, self.rule)
            units = units.with_whole(weighed)
        start = initial_weights(
            [*sources, *weighed],
            initial,
            sizes=sizes,
            target=self.target,
            target_share=target_share,
        )
        if isinstance(initial, Mapping):
            check_ratio(start, self.target, bound=self.rule.ratio_bound)
        weights = start.spread(units)
        self._stepping = Stepping(
            rule=self.rule,
            initial=weights.logs,
            members=weights.members(self.target),
            share=(0.0, 1.0) if target_share is None else share_range(target_share),
            by_size=bool(units.finer),
        )
        self.weights = weights.moved(self._stepping.allowed(weights.logs))
        self._stepping = replace(self._stepping, initial=self.weights.logs)
        self.mean_alignments = torch.zeros_like(self.weights.logs)
        """Of each unit, over the updates that measured it."""
        self._measured_times = torch.zeros_like(self.mean_alignments, dtype=torch.int32)

    def __repr__(self) -> str:
        target = next(iter(self.target)) if len(self.target) == 1 else self.target
        updates = self.history.updates
        return f"TargetAware(target={target!r}, updates={updates}, {self.weights.shown()})"

    def outcome(self) -> Outcome:
        """Where the weights are now, and the mean of what was measured on the way there."""
        means = torch.where(self.was_measured, self.mean_alignments, torch.nan)
        return Outcome(weights=self.weights, mean_alignments=means)

    @property
    def needs_norms(self) -> bool:
        """Whether an update takes the gradient norms of single examples, where units are finer."""
        return self.rule.alignment.needs_norms

    @property
    def asked_twice(self) -> frozenset[str]:
        """Targets that are weighed and compared with examples of their own held out."""
        if self._own_alignment == "itself":
            return frozenset()
        return frozenset(self.target) & frozenset(self.weights.names)

    @property
    def _own_alignment(self) -> OwnAlignment:
        """As the rule says; but a target whose share is held competes with nobody.

        Under mirror descent its alignment then drops out of the weights, and the pass that would
        measure it is saved.
        """
        held = isinstance(self.target_share, int | float)
        alone = held and len(self.target) == 1 and self.rule.step == "mirror"
        return "itself" if alone else self.rule.own_alignment

    def follow(self, optimiser: Optimizer) -> None:
        """Let the rule's curvature have the optimiser's state; call it once, before training.

        Only `AdamDiagonal` asks for it; others take no notice.
        """
        self.rule.alignment.curvature.follow(optimiser)

    def update(
        self,
        representation: nn.Module | Iterable[Tensor],
        *,
        loss_of: LossOf,
        losses_of: LossesOf | None = None,
        step: int | None = None,
        touching: Iterable[nn.Module] = (),
        group: ProcessGroup | None = None,
    ) -> WeightUpdate:
        """Measure every source against the target and move the weights.

        In a process group all processes call it. The weights move as those of one process would
        that had the batches of all of them, and are the same in all of them afterwards, to the
        last bit.

        Parameters, `.grad`, buffers, random streams and train/eval modes are left as they were.
        (So a `loss_of` that draws its batch from a global random stream draws what training would
        have drawn next; give it a generator of its own.)
        If a number is not finite, or the target's gradient has become zero, the weights stay, and
        the update says why it was skipped.

        Args:
            representation: The module that the tasks share, or its parameters.
            loss_of: Called with a task's name, returns that task's scalar loss on a fresh batch,
                graph attached. Within one update, a second call for the same task should return
                other examples than the first. In several processes, each has a batch of its own;
                where they differ in size, return pairs of the loss and its number of examples,
                which may be 0.
            losses_of: Where units are finer than tasks: called with a source's name, gives its
                examples in batches, as pairs of their positions and a function that runs the
                model on them and returns the loss of each. All, or a sample: units without an
                example in it keep their weight beside the average.
            step: What the history calls this moment; counts updates by default.
            touching: Other modules that `loss_of` runs and that keep statistics (a head with
                batch-norm, say), to be restored too; with units finer than tasks, all that
                `losses_of` runs.
            group: The processes that update together; by default all, where `torch.distributed`
                is initialised.

        Raises:
            WeightsError: Processes differ in their configuration or in their weights.
            TrainingError: A loss is no scalar tensor; the target's does not reach the
                representation, or has a gradient of zero already at the first update; or the model
                uses reentrant activation checkpointing, through which nothing can be measured.
        """
        ranks = Ranks.of(group)
        nothing: tuple[list[Tensor], list[nn.Module]] = [], []
        parameters, modules = ranks.attempt(lambda: measurable(representation, touching), nothing)
        if ranks.several:
            check_alike(ranks, {**self._configuration, **self._now(parameters)})
        # Inference mode is stronger than no_grad, and enable_grad alone would not lift it.
        with (
            untouched(modules, parameters=parameters),
            torch.inference_mode(mode=False),
            torch.enable_grad(),
        ):
            measured = self._measured(parameters, modules, loss_of, losses_of, ranks)
        reason = reason_to_skip(measured, self.target, first=not self.history.updates)
        if reason is None:
            moved = self._moved(measured, ranks)
            reason = self._stepping.problem(moved.logs)
            if reason is None:
                self.weights = moved
                self._remember(measured)
        number = self.history.updates + 1 if step is None else step
        if reason is not None:
            _log.warning("update %d skipped: %s", number, reason)
        self.history.append(written(self.weights, measured, step=number, skipped=reason))
        return self.history[-1]

    def _moved(self, measured: Hypergradient, ranks: Ranks) -> SourceWeights:
        logs = self._stepping.moved(self.weights.logs, measured.values)
        # Processors differ in the last digit of an exponential, and a drift is refused.
        return self.weights.moved(ranks.from_first(logs) if ranks.several else logs)

    @cached_property
    def _configuration(self) -> dict[str, object]:
        """What must be the same in all processes, and never changes."""
        return {
            "The tasks": list(self.weights.names),
            "The targets": self.target,
            "The target's shares": self.target_share,
            "The update rules": self.rule,
            "The units": self.weights.units.fingerprint(),
        }

    def _now(self, parameters: Sequence[Tensor]) -> dict[str, object]:
        updates = self.history.updates
        return fingerprint_of(self.weights, updates=updates, parameters=parameters)

    def _measured(
        self,
        parameters: list[Tensor],
        modules: list[nn.Module],
        loss_of: LossOf,
        losses_of: LossesOf | None,
        ranks: Ranks,
    ) -> Hypergradient:
        return hypergradient(
            parameters,
            weights=self.weights,
            targets=self.target,
            loss_of=loss_of,
            losses_of=losses_of,
            alignment=self.rule.alignment,
            own_alignment=self._own_alignment,
            modules=modules,
            way=self.rule.way,
            ranks=ranks,
        )

    @property
    def was_measured(self) -> Tensor:
        """Which units had an example among those measured, in any update; boolean."""
        return self._measured_times > 0

    def _remember(self, measured: Hypergradient) -> None:
        """Count what was measured into the mean of each unit's alignments."""
        self._measured_times += measured.measured
        times = self._measured_times.clamp(min=1)
        change = (measured.alignments - self.mean_alignments) / times
        if not bool(torch.isfinite(change).all()):  # their difference has overflowed
            change = measured.alignments / times - self.mean_alignments / times
        self.mean_alignments += torch.where(measured.measured, change, 0.0)

    def state_dict(self) -> dict[str, Any]:
        """The weights and their history, as `Weighting.state_dict`, and means of alignments."""
        finer = bool(self.weights.units.finer)
        return {
            **super().state_dict(),
            "units": self.weights.units.fingerprint(),
            "mean_alignments": plain(self.mean_alignments, finer=finer),
            "measured": plain(self._measured_times, finer=finer),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly from a saved state, which is copied.

        Raises:
            WeightsError: It is not the state of such a weighting; nothing has changed then.
        """
        check_keys(state, ["names", "units", "mean_alignments", "measured"])
        check_names(state["names"], self.weights.names)
        if state["units"] != self.weights.units.fingerprint():
            raise WeightsError(
                "The saved weights are of other groups or examples than these; build the weighting "
                "with the same units."
            )
        weights, history = self._checked_state(state)
        share = self._stepping.share_of_targets(weights.logs)
        if not self._stepping.holds(share, off=1e-4):
            raise WeightsError(
                f"The saved weights give the target {share:.4g}, but `target_share` is "
                f"{self.target_share}. Build the weighting with the same share."
            )
        means, measured = checked_means(state, self.mean_alignments, self._measured_times)
        self.weights, self.history = weights, history
        self.mean_alignments, self._measured_times = means, measured


def _check_units(units: Units, sources: Sequence[str], rule: UpdateRule) -> None:
    known_names(units.names, sources, what="units")
    if units.finer and rule.step == "projected":
        raise WeightsError(
            'Weights on groups and examples move by mirror descent; use step="mirror".'
        )
