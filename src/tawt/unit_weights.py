"""Weights on the groups or single examples of the sources."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from tawt import simplex
from tawt.given import check_sizes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy as np

    from tawt.units import Units
    from tawt.weights import SourceWeights

_SHOWN = 20  # most and least trusted units in a summary
_FAR = 1e3  # below minus this, the total of a source is too far from zero for float32
_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True)
class UnitWeights:
    """Weights on the simplex over all units of all sources, and over the targets weighed too.

    Logarithms in float32: four bytes an example. A target is a single unit, after all others.

    Example:
        >>> from tawt.units import Units
        >>> from tawt.weights import SourceWeights
        >>> tasks = SourceWeights.of({"pos": 0.6, "chunk": 0.2, "ner": 0.2})
        >>> weights = UnitWeights.spread(tasks, Units.of_examples({"pos": 3, "chunk": 1}))
        >>> weights.logs.exp()
        tensor([0.2000, 0.2000, 0.2000, 0.2000, 0.2000])
    """

    units: Units
    names: tuple[str, ...]
    """Sources, then targets."""
    logs: Tensor

    @classmethod
    def spread(cls, tasks: SourceWeights, units: Units) -> UnitWeights:
        """Every source's weight, spread over its units so that its examples count the same.

        Args:
            tasks: Weights of the sources, and of the targets that are weighed too.
            units: Of the sources.
        """
        shares = dict(zip(tasks.names, tasks.logs, strict=True))
        logs = [
            shares[source] + (torch.from_numpy(units.counts(source)).log() - math.log(size))
            for source, size in units.sizes.items()
        ]
        targets = [name for name in tasks.names if name not in units.sizes]
        logs += [shares[name][None] for name in targets]
        return cls(units, (*units.sizes, *targets), torch.cat(logs).float())

    def __len__(self) -> int:
        return len(self.logs)

    def members(self, targets: Collection[str]) -> Tensor:
        """Which entries are those of targets; boolean."""
        found = torch.zeros(len(self.logs), dtype=torch.bool)
        for position, name in enumerate(self.names[len(self.units.sizes) :], self.units.count):
            found[position] = name in targets
        return found

    def shares(self) -> dict[str, float]:
        """The share of the training objective that each task has, all its units together."""
        return {name: math.exp(total) for name, total in self._totals.items()}

    def log_shares(self) -> dict[str, float]:
        """Their logarithms."""
        return dict(self._totals)

    @cached_property
    def _totals(self) -> dict[str, float]:
        spans = self.units.spans
        found = {name: float(torch.logsumexp(self.logs[spans[name]].double(), 0)) for name in spans}
        rest = zip(self.names[len(spans) :], self.logs[self.units.count :].tolist(), strict=True)
        return found | dict(rest)

    @cached_property
    def _per_example(self) -> dict[str, Tensor]:
        """Logarithm of what an example of each unit counts beside the average one of its source."""
        found: dict[str, Tensor] = {}
        for source, span in self.units.spans.items():
            total, size = self._totals[source], self.units.sizes[source]
            if total == -math.inf:  # a source left out on purpose: nothing to compare inside it
                found[source] = torch.zeros_like(self.logs[span])
                continue
            counts = torch.from_numpy(self.units.counts(source)).log().float()
            if total < -_FAR:  # beside which float32 would round away all that is compared
                within = (self.logs[span].double() - total).float()
                found[source] = within - counts + math.log(size)
                continue
            found[source] = self.logs[span] - counts - (total - math.log(size))
        return found

    def per_example(self, source: str) -> Tensor:
        """Logarithm of what an example of each of the source's units counts beside the average."""
        return self._per_example[source]

    def relative(self, task: str, indices: np.ndarray[Any, Any]) -> Tensor | None:
        """What examples count beside the average one of their task; nothing for a target."""
        if task not in self.units.sizes:
            return None
        start = self.units.spans[task].start
        within = torch.from_numpy(self.units.at(task, indices) - start).long()
        return self.per_example(task)[within].exp()

    def multipliers(self, sizes: Mapping[str, int]) -> dict[str, float]:
        """What the average example of a task counts beside the average of all: ω_t N / n_t."""
        check_sizes({name: sizes[name] for name in self.names})
        total = sum(sizes[name] for name in self.names)
        return {name: share * total / sizes[name] for name, share in self.shares().items()}

    def effective_sample_size(self, sizes: Mapping[str, int]) -> float:
        """N_ω = (Σ ω_u² / n_u)⁻¹."""
        targets = [sizes[name] for name in self.names[len(self.units.sizes) :]]
        counts = torch.cat([self._counts(), torch.tensor(targets, dtype=torch.float64)])
        return simplex.effective_sample_size(self.logs.double(), counts)

    def _counts(self) -> Tensor:
        """Examples of each of the sources' units."""
        counts = [torch.from_numpy(self.units.counts(source)) for source in self.units.sizes]
        return torch.cat(counts).double()

    def moved(self, logs: Tensor) -> UnitWeights:
        """The same units with other weights, which are made to sum to one.

        Sums over millions of units are off in float32 by a thousandth, so here they are wide.
        """
        wide = logs.double()
        return UnitWeights(self.units, self.names, (wide - torch.logsumexp(wide, 0)).float())

    def restored(self, logs: Tensor) -> UnitWeights:
        """The same units with weights that were saved, bit by bit."""
        return UnitWeights(self.units, self.names, logs.to(self.logs))

    def summary(self) -> dict[str, Any]:
        """What a history keeps of the sources' units: a few numbers, however many there are.

        Weights are given as what an example counts beside the average one of its source.
        """
        each = torch.cat(list(self._per_example.values()))
        shown = min(_SHOWN, len(each))
        sources = self.logs[: self.units.count].double()
        left_out = bool((sources == -math.inf).all())  # a target that has everything
        sources = torch.log_softmax(sources, 0)
        size = 0.0 if left_out else simplex.effective_sample_size(sources, self._counts())
        return {
            "count": self.units.count,
            "entropy": 0.0 if left_out else simplex.entropy(sources),
            "effective_sample_size": size,
            "quantiles": _quantiles(each),
            "most": self._named(each.topk(shown)),
            "least": self._named(each.topk(shown, largest=False)),
        }

    def _named(self, found: Any) -> list[list[Any]]:
        pairs = zip(found.indices.tolist(), found.values.exp().tolist(), strict=True)
        return [[*self.units.place(unit), value] for unit, value in pairs]


def _quantiles(logs: Tensor) -> dict[str, float]:
    """By sorting: torch's own takes no more than sixteen million."""
    ordered = logs.sort().values
    places = [round(share * (len(ordered) - 1)) for share in _QUANTILES]
    return {
        f"{share:g}": math.exp(ordered[place])
        for share, place in zip(_QUANTILES, places, strict=True)
    }
