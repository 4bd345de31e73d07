"""Alignments from the gradients that training computes anyway.

After a step's backward pass the gradient of its task is there. Its inner product with the target's
direction, which is held, is all that is taken of it:

    y = ⟨v, ∇L_t⟩ / ‖v‖ ‖∇L_t‖

so a weight update needs no pass of its own over the sources. What such cosines say about a source
is found by `Leads`. Weights move as if the alignments known now had been measured at every update
so far: what later steps correct is corrected in the weights, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tawt.errors import TrainingError, WeightsError, is_number, suggestion
from tawt.hypergradient import Alignment, Cosine, Hypergradient
from tawt.weighting.direction import Direction, local_part
from tawt.weighting.leads import Leads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.gradients import Gradient
    from tawt.ranks import Ranks
    from tawt.units import Units

_MOST_PENDING = 512  # observations that wait on the device; more are fetched, which waits for it


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
    count: int
    """Steps that were seen since the last update."""

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
class _Pending:
    """A step that was seen, and not yet asked about."""

    shares: dict[str, float]
    numbers: Tensor
    """⟨v, g⟩, ‖g‖² and ‖v‖², float64; parts of them where parameters are sharded."""
    new_direction: bool


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
        self._pending: list[_Pending] = []
        self._is_new = False
        self._updates = 0
        self._sums = dict.fromkeys(self.names, 0.0)
        self._target_norm = 0.0

    @property
    def has_seen(self) -> bool:
        """Whether anything was observed."""
        return self._updates > 0 or bool(self._pending)

    def aim(self, gradient: Gradient, parameters: Sequence[Tensor]) -> None:
        """Hold this direction from now on.

        Args:
            gradient: One entry for each parameter.
            parameters: What the gradient is by.
        """
        if self.direction is None or not self.direction.fits(gradient):
            self.direction = Direction(parameters)
        self.direction.take(gradient)
        self._is_new = True

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
        if self.direction is not None:
            if not self.direction.fits(gradient):
                raise TrainingError(
                    "The parameters that are observed are not those that the target's direction is "
                    "of; pass the same representation to `observe` as to `aim`."
                )
            self.note(shares, self.direction.products(gradient))
        if self.target is not None and shares.get(self.target, 0.0) == 1.0:
            self.aim(gradient, parameters)

    def note(self, shares: Mapping[str, float], numbers: Tensor) -> None:
        """Keep the products of a step on these tasks; those that are not asked about are dropped.

        Args:
            shares: What each task had of the gradient.
            numbers: As `Direction.products` returns them.
        """
        known = {name: share for name, share in shares.items() if name in self._sums and share}
        if not known:
            return
        self._pending.append(_Pending(known, numbers, self._is_new))
        self._is_new = False
        if len(self._pending) % _MOST_PENDING == 0:
            for pending in self._pending:
                pending.numbers = pending.numbers.cpu()

    def settled(self, ranks: Ranks) -> Observed:
        """What all steps so far say, those since the last time taken in; the same in all processes.

        Args:
            ranks: The processes that train together.
        """
        count, table = self._exchanged(ranks)
        squares: dict[str, list[float]] = {}
        for pending, (inner, squared, direction) in zip(self._pending, table, strict=True):
            length = (squared * direction) ** 0.5
            if not 0 < length < float("inf") or inner != inner:  # noqa: PLR0124 - NaN is not itself
                continue
            self.leads.see(pending.shares, inner / length, new_direction=pending.new_direction)
            self._target_norm = direction**0.5
            if len(pending.shares) == 1:
                [name] = pending.shares
                squares.setdefault(name, []).append(squared)
        self._pending = []
        return self._told(count, squares)

    def _told(self, count: int, squares: Mapping[str, Sequence[float]]) -> Observed:
        leads, level = self.leads.found(), self.leads.level
        alignments = {name: lead + level for name, lead in leads.items()}
        self._updates += count > 0
        sums = {name: self._updates * value for name, value in alignments.items()}
        changes = {name: sums[name] - self._sums[name] for name in sums}
        if count:
            self._sums = sums
        return Observed(
            alignments=alignments,
            changes=changes,
            norms={name: (sum(found) / len(found)) ** 0.5 for name, found in squares.items()},
            target_norm=self._target_norm,
            count=count,
        )

    def _exchanged(self, ranks: Ranks) -> tuple[int, list[list[float]]]:
        """How many steps were seen, and the numbers of each."""
        count = len(self._pending)
        if count == 0 and not ranks.several:
            return 0, []
        if not ranks.several:
            return count, self._own().tolist()
        counts = ranks.table([float(count)])[:, 0]
        if bool((counts != count).any()):
            seen = ", ".join(str(int(number)) for number in counts)
            raise TrainingError(
                f"Processes have observed different numbers of steps ({seen}); call `observe` in "
                "all of them, for the same steps."
            )
        if count == 0:
            return 0, []
        added = ranks.table(self._own().reshape(-1)).reshape(ranks.size, count, 3).sum(0)
        # Whole gradients are the same in all processes; parts add up, some of them several times.
        copies = None if self.direction is None else self.direction.copies
        return count, (added / (ranks.size if copies is None else copies)).tolist()

    def _own(self) -> Tensor:
        """The numbers of this process, in one piece: one wait for the device."""
        home = self._pending[-1].numbers.device
        return torch.stack([pending.numbers.to(home) for pending in self._pending])

    def state_dict(self) -> dict[str, Any]:
        """What was learned, as plain values; not the direction, which is of the model's size."""
        return {
            "leads": self.leads.state_dict(),
            "updates": self._updates,
            "sums": dict(self._sums),
            "target_norm": self._target_norm,
            "is_new": self._is_new,
            "pending": [
                [pending.shares, pending.numbers.tolist(), pending.new_direction]
                for pending in self._pending
            ],
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
        self._sums = {name: float(state["sums"][name]) for name in self.names}
        self._target_norm = float(state["target_norm"])
        self._pending = [
            _Pending(dict(shares), torch.tensor(numbers, dtype=torch.float64), bool(new))
            for shares, numbers, new in state["pending"]
        ]


def check_observable(alignment: Alignment, units: Units) -> None:
    """Refuse what the gradients of training steps do not show.

    Raises:
        WeightsError: Alignments are no cosines, or not of whole tasks.
    """
    if not isinstance(alignment, Cosine) or units.finer:
        raise WeightsError(
            "Training steps show cosines of whole tasks; weights on groups or examples, and "
            "alignments under a curvature, are measured on fresh batches: pass the representation "
            "and `loss_of` to `update`."
        )


def shares_of(tasks: str | Mapping[str, float], known: Sequence[str]) -> dict[str, float]:
    """What each task had of a step, the shares made to sum to one.

    Args:
        tasks: One task, or several with the share that each had.
        known: Names of all tasks.

    Raises:
        WeightsError: There is no such task, or shares are none.

    Example:
        >>> shares_of("pos", ["pos", "ner"]), shares_of({"pos": 1, "ner": 3}, ["pos", "ner"])
        ({'pos': 1.0}, {'pos': 0.25, 'ner': 0.75})
    """
    shares = {tasks: 1.0} if isinstance(tasks, str) else dict(tasks)
    for name, share in shares.items():
        if name not in known:
            raise WeightsError(
                f"There is no task {name!r} to observe; {suggestion(str(name), known)}"
            )
        if not (is_number(share) and share >= 0):
            raise WeightsError(
                f"The share of {name!r} in a step must be a number of at least 0; got {share!r}."
            )
    total = sum(shares.values())
    if not total > 0:
        raise WeightsError("A step that is observed must be on some task; all shares are 0.")
    return {name: share / total for name, share in shares.items()}


def _gradients(parameters: Sequence[Tensor]) -> Gradient:
    """Their `.grad`, of a sharded one its part."""
    found = [parameter.grad for parameter in parameters]
    return [None if entry is None else local_part(entry) for entry in found]
