"""Weights that follow the target: the method of the paper."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from tawt import simplex
from tawt.errors import WeightsError
from tawt.gradients import trainable, untouched
from tawt.hypergradient import (
    Hypergradient,
    LossesOf,
    LossOf,
    OwnAlignment,
    UnitHypergradient,
    hypergradient,
    unit_hypergradient,
)
from tawt.unit_weights import UnitWeights
from tawt.weighting.base import Weighting
from tawt.weighting.rule import TargetShare, UpdateRule, share_range
from tawt.weighting.starting import convex, initial_weights
from tawt.weights import Initial, SourceWeights, WeightUpdate, known_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch.optim import Optimizer

    from tawt.units import Units

_log = logging.getLogger(__name__)


class TargetAware(Weighting):
    """Learn the weights, by how well each source's gradient agrees with the target's.

    Args:
        sources: Names of the source tasks.
        target: Name of the target, or several targets with the share each has of what is wanted.
        initial: "uniform", "proportional" (needs `sizes`), or a mapping from task to weight.
        sizes: Number of training examples of each task that is weighed.
        target_share: `None` when the target is not trained on beside the sources (pre-training).
            In joint training the target is one of the tasks weighed: "learned" lets it compete
            with the sources as in the paper, a number holds its share, a range keeps it inside.
        rule: How the weights move.
        units: What weights are put on, if not on whole tasks: `Units.of_examples(sizes)`, or
            `Units.of_groups(labels)`. `initial` is still by task: examples of a task start equal.

    Example:
        >>> encoder = nn.Linear(3, 2)
        >>> heads = {name: nn.Linear(2, 1) for name in ("near", "far", "goal")}
        >>> weights = TargetAware(sources=["near", "far"], target="goal")
        >>> def loss_of(task):
        ...     return heads[task](encoder(torch.randn(16, 3))).square().mean()
        >>> loss = weights.combine({name: loss_of(name) for name in ("near", "far")})
        >>> update = weights.update(encoder, loss_of=loss_of)
        >>> update.step, round(sum(update.weights.values()), 6)
        (1, 1.0)
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        target: str | Mapping[str, float],
        initial: Initial = "uniform",
        sizes: Mapping[str, int] | None = None,
        target_share: TargetShare | None = None,
        rule: UpdateRule | None = None,
        units: Units | None = None,
    ) -> None:
        if isinstance(sources, str):
            raise WeightsError(f'`sources` is a list of names; write ["{sources}"].')
        self.target = {target: 1.0} if isinstance(target, str) else convex(target)
        for name in sources:
            if name in self.target:
                raise WeightsError(
                    f"{name!r} is the target and also a source; a task has one role. To train on "
                    "the target beside the sources, leave it out of `sources` and set "
                    "`target_share`."
                )
        names = [*sources] if target_share is None else [*sources, *self.target]
        self.rule = rule or UpdateRule.robust()
        if units is not None:
            _check_units(units, sources, self.rule)
        self.target_share = target_share
        self.history = []
        weights = initial_weights(
            names, initial, sizes=sizes, target=self.target, target_share=target_share
        )
        beta = self.rule.ratio_bound
        if isinstance(initial, Mapping) and beta is not None:
            sources_only = weights.logs if target_share is None else weights.logs[: len(sources)]
            if simplex.ratio(sources_only) > beta * (1 + 1e-9):
                raise WeightsError(
                    f"The initial weights are further apart than `ratio_bound` ({beta:g}) allows; "
                    "pass a rule with a larger bound, or with none."
                )
        self.weights = weights
        if units is not None:
            self.weights = UnitWeights.spread(weights, units)
        self._initial = self.weights.logs
        self._sizes = dict.fromkeys(names, 1) | dict(sizes or {})
        self.weights = self.weights.moved(self._allowed(self.weights.logs))
        self._initial = self.weights.logs
        self.mean_alignments = torch.zeros_like(self.weights.logs[: 0 if units is None else None])
        """Of units finer than tasks, over the updates that measured them."""
        self._measured_times = torch.zeros_like(self.mean_alignments, dtype=torch.int32)

    @property
    def is_fine(self) -> bool:
        """Whether weights are on units finer than tasks."""
        return isinstance(self.weights, UnitWeights)

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
    ) -> WeightUpdate:
        """Measure every source against the target and move the weights.

        Parameters, `.grad`, buffers, random streams and train/eval modes are left as they were.
        (So a `loss_of` that draws its batch from a global random stream draws what training would
        have drawn next; give it a generator of its own.)
        If any number is not finite, the weights stay, and the update says why it was skipped.

        Args:
            representation: The module that the tasks share, or its parameters.
            loss_of: Called with a task's name, returns that task's scalar loss on a fresh batch,
                graph attached. Within one update, a second call for the same task should return
                other examples than the first.
            losses_of: Where units are finer than tasks: called with a source's name, gives its
                examples in batches, as pairs of their positions and a function that runs the
                model on them and returns the loss of each. All, or a sample: units without an
                example in it keep their weight beside the average.
            step: What the history calls this moment; counts updates by default.
            touching: Other modules that `loss_of` runs and that keep statistics (a head with
                batch-norm, say), to be restored too; with units finer than tasks, all that
                `losses_of` runs.
        """
        modules = [*touching]
        if isinstance(representation, nn.Module):
            modules.append(representation)
        parameters = trainable(representation)
        # Inference mode is stronger than no_grad, and enable_grad alone would not lift it.
        with (
            untouched(modules, parameters=parameters),
            torch.inference_mode(mode=False),
            torch.enable_grad(),
        ):
            measured = self._measured(parameters, modules, loss_of, losses_of)
        moved = self._moved(measured.values) if measured.is_finite else None
        if moved is not None:
            self.weights = self.weights.moved(moved)
            self._remember(measured)
        number = len(self.history) + 1 if step is None else step
        self.history.append(self._written(measured, step=number, skipped=moved is None))
        return self.history[-1]

    def _measured(
        self,
        parameters: list[Tensor],
        modules: list[nn.Module],
        loss_of: LossOf,
        losses_of: LossesOf | None,
    ) -> Hypergradient | UnitHypergradient:
        if isinstance(self.weights, SourceWeights):
            return hypergradient(
                parameters,
                units=self.weights.names,
                targets=self.target,
                weights=self.weights.shares(),
                loss_of=loss_of,
                alignment=self.rule.alignment,
                own_alignment=self._own_alignment,
            )
        if losses_of is None:
            raise WeightsError(
                "Weights on examples or groups need the loss of single examples; pass `losses_of`."
            )
        return unit_hypergradient(
            parameters,
            weights=self.weights,
            targets=self.target,
            module=nn.ModuleList(modules),
            loss_of=loss_of,
            losses_of=losses_of,
            alignment=self.rule.alignment,
            own_alignment=self._own_alignment,
            way=self.rule.way,
        )

    @property
    def was_measured(self) -> Tensor:
        """Which units had an example among those measured, in any update; boolean."""
        return self._measured_times > 0

    def _remember(self, measured: Hypergradient | UnitHypergradient) -> None:
        """Count what was measured into the mean of each unit's alignments."""
        if isinstance(measured, UnitHypergradient):
            self._measured_times += measured.measured
            change = (measured.alignments - self.mean_alignments) / self._measured_times.clamp(
                min=1
            )
            self.mean_alignments += torch.where(measured.measured, change, 0.0)

    def _moved(self, gradient: Tensor) -> Tensor:
        rule = self.rule
        if rule.step == "mirror":
            start = simplex.anchored(self.weights.logs, self._initial, share=rule.anchor)
            logs = simplex.mirror_step(start, gradient, step_size=rule.step_size)
        else:
            start = torch.lerp(self.weights.logs.exp(), self._initial.exp(), rule.anchor)
            logs = simplex.projected_step(start.log(), gradient, step_size=rule.step_size)
        return self._allowed(logs)

    def _allowed(self, logs: Tensor) -> Tensor:
        """The nearest weights that respect the ratio bound and the target's share."""
        low, high = (0.0, 1.0) if self.target_share is None else share_range(self.target_share)
        members = self.weights.members(self.target)
        free = low == 0.0 and high == 1.0
        if self.rule.ratio_bound is not None:
            # A share that is held by hand is not a ratio that was learned: bound the rest alone.
            bounded = torch.ones_like(members) if free else ~members
            total = torch.logsumexp(logs[bounded], dim=0)
            if total > -math.inf:  # a target with everything leaves nothing to bound
                # Units of a task start by their sizes; what is bounded is how far they move apart.
                base = self._initial[bounded] if isinstance(self.weights, UnitWeights) else None
                inside = simplex.bounded(
                    logs[bounded] - total, beta=self.rule.ratio_bound, base=base
                )
                logs = logs.clone()
                logs[bounded] = inside + total
        return logs if free else simplex.with_share(logs, members, low=low, high=high)

    def _written(
        self, measured: Hypergradient | UnitHypergradient, *, step: int, skipped: bool
    ) -> WeightUpdate:
        reason = None
        if skipped:
            culprits = ", ".join(map(repr, measured.culprits)) or "the curvature's solve"
            reason = f"a loss or gradient is not finite: {culprits}"
            _log.warning("update %d skipped: %s", step, reason)
        return WeightUpdate(
            step=step,
            weights=self.weights.shares(),
            log_weights=_plain(self.weights.log_shares()),
            alignments=_plain(measured.means),
            norms=_plain(measured.norms_by_name),
            target_norm=_finite(measured.target_norm),
            skipped=reason,
            units=self._summary(measured) if isinstance(measured, UnitHypergradient) else None,
        )

    def _summary(self, measured: UnitHypergradient) -> dict[str, Any]:
        assert isinstance(self.weights, UnitWeights)
        error = measured.relative_error
        known = None if error is None else _finite(error)
        # Differences without a finite error were of no use, which the log has said.
        return {**self.weights.summary(), "way": measured.way, "relative_error": known}

    def state_dict(self) -> dict[str, Any]:
        """The weights and their history; the rest is the constructor's."""
        return {
            **super().state_dict(),
            "units": self._fingerprint(),
            "mean_alignments": self.mean_alignments.clone(),
            "measured": self._measured_times.clone(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on exactly from a saved state."""
        if state["units"] != self._fingerprint():
            raise WeightsError(
                "The saved weights are of other groups or examples than these; build the weighting "
                "with the same units."
            )
        super().load_state_dict(state)
        self.mean_alignments = torch.as_tensor(state["mean_alignments"]).clone()
        self._measured_times = torch.as_tensor(state["measured"]).clone()

    def _fingerprint(self) -> str | None:
        return self.weights.units.fingerprint() if isinstance(self.weights, UnitWeights) else None


def _check_units(units: Units, sources: Sequence[str], rule: UpdateRule) -> None:
    known_names(units.sizes, sources, what="units")
    if rule.step == "projected":
        raise WeightsError(
            'Weights on groups and examples move by mirror descent; use step="mirror".'
        )


def _plain(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: _finite(value) for name, value in values.items()}


def _finite(value: float) -> float | None:
    """`None` where JSON has no number for it."""
    return value if math.isfinite(value) else None
