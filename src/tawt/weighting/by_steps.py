"""What an update learns from the training steps that were observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tawt.hypergradient import target_direction
from tawt.weighting.agreeing import check_alike, fingerprint_of
from tawt.weighting.together import measuring_together

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor, nn

    from tawt.hypergradient import Hypergradient, LossOf
    from tawt.ranks import Ranks
    from tawt.weighting.leads import LeadEstimates
    from tawt.weighting.target_aware import TargetAware


class SeenInSteps(NamedTuple):
    """What steps since the last update say."""

    measured: Hypergradient
    """In the form of a measurement on fresh batches."""
    problem: str | None
    """Why weights cannot move by it, if they cannot."""
    watched: LeadEstimates | None
    """What all steps so far have shown of those that compete, if they have shown anything."""


def hold_target(
    weighting: TargetAware,
    representation: nn.Module | Iterable[Tensor],
    *,
    loss_of: LossOf,
    touching: Iterable[nn.Module],
    ranks: Ranks,
) -> None:
    """Hold the target's gradient, for those of steps to be compared with.

    Args:
        weighting: Whose target it is.
        representation: As for `TargetAware.aim`.
        loss_of: The same.
        touching: The same.
        ranks: The processes that measure together.
    """
    observer = weighting.observing()
    together = measuring_together(
        weighting, representation, touching=touching, ranks=ranks, way="aim"
    )
    with together as (parameters, _):
        found = target_direction(
            parameters,
            targets=weighting.target,
            loss_of=loss_of,
            alignment=weighting.rule.alignment,
            ranks=ranks,
        )
    observer.aim(found, parameters)


def measured_by_steps(weighting: TargetAware, *, competing: Tensor, ranks: Ranks) -> SeenInSteps:
    """The training steps that were observed since the last update.

    Args:
        weighting: What has observed them.
        competing: Which of the tasks have weights that move by their leads.
        ranks: The processes that train together.
    """
    observer = weighting.observing()
    if ranks.several:
        check_alike(ranks, fingerprint_of(weighting, [], way="training steps"))
    found = observer.settled(ranks)
    scale = weighting.rule.alignment.scale
    measured = found.as_measured(weighting.weights.units, weighting.target, scale)
    names = [weighting.weights.names[place] for place in competing.nonzero().flatten().tolist()]
    watched = observer.leads.among(names) if observer.has_seen else None
    return SeenInSteps(measured, found.problem, watched)
