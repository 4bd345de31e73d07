"""Units finer than a task: each example's alignment at the cost of two forward passes.

    a_i = ⟨v, ∇φ ℓ_i⟩                       for a whole batch at once (`tawt.per_example`)
    g_u = −c · mean of a_i over the unit's examples

With cosines a_i is divided by ‖v‖ ‖∇φ ℓ_i‖, which takes a backward pass more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import torch
from torch import Tensor, nn

from tawt.errors import TrainingError
from tawt.per_example import ExampleNorms, ExampleProducts, Losses, Way
from tawt.ranks import Ranks, Shards

if TYPE_CHECKING:
    from tawt.hypergradient.aims import Aim
    from tawt.hypergradient.alignments import Alignment
    from tawt.units import TaskUnits

LossesOf = Callable[[str], Iterable[tuple[np.ndarray[Any, Any], Losses]]]
"""A source's examples in batches: their positions, and what computes the loss of each."""


@dataclass(frozen=True, kw_only=True)
class ExampleAgreements:
    """What was found about the units of each task, by its name."""

    alignments: dict[str, Tensor] = field(default_factory=dict)
    """Of each unit, float32."""
    measured: dict[str, Tensor] = field(default_factory=dict)
    """Which units have an example that was measured; the others have their task's mean."""
    means: dict[str, float] = field(default_factory=dict)
    """Over the task's examples."""
    way: str | None = None
    relative_error: float | None = None


def measured_examples(
    aim: Aim,
    parts: Mapping[str, TaskUnits],
    *,
    losses_of: LossesOf | None,
    parameters: Sequence[Tensor],
    modules: Sequence[nn.Module],
    alignment: Alignment,
    way: Way,
    ranks: Ranks,
) -> ExampleAgreements:
    """Measure the units of these tasks by their examples; arguments as for `hypergradient`."""
    if not parts:
        return ExampleAgreements()
    assert losses_of is not None
    module = nn.ModuleList(modules)
    # Their direction would be in parts, and each process would need all of it.
    if Shards.of(parameters, processes=ranks.size) is not None:
        raise TrainingError(
            "Weights on groups or examples cannot be measured in a model that is sharded by "
            "`fully_shard`; put weights on tasks, or use DistributedDataParallel."
        )
    products = ExampleProducts(module, parameters, aim.direction, way=way)
    alignments: dict[str, Tensor] = {}
    measured: dict[str, Tensor] = {}
    means: dict[str, float] = {}
    for task, part in parts.items():
        # Of each task its own: what one's examples do not allow need not be denied the next.
        norms = ExampleNorms(module, parameters) if alignment.needs_norms else None
        add = partial(_added, aim, task, part, products, losses_of, alignment, norms)
        found = ranks.attempt(add, torch.zeros(2, part.count, dtype=torch.float32))
        sums, counts = ranks.add_up(found) if ranks.several else found
        means[task] = float(sums.double().sum() / counts.sum())
        alignments[task] = torch.where(counts > 0, sums / counts.clamp(min=1), means[task])
        measured[task] = counts > 0
    way_found, error = _worst(products, ranks)
    return ExampleAgreements(
        alignments=alignments,
        measured=measured,
        means=means,
        way=way_found,
        relative_error=error,
    )


def _added(
    aim: Aim,
    task: str,
    part: TaskUnits,
    products: ExampleProducts,
    losses_of: LossesOf,
    alignment: Alignment,
    norms: ExampleNorms | None,
) -> Tensor:
    """Sums of the alignments of each unit's examples, and how many they are; two rows."""
    products.look_again()
    sums, counts = found = torch.zeros(2, part.count, dtype=torch.float32)
    for given, losses in losses_of(task):
        places = _places(given, task, part)
        inner = products(losses)
        squared = torch.ones_like(inner) if norms is None else norms(losses)
        agreed = alignment.measure(inner, aim.direction_squared.to(inner), squared.to(inner))
        sums.index_add_(0, places, agreed.float().cpu())
        counts.index_add_(0, places, torch.ones(len(places), dtype=torch.float32))
    return found


def _worst(products: ExampleProducts, ranks: Ranks) -> tuple[str, float | None]:
    """The way that products were computed, and their largest error, in any process."""
    error = products.relative_error
    if not ranks.several:
        return products.way, error
    ways = get_args(Way)
    own = [float(ways.index(products.way)), -1.0 if error is None else error]
    table = ranks.table(own)
    way, worst = int(table[:, 0].max()), float(table[:, 1].max())
    return ways[way], None if worst == -1.0 else worst


def _places(given: object, task: str, part: TaskUnits) -> Tensor:
    """The units of a task's examples, if positions of examples are what `losses_of` gave."""
    positions, size = np.asarray(given), part.size
    assert size is not None
    fits = positions.ndim == 1 and np.issubdtype(positions.dtype, np.integer)
    if not fits or (len(positions) and not 0 <= positions.min() <= positions.max() < size):
        raise TrainingError(
            f"`losses_of` must give pairs: positions of examples of {task!r}, whole numbers from "
            f"0 to {size - 1}, and a function that returns their losses; got {str(given)[:80]} "
            "for positions."
        )
    return torch.from_numpy(part.at(positions)).long()
