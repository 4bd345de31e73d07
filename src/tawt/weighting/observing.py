"""Alignments from the gradients that training computes anyway.

After a step's backward pass the gradient of its task is there. Its inner product with the target's
direction, which is held, is all that is taken of it:

    y = ⟨v, ∇L_t⟩ / ‖v‖ ‖∇L_t‖

so a weight update needs no pass of its own over the sources. What such cosines say about a source
is found by `Leads`. Weights move as if the alignments known now had been measured at every update
so far: what later steps correct is corrected in the weights, too.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tawt.errors import TrainingError, WeightsError
from tawt.hypergradient import Hypergradient
from tawt.ranks import own_part
from tawt.weighting.direction import Direction
from tawt.weighting.leads import Leads
from tawt.weighting.seen import Products, SeenStep, SeenSteps

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.gradients import Gradient
    from tawt.ranks import Ranks
    from tawt.units import Units

_FORGOTTEN = 0.1  # of a running mean, at each step
_NOT_FINITE = "no gradient that was observed is finite"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Observed:
    """What is known of each task when weights are to move."""

    alignments: dict[str, float]
    """Cosine of each with the target, as it is estimated now."""
    changes: dict[str, float]
    """By how much the sum of alignments over all updates has grown, for the weights' step."""
    norms: dict[str, float]
    """Mean gradient norm of each task that was seen since the last update."""
    target_norm: float
    """Of the direction that was held last."""
    problem: str | None
    """Why weights cannot move by it, if they cannot."""

    def as_measured(
        self, units: Units, targets: Mapping[str, float], scale: float
    ) -> Hypergradient:
        """The same in the form of a measurement on fresh batches.

        Args:
            units: Tasks, in the order of their weights.
            targets: What they were compared with.
            scale: c of the alignment.
        """
        changes = [self.changes[name] for name in units.names]
        return Hypergradient(
            units=units,
            targets=tuple(targets),
            alignments=torch.tensor(changes, dtype=torch.float64),
            measured=torch.ones(len(changes), dtype=torch.bool),
            means=self.alignments,
            norms=self.norms,
            target_norm=self.target_norm,
            losses={},
            scale=scale,
        )


