"""What a history keeps of weights on millions of units: a few numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from tawt import simplex
from tawt.units import Units

if TYPE_CHECKING:
    from torch import Tensor

    from tawt.weights.source_weights import SourceWeights

_SHOWN = 20  # most and least trusted units
_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


def summary_of(weights: SourceWeights) -> dict[str, Any] | None:
    """A few numbers about the units that are finer than tasks, if there are any.

    Weights are given as what an example counts beside the average one of its task.

    Example:
        >>> from tawt.weights import SourceWeights
        >>> weights = SourceWeights.uniform(["pos"])
        >>> summary_of(weights)
        >>> summary_of(weights.spread(Units.of_examples({"pos": 3})))["count"]
        3
    """
    finer = weights.units.finer
    if not finer:
        return None
    units = Units({name: weights.units.parts[name] for name in finer})
    each = torch.cat([weights.per_example(name) for name in finer])
    logs = torch.cat([weights.logs[weights.units.spans[name]] for name in finer]).double()
    left_out = bool((logs == -math.inf).all())  # a target that has everything
    logs = torch.log_softmax(logs, 0)
    counts = torch.from_numpy(units.counts(units.sizes)).double()
    shown = min(_SHOWN, len(each))
    return {
        "count": len(each),
        "entropy": 0.0 if left_out else simplex.entropy(logs),
        "effective_sample_size": 0.0 if left_out else simplex.effective_sample_size(logs, counts),
        "quantiles": _quantiles(each),
        "most": _named(units, each.topk(shown)),
        "least": _named(units, each.topk(shown, largest=False)),
    }


def _named(units: Units, found: Any) -> list[list[Any]]:
    pairs = zip(found.indices.tolist(), found.values.exp().tolist(), strict=True)
    return [[*units.place(unit), value] for unit, value in pairs]


def _quantiles(logs: Tensor) -> dict[str, float]:
    """By sorting: torch's own takes no more than sixteen million."""
    ordered = logs.sort().values
    places = [round(share * (len(ordered) - 1)) for share in _QUANTILES]
    return {
        f"{share:g}": math.exp(ordered[place])
        for share, place in zip(_QUANTILES, places, strict=True)
    }
