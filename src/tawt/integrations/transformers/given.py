"""The datasets and weights that a caller gave, checked before anything is built from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch.utils.data import IterableDataset

from tawt.errors import ConfigError, DataError, WeightsError
from tawt.given import names_of
from tawt.mixture import shares_of
from tawt.mixture.draws import check_tasks
from tawt.mixture.targets import check_target
from tawt.weighting import Weighting

if TYPE_CHECKING:
    from tawt.mixture import Weights

_ONE = "eval"  # the name of a dataset that is evaluated on alone


@dataclass(frozen=True)
class Given:
    """Datasets by their part in training.

    Some trainers tokenise when they are built, and take several datasets only to evaluate. So all
    are handed to them as such, by names that say what they are for, and taken back.

    Attributes:
        trained: By name, those that steps are drawn from.
        targets: By name, those that weights are learned towards; empty where none are learned.
    """

    trained: dict[str, Any]
    targets: dict[str, Any]

    @property
    def sample(self) -> Any:
        """An example, for trainers that look at one to know of which kind the data is."""
        first = next(iter(self.trained.values()))
        return first.select(range(1)) if hasattr(first, "select") else first

    def by_name(self, evaluated: Any) -> dict[str, Any]:
        """All datasets, with those that the caller evaluates on."""
        own = evaluated if isinstance(evaluated, dict) else {_ONE: evaluated}
        trained = {f"train:{name}": dataset for name, dataset in self.trained.items()}
        targets = {f"target:{name}": dataset for name, dataset in self.targets.items()}
        return {**({} if evaluated is None else own), **trained, **targets}

    def prepared(self, by_name: dict[str, Any]) -> Given:
        """The same, as a trainer prepared them; refuses one of which it left nothing."""
        trained = {name: by_name[f"train:{name}"] for name in self.trained}
        targets = {name: by_name[f"target:{name}"] for name in self.targets}
        for name, dataset in (*trained.items(), *targets.items()):
            _checked(dataset, name=name)
        return Given(trained, targets)


def prepared_evaluation(evaluated: Any, by_name: Any) -> Any:
    """What the caller evaluates on, as a trainer prepared it among the others.

    Example:
        >>> given = Given({"web": ["a"]}, {})
        >>> prepared_evaluation(["b"], given.by_name(["b"]))
        ['b']
    """
    if evaluated is None:
        return None
    if isinstance(evaluated, dict):
        return {name: by_name[name] for name in evaluated}
    return by_name[_ONE]


def checked_data(train_dataset: Any, target_dataset: Any, weights: Weights) -> Given:
    """What is trained on, and what it is measured against.

    Args:
        train_dataset: Map-style datasets by name.
        target_dataset: Of the target, or by name if there are several.
        weights: With one for each of the train datasets.

    Raises:
        DataError: They are no datasets by name, empty, streams, or a target is missing.
        WeightsError: A dataset has no weight, or a weight no dataset.

    Example:
        >>> checked_data({"web": ["a"]}, None, {"web": 1.0}).trained
        {'web': ['a']}
        >>> checked_data(["a"], None, {"web": 1.0})
        Traceback (most recent call last):
        ...
        tawt.errors.DataError: `train_dataset` must be datasets by name; got list. Pass {"web": \
dataset, …}.
    """
    if not isinstance(train_dataset, Mapping):
        raise DataError(
            f"`train_dataset` must be datasets by name; got {type(train_dataset).__name__}. Pass "
            '{"web": dataset, …}.'
        )
    names = names_of(list(train_dataset), what="`train_dataset`")
    if not names:
        raise DataError("There must be at least one train dataset; got none.")
    trained = {name: _checked(train_dataset[name], name=name) for name in names}
    check_tasks(shares_of(weights), names)
    if not is_learned(weights):
        if target_dataset is not None:
            raise ConfigError(
                "`target_dataset` has no effect on weights that are not learned; leave it out, or "
                "pass weights=TargetAware(…)."
            )
        return Given(trained, {})
    _check_units(weights)
    return Given(trained, _targets(trained, target_dataset, weights))


def is_learned(weights: Weights) -> bool:
    """Whether an update would move them.

    Example:
        >>> is_learned({"web": 1.0})
        False
    """
    return isinstance(weights, Weighting) and bool(weights.target)


def _check_units(weights: Weights) -> None:
    if isinstance(weights, Weighting) and weights.weights.units.finer:
        raise WeightsError(
            "A trainer draws whole datasets, so weights must be on them, not on groups or examples "
            "(`units`). Pass each group as a dataset of its own."
        )


def _targets(trained: dict[str, Any], given: Any, weights: Weights) -> dict[str, Any]:
    """Of each target, the examples that are measured: those given, or those it trains on."""
    assert isinstance(weights, Weighting)
    names = list(weights.target)
    if given is None:
        found = {name: trained[name] for name in names if name in trained}
    elif isinstance(given, Mapping):
        found = dict(given)
    elif len(names) == 1:
        found = {names[0]: given}
    else:
        raise DataError(
            f"There are several targets ({', '.join(names)}), so `target_dataset` must be datasets "
            f"by name; got {type(given).__name__}."
        )
    for name in names:
        if name not in found:
            raise DataError(
                f"There is no dataset of the target {name!r}, towards which weights are learned. "
                "Pass target_dataset=…; it may be the eval dataset, which is then no longer unseen."
            )
    sources = {name: trained[name] for name in trained if name not in names}
    for name in found:
        if name not in names:
            raise DataError(
                f"`target_dataset` has {name!r}, which is not a target ({', '.join(names)})."
            )
        check_target(found[name], name=name, sources=sources)
    return {name: _checked(found[name], name=name) for name in names}


def _checked(dataset: Any, *, name: str) -> Any:
    """The dataset, if it is map-style and has an example."""
    stream = isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__")
    if stream or not hasattr(dataset, "__len__") or isinstance(dataset, str | Mapping):
        raise DataError(
            f"The dataset {name!r} must be map-style (with a length and `[index]`); got "
            f"{type(dataset).__name__}. A stream can be weighed by `tawt.Mixture` in your own loop."
        )
    if len(dataset) == 0:
        raise DataError(
            f"The dataset {name!r} is empty; expected at least one example. Leave it out, and its "
            "weight."
        )
    return dataset