@dataclass
class Observer:
    """Holds the target's direction and takes inner products with it.

    Args:
        names: Tasks whose alignments are wanted.
        target: The one target whose own steps refresh the direction, if there is one.
    """

    names: Sequence[str]
    target: str | None
    direction: Direction | None = None
    """v; none before anything is known of the target."""

    @classmethod
    def of(cls, names: Sequence[str], targets: Mapping[str, float]) -> Observer:
        """An observer of these tasks; of several targets, no single one's step is a direction."""
        return cls(names, next(iter(targets)) if len(targets) == 1 else None)

    def __post_init__(self) -> None:
        self.leads = Leads(self.names)
        self._seen = SeenSteps()
        self._is_new = self._is_aimed = False
        self._updates = 0
        self._sums = dict.fromkeys(self.names, 0.0)
        self._squares: dict[str, float] = {}
        """Running means of squared gradient norms, of steps on one task."""

    @property
    def has_seen(self) -> bool:
        """Whether anything was held to compare steps with."""
        return self._is_aimed

    @property
    def is_waiting(self) -> bool:
        """Whether steps were seen since the last update."""
        return len(self._seen) > 0

    def aim(self, gradient: Gradient, parameters: Sequence[Tensor]) -> None:
        """Hold this direction from now on.

        Args:
            gradient: One entry for each parameter.
            parameters: What the gradient is by.
        """
        if self.direction is not None and not self.direction.fits(gradient):
            self.direction = None
        self.hold(parameters).take(gradient)
        self._is_new = self._is_aimed = True

    def hold(self, parameters: Sequence[Tensor]) -> Direction:
        """Have memory for a direction, of zeros before the first."""
        if self.direction is None:
            self.direction = Direction(parameters)
        return self.direction

    def compared(self, parameters: Sequence[Tensor], *, renews: bool) -> Tensor:
        """Products of the gradients that are there, without waiting for the device.

        Args:
            parameters: Whose `.grad` it is.
            renews: Whether that gradient is the direction from then on.
        """
        gradient, direction = _gradients(parameters), self.hold(parameters)
        found = direction.products(gradient)
        if renews:
            direction.take(gradient)
        return found

    def see(self, parameters: Sequence[Tensor], shares: Mapping[str, float]) -> None:
        """Take from the gradients that are there what they say about the tasks of a step.

        Args:
            parameters: Whose `.grad` it is.
            shares: What each task had of the gradient.

        Raises:
            TrainingError: There is no gradient.
        """
        gradient = _gradients(parameters)
        if all(entry is None for entry in gradient):
            raise TrainingError(
                "No parameter of the representation has a gradient to observe; call `observe` "
                "after `backward`, before the optimiser's `zero_grad`."
            )
        renews = self.target is not None and shares.get(self.target, 0.0) == 1.0
        if self.direction is not None and not self.direction.fits(gradient):
            self.direction, self._is_aimed = None, False
            if not renews:
                _log.warning(
                    "the parameters observed are not those that the target's direction is of; "
                    "nothing is learned until the next `aim`, or step on the target"
                )
        if self.direction is not None:
            self.note(shares, self.direction.products(gradient))
        if renews:
            self.aim(gradient, parameters)

    def note(self, shares: Mapping[str, float], numbers: Tensor, *, renews: bool = False) -> None:
        """Keep the products of a step on these tasks; those that are not asked about are dropped.

        Args:
            shares: What each task had of the gradient.
            numbers: As `Direction.products` returns them.
            renews: Whether the step's own gradient is the direction from then on.
        """
        known = {name: share for name, share in shares.items() if name in self._sums and share}
        if known and self._is_aimed:
            self._seen.add(SeenStep(known, numbers, self._is_new))
            self._is_new = False
        if renews:
            self._is_new = self._is_aimed = True

    def settled(self, ranks: Ranks) -> Observed:
        """What all steps so far say, those since the last time taken in; the same in all processes.

        Args:
            ranks: The processes that train together.
        """
        copies = None if self.direction is None else self.direction.copies
        steps = self._seen.taken(ranks, copies=copies)
        taken, is_new, norm = 0, False, 0.0
        for step in steps:
            is_new = is_new or step.new_direction
            known = self._by_task(step)
            if known is not None:
                self.leads.see(*known, new_direction=is_new)
                taken, is_new, norm = taken + 1, False, step.direction_squared**0.5
        self._is_new = self._is_new or is_new
        problem = None if taken else self._problem(steps)
        if problem == _NOT_FINITE:
            norm = math.nan  # an update that failed; others had nothing to go by
        return self._build_observed(problem, norm)

    def _by_task(self, step: Products) -> tuple[dict[str, float], float] | None:
        """What each task had of a step's gradient, and its cosine; nothing if that is not known.

        Gradients of several tasks that were added up have a cosine that is no mean of theirs. Their
        inner product is one, if each counts by its length, which steps on one task have shown.
        """
        if not step.is_finite or step.squared * step.direction_squared <= 0:
            return None
        if len(step.shares) == 1:
            [name] = step.shares
            before = self._squares.get(name, step.squared)
            self._squares[name] = before + _FORGOTTEN * (step.squared - before)
            return step.shares, step.inner / (step.squared * step.direction_squared) ** 0.5
        if any(name not in self._squares for name in step.shares):
            return None
        lengths = {n: share * self._squares[n] ** 0.5 for n, share in step.shares.items()}
        total = sum(lengths.values())
        shares = {name: length / total for name, length in lengths.items()}
        return shares, step.inner / (step.direction_squared**0.5 * total)

    def _problem(self, steps: Sequence[Products]) -> str:
        """Why there was nothing to learn from these steps."""
        if not self._is_aimed:
            return "nothing of the target is held yet: call `aim`, or observe a step on the target"
        if not steps:
            return "no step was observed since the last update"
        if not any(step.is_finite for step in steps):
            return _NOT_FINITE
        if not any(step.squared * step.direction_squared > 0 for step in steps):
            return "the gradients that were observed, or the target's, are zero"
        return (
            "each step was on several tasks, of which none has come alone; keep one task for all "
            "batches of a step (`hold` of a mixture)"
        )

    def _build_observed(self, problem: str | None, target_norm: float) -> Observed:
        leads, level = self.leads.means(), self.leads.level
        alignments = {name: lead + level for name, lead in leads.items()}
        self._updates += problem is None
        sums = {name: self._updates * value for name, value in alignments.items()}
        changes = {name: sums[name] - self._sums[name] for name in sums}
        if problem is None:
            self._sums = sums
        return Observed(
            alignments=alignments,
            changes=changes,
            norms={name: square**0.5 for name, square in self._squares.items()},
            target_norm=target_norm,
            problem=problem,
        )

    def state_dict(self) -> dict[str, Any]:
        """What was learned, as plain values; not the direction, which is of the model's size.

        Of a sharded model, steps since the last update are left out: each process has a part of
        their numbers.
        """
        is_sharded = self.direction is not None and self.direction.copies is not None
        return {
            "leads": self.leads.state_dict(),
            "updates": self._updates,
            "sums": dict(self._sums),
            "squares": dict(self._squares),
            "is_new": self._is_new,
            "is_aimed": self._is_aimed,
            "seen": self._seen.state(is_sharded=is_sharded),
        }

    def load_state_dict(self, state: Mapping[str, Any] | None) -> None:
        """Go on from a saved state, which is copied; without one, from the beginning.

        Raises:
            WeightsError: It is not such a state.
        """
        if state is None:
            return
        try:
            self._load(state)
        except (KeyError, TypeError, ValueError) as error:
            raise WeightsError(
                f"`observed` of the saved state is not what `state_dict` returned ({error!r}). "
                "Load a state of a weighting with the same arguments."
            ) from error

    def _load(self, state: Mapping[str, Any]) -> None:
        self.leads.load_state_dict(state["leads"])
        self._updates, self._is_new = int(state["updates"]), bool(state["is_new"])
        self._is_aimed = bool(state["is_aimed"])
        self._sums = {name: float(state["sums"][name]) for name in self.names}
        self._squares = {name: float(value) for name, value in state["squares"].items()}
        self._seen.load(state["seen"])


def _gradients(parameters: Sequence[Tensor]) -> Gradient:
    """Their `.grad`, of a sharded one its part."""
    found = [parameter.grad for parameter in parameters]
    return [None if entry is None else _dense(own_part(entry).detach()) for entry in found]


def _dense(entry: Tensor) -> Tensor:
    return entry.to_dense() if entry.is_sparse else entry
