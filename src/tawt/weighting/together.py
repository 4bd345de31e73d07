"""Measuring in all processes alike, without a trace."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tawt.weighting.agreeing import check_alike, fingerprint_of
from tawt.weighting.measurable import measurable, measuring

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch import Tensor, nn

    from tawt.ranks import Ranks
    from tawt.weighting.held_target import HeldTarget
    from tawt.weighting.target_aware import TargetAware


@contextmanager
def measuring_together(
    weighting: TargetAware | HeldTarget,
    representation: nn.Module | Iterable[Tensor] | None,
    *,
    touching: Iterable[nn.Module],
    ranks: Ranks,
    way: str,
) -> Iterator[tuple[list[Tensor], list[nn.Module]]]:
    """Parameters and modules whose gradients can be taken inside.

    Args:
        weighting: As it is now; it must be the same in all processes.
        representation: The module that the tasks share, or its parameters.
        touching: Other modules that losses run through.
        ranks: The processes that measure together.
        way: How they are about to measure.

    Raises:
        TrainingError: Nothing can be measured by these parameters.
        WeightsError: Processes differ.
    """
    parameters, modules = measurable(representation, touching, ranks)
    if ranks.several:
        check_alike(ranks, fingerprint_of(weighting, parameters, way=way))
    with measuring(parameters, modules):
        yield parameters, modules
