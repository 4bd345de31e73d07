"""Weights that follow the target: the method of the paper."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from tawt.errors import WeightsError
from tawt.given import names_of
from tawt.gradients import trainable
from tawt.ranks import Ranks
from tawt.weighting.base import Weighting
from tawt.weighting.by_batches import measured_on_batches
from tawt.weighting.by_steps import hold_target, measured_by_steps
from tawt.weighting.halves import check_half, intervals_are_due
from tawt.weighting.judging import judged
from tawt.weighting.means import MeanAlignments
from tawt.weighting.movers import mover_for
from tawt.weighting.observable import check_observable, shares_of
from tawt.weighting.observing import Observer
from tawt.weighting.outcome import Outcome
from tawt.weighting.rule import TargetShare, UpdateRule, checked_rule, plain_share
from tawt.weighting.skipping import reason_to_skip
from tawt.weighting.starting import check_roles, convex, started, usual_rule
from tawt.weighting.states import check_keys, check_names
from tawt.weighting.writing import written
from tawt.weights import History

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from torch import Tensor, nn
    from torch.distributed import ProcessGroup
    from torch.optim import Optimizer

    from tawt.hypergradient import Hypergradient, LossesOf, LossOf, OwnAlignment
    from tawt.units import Units
    from tawt.weighting.leads import LeadEstimates
    from tawt.weights import Finding, Initial, WeightUpdate

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
        >>> import torch
        >>> from torch import nn
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
        self.rule = usual_rule(units) if rule is None else checked_rule(rule)
        self.target_share = plain_share(target_share)
        self.history = History()
        self.weights, self._stepping = started(
            sources,
            self.target,
            target_share=self.target_share,
            initial=initial,
            sizes=sizes,
            rule=self.rule,
            units=units,
        )
        self._means = MeanAlignments.none(self.weights.logs)
        self._mover = mover_for(self._stepping)
        self.observer = Observer.of(self.weights.names, self.target)
        """What training steps have shown, where they are observed."""

    def __repr__(self) -> str:
        target = next(iter(self.target)) if len(self.target) == 1 else self.target
        about = f"target={target!r}, updates={self.history.updates}"
        return f"TargetAware({about}, {self.weights.shown()})"

    def outcome(self) -> Outcome:
        """Where the weights are now, and the mean of what was measured on the way there."""
        return Outcome(weights=self.weights, mean_alignments=self._means.known())

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
        """As the rule says; but a target whose share is held competes with nobody."""
        held = isinstance(self.target_share, int | float)
        alone = held and len(self.target) == 1
        return "itself" if alone else self.rule.own_alignment

    def follow(self, optimiser: Optimizer) -> None:
        """Let the rule's curvature have the optimiser's state; call it once, before training.

        Only `AdamDiagonal` asks for it; others take no notice.
        """
        self.rule.alignment.curvature.follow(optimiser)

    def aim(
        self,
        representation: nn.Module | Iterable[Tensor],
        *,
        loss_of: LossOf,
        touching: Iterable[nn.Module] = (),
        group: ProcessGroup | None = None,
    ) -> None:
        """Hold the target's gradient, for `observe` to compare those of training steps with.

        It costs a pass on the target, and one copy of the representation's memory. Directions age
        fast: take one every few steps, from few examples, rather than seldom from many. Joint
        training needs none of its own: a target's step that is observed is the next direction.

        Args:
            representation: As for `update`, like all that follow.
            loss_of: Called for the target alone.
            touching: Other modules that it runs.
            group: Processes that train together.
        """
        ranks = Ranks.of(group)
        hold_target(self, representation, loss_of=loss_of, touching=touching, ranks=ranks)

    def observe(
        self, representation: nn.Module | Iterable[Tensor], tasks: str | Mapping[str, float]
    ) -> None:
        """Learn from the gradient that a training step has left.

        Call it after `backward`, before gradients are cleared; clipping makes no difference. Three
        numbers are kept, and the device is not waited for. `update()` then moves the weights.

        Args:
            representation: As for `aim`.
            tasks: The task of the step. Where the gradients of several were added up, the share
                of each; they count if each has come alone before.
        """
        shares = shares_of(tasks, list(dict.fromkeys([*self.weights.names, *self.target])))
        self.observing().see(trainable(representation), shares)

    def observing(self) -> Observer:
        """What learns from training steps, if steps show what the rule asks for."""
        check_observable(self.rule.alignment, self.weights.units)
        return self.observer

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
        """Measure every source against the target and move the weights.

        Without arguments, move them by what `observe` has seen. In a process group all processes
        call it: weights move as those of one process would that had the batches of all of them,
        and are the same in all of them afterwards, to the last bit.

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
            target_half: Which half of the target's examples `loss_of` draws from, 0 and then 1,
                where two updates in turn take the halves of a random cut, and the next two those of
                another. It tells what other examples of the target might show.

        Raises:
            WeightsError: Processes differ in their configuration or in their weights.
            TrainingError: A loss is no scalar tensor; the target's does not reach the
                representation, or has a gradient of zero already at the first update; or the model
                uses reentrant activation checkpointing, through which nothing can be measured.
        """
        check_half(target_half)
        ranks = Ranks.of(group)
        if loss_of is losses_of is representation is None:
            competing = self._stepping.competing
            seen = measured_by_steps(self, competing=competing, ranks=ranks)
            return self._move(seen.measured, seen.problem, ranks, step, watched=seen.watched)
        measured = measured_on_batches(
            self,
            representation,
            loss_of=loss_of,
            losses_of=losses_of,
            own_alignment=self._own_alignment,
            touching=touching,
            ranks=ranks,
            target_half=target_half,
        )
        reason = reason_to_skip(measured, self.target, first=not self.history.updates)
        return self._move(measured, reason, ranks, step, half=target_half)

    @property
    def judges_sources(self) -> bool:
        """Whole ones; of finer units there are too many to be sure of."""
        return not self.weights.units.finer

    @property
    def goes_by_evidence(self) -> bool:
        """As the rule says."""
        return self.rule.step == "evidence"

    def findings(self) -> dict[str, Finding]:
        """Whether each source helps or hurts, as far as fresh batches can tell; see `Finding`.

        Nothing, if no update has seen a half of the target's examples (`target_half`): chance
        cannot be told from anything then. Of one source there is nothing to say either: it leads
        nobody. Believe what is said of targets of twelve examples or more.
        """
        if self.observer.has_seen or not self.judges_sources:
            return {}
        return judged(
            self.history,
            [name for name in self.weights.names if name not in self.target],
            initial=dict(
                zip(self.weights.names, self._stepping.initial.exp().tolist(), strict=True)
            ),
            alignment=self.rule.alignment,
            intervals=self._intervals(None),
        )

    def _intervals(self, watched: LeadEstimates | None) -> dict[str, tuple[float, float]]:
        found = self._mover.intervals(watched)
        return {self.weights.names[place]: ends for place, ends in found.items()}

    def _move(
        self,
        measured: Hypergradient,
        reason: str | None,
        ranks: Ranks,
        step: int | None,
        *,
        half: int | None = None,
        watched: LeadEstimates | None = None,
    ) -> WeightUpdate:
        """Take the step that was measured, unless there is a reason not to, and write it down."""
        number = self.history.updates + 1 if step is None else step
        reason = self._mover.problem(measured) if reason is None and watched is None else reason
        if reason is None:
            logs = self._mover.moved(self.weights.logs, measured, half=half, watched=watched)
            # Processors differ in the last digit of an exponential, and a drift is refused.
            moved = self.weights.moved(ranks.from_first(logs) if ranks.several else logs)
            reason = self._stepping.problem(moved.logs)
            if reason is None:
                self.weights = moved
                self._means.take(measured)
        if reason is not None:
            _log.warning("update %d skipped: %s", number, reason)
        leads = self._mover.leads(watched)
        is_due = intervals_are_due(self.history.updates, half=half)
        line = written(
            self.weights,
            measured,
            step=number,
            skipped=reason,
            target_half=half,
            targets=self.target,
            leads={self.weights.names[at]: lead for at, lead in leads.items()},
            error=self._mover.error(watched),
            intervals=self._intervals(watched) if is_due else {},
        )
        self.history.append(line)
        return self.history[-1]

    @property
    def mean_alignments(self) -> Tensor:
        """Of each unit, over the updates that measured it."""
        return self._means.values

    @property
    def was_measured(self) -> Tensor:
        """Which units had an example among those measured, in any update; boolean."""
        return self._means.times > 0

    def state_dict(self) -> dict[str, Any]:
        """The weights and their history, as `Weighting.state_dict`, and means of alignments."""
        finer = bool(self.weights.units.finer)
        return {
            **super().state_dict(),
            "units": self.weights.units.fingerprint(),
            **self._means.state(finer=finer),
            **({"observed": self.observer.state_dict()} if self.observer.has_seen else {}),
            **self._mover.state(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved state, which is copied: exactly, but for a direction that was held.

        Raises:
            WeightsError: It is not the state of such a weighting; nothing has changed then.
        """
        check_keys(state, ["names", "units"])
        check_names(state["names"], self.weights.names)
        if state["units"] != self.weights.units.fingerprint():
            raise WeightsError(
                "The saved weights are of other groups or examples than these; build the weighting "
                "with the same units."
            )
        weights, history = self._checked_state(state)
        self._stepping.check_share(weights.logs)
        means = self._means.restored(state)
        observer = Observer.of(self.weights.names, self.target)
        observer.load_state_dict(state.get("observed"))
        mover = self._mover.restored(state)
        self.weights, self.history, self._means, self.observer = weights, history, means, observer
        self._mover = mover
