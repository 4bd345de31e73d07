"""The weights ω on the tasks, or on groups of their examples, or on each example."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from tawt import simplex
from tawt.errors import WeightsError, is_number, suggestion
from tawt.given import check_sizes
from tawt.units import Units
from tawt.weights.names import known_names

if TYPE_CHECKING:
    import numpy as np

Initial = Literal["uniform", "proportional"] | Mapping[str, float]
"""Where the weights start: equal ("normalized" in the paper), by size, or as given."""

_SUM_TOLERANCE = 1e-6  # what rounding to a few decimals in a file may cost
_FAR = 1e3  # below minus this, the total of a task is too far from zero for float32
_SHOWN = 8  # tasks in the text that shows weights


@dataclass(frozen=True, eq=False, repr=False)
class SourceWeights:
    """Weights on the simplex, one per unit, kept as logarithms.

    Build them with `uniform`, `proportional`, `tempered` or `of`, which put them on tasks, and
    `spread` them over finer units; a step makes new ones. On tasks they are kept in
    float64, on finer units in float32: four bytes an example.

    Attributes:
        units: What they are put on.
        logs: Their logarithms, shape `(units,)`.

    Example:
        >>> weights = SourceWeights.uniform(["pos", "chunk"])
        >>> weights["pos"], len(weights)
        (0.5, 2)
        >>> weights.spread(Units.of_examples({"pos": 2, "chunk": 1})).logs.exp()
        tensor([0.2500, 0.2500, 0.5000])
    """

    units: Units
    logs: Tensor

    @classmethod
    def uniform(cls, names: Sequence[str]) -> SourceWeights:
        """ω_t = 1/T, the paper's "normalized" start.

        Example:
            >>> SourceWeights.uniform(["a", "b", "c", "d"]).shares()
            {'a': 0.25, 'b': 0.25, 'c': 0.25, 'd': 0.25}
        """
        tasks = Units.of_tasks(names).names
        return cls.of(dict.fromkeys(tasks, 1.0 / len(tasks)))

    @classmethod
    def proportional(cls, sizes: Mapping[str, int]) -> SourceWeights:
        """ω_t = n_t / Σ n, under which every example counts the same.

        Example:
            >>> SourceWeights.proportional({"a": 100, "b": 300}).shares()
            {'a': 0.25, 'b': 0.75}
        """
        check_sizes(sizes)
        total = sum(sizes.values())
        return cls.of({name: size / total for name, size in sizes.items()})

    @classmethod
    def tempered(cls, sizes: Mapping[str, int], *, exponent: float) -> SourceWeights:
        """ω_t ∝ n_t^exponent: between proportional (1) and uniform (0).

        The usual choice of multilingual and multi-task training, where large datasets should not
        drown small ones; 0.3 and 0.5 are common.

        Example:
            >>> SourceWeights.tempered({"a": 100, "b": 900}, exponent=0.5)
            SourceWeights(a=0.250, b=0.750)
        """
        check_sizes(sizes)
        if not is_number(exponent):
            raise WeightsError(f"`exponent` must be a number, such as 0.5; got {exponent!r}.")
        units = Units.of_tasks(list(sizes))
        logs = torch.tensor([math.log(size) for size in sizes.values()], dtype=torch.float64)
        return cls(units, torch.log_softmax(exponent * logs, dim=0))

    @classmethod
    def of(cls, shares: Mapping[str, float]) -> SourceWeights:
        """Weights as given; they must be non-negative and sum to one.

        A weight of zero leaves its task out for good under mirror descent.

        Example:
            >>> SourceWeights.of({"a": 0.9, "b": 0.1})["a"]
            0.9
        """
        units = Units.of_tasks(list(shares))
        for name, share in shares.items():
            if not (is_number(share) and share >= 0):
                raise WeightsError(
                    f"The weight of {name!r} must be a number of at least 0; got {share!r}."
                )
        total = math.fsum(shares.values())
        if abs(total - 1) > _SUM_TOLERANCE:
            raise WeightsError(
                f"The weights must sum to 1; {', '.join(shares)} sum to {total:.6g}. "
                f"Divide each by {total:.6g}."
            )
        logs = torch.tensor(list(shares.values()), dtype=torch.float64).log()
        return cls(units, logs)

    @classmethod
    def initial(
        cls, initial: Initial, names: Sequence[str], *, sizes: Mapping[str, int] | None = None
    ) -> SourceWeights:
        """The weights that `initial` names, for these tasks.

        Args:
            initial: "uniform", "proportional" (needs `sizes`), or a mapping from name to weight.
            names: The tasks, in order.
            sizes: Number of training examples of each task.

        Example:
            >>> SourceWeights.initial("proportional", ["a", "b"], sizes={"a": 1, "b": 3}).shares()
            {'a': 0.25, 'b': 0.75}
        """
        names = Units.of_tasks(names).names
        if isinstance(initial, str) and initial == "uniform":
            return cls.uniform(names)
        if isinstance(initial, str) and initial == "proportional":
            if sizes is None:
                raise WeightsError(
                    'initial="proportional" needs the number of examples of each task; pass '
                    'sizes={"name": count, …}, or start from initial="uniform".'
                )
            known_names(sizes, names, what="sizes")
            return cls.proportional({name: sizes[name] for name in names})
        if not isinstance(initial, Mapping):
            raise WeightsError(
                f'`initial` must be "uniform", "proportional" or a mapping from task to weight; '
                f"got {initial!r}."
            )
        known_names(initial, names, what="initial weights")
        return cls.of({name: initial[name] for name in names})

    def spread(self, units: Units) -> SourceWeights:
        """Every task's weight, spread over its units so that its examples count the same.

        Args:
            units: Of the same tasks.
        """
        known_names(units.names, self.names, what="units")
        shares = self.log_shares()
        logs = torch.cat(
            [
                torch.tensor(shares[name], dtype=torch.float64) + part.log_fractions()
                for name, part in units.parts.items()
            ]
        )
        return SourceWeights(units, logs.float() if units.finer else logs)

    def __eq__(self, other: object) -> bool:
        """Whether they are the same weights, to the last bit, on the same units."""
        return (
            isinstance(other, SourceWeights)
            and torch.equal(self.logs, other.logs)
            and self.units == other.units
        )

    __hash__ = None  # type: ignore[assignment]  # compared by value, and values can be millions

    def __len__(self) -> int:
        return len(self.logs)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, name: str) -> float:
        shares = self.shares()
        if name not in shares:
            raise WeightsError(f"There is no weight for {name!r}; {suggestion(str(name), shares)}")
        return shares[name]

    def __repr__(self) -> str:
        return f"SourceWeights({self.shown()})"

    def shown(self) -> str:
        """The shares of the tasks, for a person; of many tasks the first.

        Example:
            >>> SourceWeights.of({"pos": 0.75, "chunk": 0.25}).shown()
            'pos=0.750, chunk=0.250'
        """
        shares = list(self.shares().items())
        found = [f"{name}={share:.3f}" for name, share in shares[:_SHOWN]]
        more = len(shares) - len(found)
        return ", ".join([*found, f"and {more} more"] if more else found)

    @property
    def names(self) -> tuple[str, ...]:
        """The tasks, in order."""
        return self.units.names

    def shares(self) -> dict[str, float]:
        """ω_t by name: the share of the training objective that each task has."""
        if not self.units.finer:  # weights on tasks are their shares
            return dict(zip(self.names, self.logs.exp().tolist(), strict=True))
        return {name: math.exp(total) for name, total in self._totals.items()}

    def log_shares(self) -> dict[str, float]:
        """Their logarithms."""
        return dict(self._totals)

    @cached_property
    def _totals(self) -> dict[str, float]:
        """Logarithm of the weight that each task has, all its units together."""
        spans = self.units.spans.items()
        return {name: float(torch.logsumexp(self.logs[span].double(), 0)) for name, span in spans}

    def per_example(self, task: str) -> Tensor:
        """Logarithm of what an example of each of the task's units counts beside the average.

        Args:
            task: One whose units are finer than the task.
        """
        return self._per_example[task]

    @cached_property
    def _per_example(self) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for task, size in self.units.sizes.items():
            total, logs = self._totals[task], self.logs[self.units.spans[task]]
            if total == -math.inf:  # a task left out on purpose: nothing to compare inside it
                found[task] = torch.zeros_like(logs)
                continue
            counts = torch.from_numpy(self.units.parts[task].counts(size)).log().float()
            if total < -_FAR:  # beside which float32 would round away all that is compared
                found[task] = (logs.double() - total).float() - counts + math.log(size)
                continue
            found[task] = logs - counts - (total - math.log(size))
        return found

    def relative(self, task: str, indices: np.ndarray[Any, Any]) -> Tensor | None:
        """What examples count beside the average one of their task.

        Nothing for a task that is one unit: they count the same.
        """
        if task not in self.units.finer:
            return None
        within = torch.from_numpy(self.units.parts[task].at(indices)).long()
        return self.per_example(task)[within].exp()

    def multipliers(self, sizes: Mapping[str, int]) -> dict[str, float]:
        """What the average example of a task counts beside the average of all: ω_t N / n_t.

        The paper speaks of shares; its authors' program keeps per-example multipliers. They are
        the same weights read two ways: with proportional shares every multiplier is one.

        Example:
            >>> SourceWeights.uniform(["a", "b"]).multipliers({"a": 100, "b": 300})
            {'a': 2.0, 'b': 0.6666666666666666}
        """
        self._check_sizes(sizes)
        total = sum(sizes[name] for name in self.names)
        return {name: share * total / sizes[name] for name, share in self.shares().items()}

    def effective_sample_size(self, sizes: Mapping[str, int]) -> float:
        """N_ω = (Σ ω_u² / n_u)⁻¹, over all units."""
        self._check_sizes(sizes)
        counts = torch.from_numpy(self.units.counts(sizes)).double()
        return simplex.effective_sample_size(self.logs.double(), counts)

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        missing = [name for name in self.names if name not in sizes]
        if missing:
            raise WeightsError(f"`sizes` leaves out {missing[0]!r}; give the size of every task.")
        check_sizes({name: sizes[name] for name in self.names})

    def members(self, tasks: Collection[str]) -> Tensor:
        """Which of the units are those of these tasks; boolean, shape `(units,)`."""
        found = torch.zeros(len(self.logs), dtype=torch.bool)
        for name, span in self.units.spans.items():
            found[span] = name in tasks
        return found

    def moved(self, logs: Tensor) -> SourceWeights:
        """The same units with other weights, which on finer units are made to sum to one.

        Sums over millions of units are off in float32 by a thousandth, so there they are wide.
        """
        if self.logs.dtype == torch.float64:
            return SourceWeights(self.units, logs)
        wide = logs.double()
        return SourceWeights(self.units, (wide - torch.logsumexp(wide, 0)).float())

    def restored(self, logs: Tensor) -> SourceWeights:
        """The same units with weights that were saved, bit by bit."""
        return SourceWeights(self.units, logs.to(self.logs))
