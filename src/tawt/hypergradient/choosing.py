"""Which passes an update takes: of one process, of several, or of a model in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import TrainingError
from tawt.hypergradient.in_parts import ShardedPasses
from tawt.hypergradient.passes import AlonePasses, LossOf, Passes
from tawt.hypergradient.tally import Tally
from tawt.hypergradient.together import TogetherPasses
from tawt.ranks import Calls, Ranks, Shards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from tawt.hypergradient.alignments import Alignment


def passes_for(
    parameters: Sequence[Tensor],
    *,
    loss_of: LossOf,
    alignment: Alignment,
    ranks: Ranks,
    calls: Calls,
) -> Passes:
    """The passes of an update.

    Args:
        parameters: Of the representation.
        loss_of: As for `hypergradient`.
        alignment: What is asked for.
        ranks: The processes that measure together.
        calls: Where wrapped models that `loss_of` calls are noted.
    """
    shards = Shards.of(parameters, processes=ranks.size)
    if shards is not None:
        if alignment.curvature.needs_hessian:
            raise TrainingError(
                f"{type(alignment.curvature).__name__} cannot be computed for a model that is "
                "sharded by `fully_shard`; use Cosine, or the curvature Identity."
            )
        return ShardedPasses(shards, loss_of, calls, Tally(ranks))
    if ranks.several:
        return TogetherPasses(parameters, loss_of, calls, Tally(ranks), alignment.needs_norms)
    return loss_of if isinstance(loss_of, Passes) else AlonePasses(parameters, loss_of, calls)
