"""What an update measures on fresh batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import TrainingError
from tawt.hypergradient import hypergradient
from tawt.weighting.halves import way_of
from tawt.weighting.together import measuring_together

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor, nn

    from tawt.hypergradient import Hypergradient, LossesOf, LossOf, OwnAlignment
    from tawt.ranks import Ranks
    from tawt.weighting.target_aware import TargetAware


def measured_on_batches(
    weighting: TargetAware,
    representation: nn.Module | Iterable[Tensor] | None,
    *,
    loss_of: LossOf | None,
    losses_of: LossesOf | None,
    own_alignment: OwnAlignment,
    touching: Iterable[nn.Module],
    ranks: Ranks,
    target_half: int | None,
) -> Hypergradient:
    """Every source beside the target.

    Args:
        weighting: What is wanted, and how it is measured.
        representation: As for `TargetAware.update`.
        loss_of: The same.
        losses_of: The same.
        own_alignment: What a target that is weighed is compared with.
        touching: As for `TargetAware.update`.
        ranks: The processes that measure together.
        target_half: Which half of the target's examples `loss_of` draws from.

    Raises:
        TrainingError: There is no `loss_of`, or nothing can be measured by it.
    """
    if loss_of is None:
        raise TrainingError(
            "`update` needs the representation and `loss_of`, to measure on fresh batches; or "
            "neither, to go by the training steps that were observed."
        )
    way = way_of(target_half)
    together = measuring_together(
        weighting, representation, touching=touching, ranks=ranks, way=way
    )
    with together as (parameters, modules):
        return hypergradient(
            parameters,
            weights=weighting.weights,
            targets=weighting.target,
            loss_of=loss_of,
            losses_of=losses_of,
            alignment=weighting.rule.alignment,
            own_alignment=own_alignment,
            modules=modules,
            way=weighting.rule.way,
            ranks=ranks,
        )
