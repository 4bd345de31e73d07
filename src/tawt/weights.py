"""The weights ω on the sources, keyed by name, and the history of how they came about."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import torch
from torch import Tensor

from tawt import simplex
from tawt.errors import WeightsError, is_number, is_whole, suggestion
from tawt.given import check_sizes, names_of

Initial = Literal["uniform", "proportional"] | Mapping[str, float]
"""Where the weights start: equal ("normalized" in the paper), by size, or as given."""

_SUM_TOLERANCE = 1e-6  # what rounding to a few decimals in a file may cost


@dataclass(frozen=True)
class SourceWeights:
    """Weights on the simplex, one per unit, kept as logarithms in float64.

    Build them with `uniform`, `proportional` or `of`; a step makes new ones.

    Example:
        >>> weights = SourceWeights.uniform(["pos", "chunk"])
        >>> weights["pos"], len(weights)
        (0.5, 2)
    """

    names: tuple[str, ...]
    logs: Tensor

    @classmethod
    def uniform(cls, names: Sequence[str]) -> SourceWeights:
        """ω_t = 1/T, the paper's "normalized" start.

        Example:
            >>> SourceWeights.uniform(["a", "b", "c", "d"]).shares()
            {'a': 0.25, 'b': 0.25, 'c': 0.25, 'd': 0.25}
        """
        distinct = _distinct(names)
        return cls.of(dict.fromkeys(distinct, 1.0 / len(distinct)))

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
    def of(cls, shares: Mapping[str, float]) -> SourceWeights:
        """Weights as given; they must be non-negative and sum to one.

        A weight of zero leaves its unit out for good under mirror descent.

        Example:
            >>> SourceWeights.of({"a": 0.9, "b": 0.1})["a"]
            0.9
        """
        if not shares:
            raise WeightsError("There must be at least one source to weigh; got none.")
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
        return cls(tuple(shares), logs)

    @classmethod
    def initial(
        cls, initial: Initial, names: Sequence[str], *, sizes: Mapping[str, int] | None = None
    ) -> SourceWeights:
        """The weights that `initial` names, for these units.

        Args:
            initial: "uniform", "proportional" (needs `sizes`), or a mapping from name to weight.
            names: The units, in order.
            sizes: Number of training examples of each unit.

        Example:
            >>> SourceWeights.initial("proportional", ["a", "b"], sizes={"a": 1, "b": 3}).shares()
            {'a': 0.25, 'b': 0.75}
        """
        names = _distinct(names)
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

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> float:
        return self.shares()[name]

    def shares(self) -> dict[str, float]:
        """ω_t by name: the share of the training objective that each task has."""
        return dict(zip(self.names, self.logs.exp().tolist(), strict=True))

    def log_shares(self) -> dict[str, float]:
        """Their logarithms."""
        return dict(zip(self.names, self.logs.tolist(), strict=True))

    def multipliers(self, sizes: Mapping[str, int]) -> dict[str, float]:
        """What each example of a task counts, relative to the average example: ω_t N / n_t.

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
        """N_ω = (Σ ω_t² / n_t)⁻¹."""
        self._check_sizes(sizes)
        counts = torch.tensor([sizes[name] for name in self.names], dtype=torch.float64)
        return simplex.effective_sample_size(self.logs, counts)

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        missing = [name for name in self.names if name not in sizes]
        if missing:
            raise WeightsError(f"`sizes` leaves out {missing[0]!r}; give the size of every task.")
        check_sizes({name: sizes[name] for name in self.names})

    def members(self, targets: Collection[str]) -> Tensor:
        """Which of the weights are those of targets; boolean."""
        return torch.tensor([name in targets for name in self.names])

    def relative(self, task: str, indices: object) -> None:
        """What examples count beside the average one of their task: all the same."""

    def restored(self, logs: Tensor) -> SourceWeights:
        """The same units with weights that were saved."""
        return self.moved(logs.to(self.logs))

    def moved(self, logs: Tensor) -> SourceWeights:
        """The same units with other weights."""
        return SourceWeights(self.names, logs)


@dataclass(frozen=True)
class WeightUpdate:
    """One line of the history: what was measured and where the weights went.

    A skipped update has `skipped` set to its reason, and the weights of the update before.
    """

    step: int
    weights: dict[str, float]
    """Shares after the update."""
    log_weights: dict[str, float | None]
    """Their logarithms, which tell tiny weights apart where the shares are rounded to zero."""
    alignments: dict[str, float | None] = field(default_factory=dict)
    """Cosine, or inner product under the curvature, of each unit with the target."""
    norms: dict[str, float | None] = field(default_factory=dict)
    """Gradient norm of each unit."""
    target_norm: float | None = None
    skipped: str | None = None
    units: dict[str, Any] | None = None
    """A summary, where units are finer than tasks; the rest is then about their tasks."""

    def to_json(self) -> dict[str, Any]:
        """The update as plain JSON values."""
        values = asdict(self)
        if self.units is None:
            del values["units"]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> WeightUpdate:
        """Inverse of `to_json`.

        Raises:
            WeightsError: They are not the values of an update.
        """
        wanted = {entry.name for entry in fields(cls)}
        if not isinstance(values, Mapping) or not {"step", "weights"} <= values.keys() <= wanted:
            raise WeightsError(
                "An update of the history must be what `WeightUpdate.to_json` returns; got "
                f"{str(values)[:80]}."
            )
        for name, value in values.items():
            if not _VALUES[name](value):
                raise WeightsError(
                    f"`{name}` of an update of the history is not what `WeightUpdate.to_json` "
                    f"writes there; got {str(value)[:80]}."
                )
        return cls(**deepcopy(dict(values)))


def _is_number_or_none(value: object) -> bool:
    return value is None or is_number(value)


def _are_numbers(values: object) -> bool:
    return isinstance(values, Mapping) and all(map(is_number, values.values()))


def _are_numbers_or_none(values: object) -> bool:
    return isinstance(values, Mapping) and all(map(_is_number_or_none, values.values()))


_VALUES: dict[str, Callable[[Any], bool]] = {
    "step": is_whole,
    "weights": _are_numbers,
    "log_weights": _are_numbers_or_none,
    "alignments": _are_numbers_or_none,
    "norms": _are_numbers_or_none,
    "target_norm": _is_number_or_none,
    "skipped": lambda value: value is None or isinstance(value, str),
    "units": lambda value: value is None or isinstance(value, Mapping),
}
"""Whether a value can be that of an update's field."""


def known_names(given: Iterable[str], names: Sequence[str], *, what: str) -> None:
    """Refuse names that are not tasks, and tasks that are not named.

    Example:
        >>> known_names(["pso"], ["pos", "ner"], what="weights")
        Traceback (most recent call last):
        ...
        tawt.errors.WeightsError: weights name the unknown task 'pso'; did you mean 'pos'?
    """
    given = set(given)
    for name in sorted(given - set(names)):
        raise WeightsError(f"{what} name the unknown task {name!r}; {suggestion(name, names)}")
    missing = [name for name in names if name not in given]
    if missing:
        raise WeightsError(f"{what} leave out {', '.join(map(repr, missing))}; name every task.")


def _distinct(names: Iterable[str]) -> list[str]:
    found = names_of(names, what="The tasks to weigh")
    if not found:
        raise WeightsError("There must be at least one source to weigh; got none.")
    twice = sorted({name for name in found if found.count(name) > 1})
    if twice:
        raise WeightsError(f"Tasks must have different names; {twice[0]!r} is given twice.")
    return found
