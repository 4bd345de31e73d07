"""What gives the batches of one task, by the kind of dataset it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from torch.utils.data import (
    BatchSampler,
    DataLoader,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    default_collate,
)

from tawt.errors import ConfigError, DataError
from tawt.mixture.indexed import Indexed
from tawt.mixture.streamed import Batched, Streamed

if TYPE_CHECKING:
    from tawt.mixture.halves import Half
    from tawt.mixture.orders import Indices
    from tawt.mixture.processes import Processes

Collate = Callable[[list[Any]], Any]


@runtime_checkable
class HalvedFeed(Protocol):
    """Gives batches of the halves of its examples too."""

    def fresh_half(self, processes: Processes, half: Half) -> tuple[Any, int]:
        """A batch of one half to measure by, and its number of examples."""


class Feed(Protocol):
    """Gives the batches of one task; see `Indexed`, `Streamed` and `Batched`."""

    size: int | None
    batch_size: int

    def steps(self, processes: int) -> int | None:
        """How many make a pass, if that is known."""

    def batch(self, processes: Processes) -> Any:
        """The next batch of this process."""

    def fresh(self, processes: Processes, *, first: bool) -> tuple[Any, int]:
        """A batch to measure by, and its number of examples."""

    def state(self) -> dict[str, Any]:
        """Where it is, JSON-able."""

    def check_state(self, state: object) -> None:
        """Refuse what is not such a state."""

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""


@runtime_checkable
class ExampleFeed(Feed, Protocol):
    """Gives single examples too, for mixed batches; a loader's batches are not taken apart."""

    def examples(self, count: int, mine: Indices) -> list[Any]:
        """Of the next `count` examples, those at these places."""


def feed_of(
    dataset: Any, *, name: str, seed: int, batch_size: int | None, collate: Collate | None
) -> Feed:
    """The feed of a dataset or a loader.

    Args:
        dataset: A map-style dataset, an iterable one, or a `DataLoader`.
        name: Of the task.
        seed: Of the mixture.
        batch_size: Examples of one process in a step; a loader has its own.
        collate: Makes a batch of a list of examples; torch's default, or the loader's own.

    Example:
        >>> feed_of([1, 2, 3], name="pos", seed=0, batch_size=2, collate=None).steps(1)
        2
    """
    if isinstance(dataset, DataLoader):
        return _of_loader(dataset, name=name, seed=seed, collate=collate)
    if batch_size is None:
        raise ConfigError(
            f"`batch_size` is missing: {name!r} is a dataset, and only a `DataLoader` has a batch "
            "size of its own. Pass batch_size=32, say."
        )
    collate = collate or default_collate
    if isinstance(dataset, IterableDataset) or not _is_map_style(dataset):
        _check_iterable(dataset, name=name)
        return Streamed(dataset, name=name, batch_size=batch_size, collate=collate)
    _check_size(dataset, name=name)
    return Indexed(dataset, name=name, seed=seed, batch_size=batch_size, collate=collate)


def _of_loader(loader: DataLoader[Any], *, name: str, seed: int, collate: Collate | None) -> Feed:
    """Its dataset, in orders of ours, if its own order is none but a shuffle or none at all."""
    known = RandomSampler | SequentialSampler
    plain = type(loader.batch_sampler) is BatchSampler and isinstance(loader.sampler, known)
    replaced = isinstance(loader.sampler, RandomSampler) and loader.sampler.replacement
    if isinstance(loader.dataset, IterableDataset) or not plain or replaced:
        return Batched(loader, name=name)
    _check_size(loader.dataset, name=name)
    return Indexed(
        loader.dataset,
        name=name,
        seed=seed,
        batch_size=loader.batch_size or 1,
        collate=collate or loader.collate_fn,
        shuffled=isinstance(loader.sampler, RandomSampler),
        loader=loader,
    )


def _is_map_style(dataset: object) -> bool:
    return hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")


def _check_size(dataset: Any, *, name: str) -> None:
    if len(dataset) == 0:
        raise DataError(
            f"The dataset {name!r} is empty; expected at least one example. Leave it out, and its "
            "weight."
        )


def _check_iterable(dataset: object, *, name: str) -> None:
    if isinstance(dataset, Iterator) or not isinstance(dataset, Iterable):
        raise DataError(
            f"The dataset {name!r} must be map-style, iterable any number of times, or a "
            f"`DataLoader`; got {type(dataset).__name__}. Of a generator pass the thing that "
            "makes it, such as a `torch.utils.data.IterableDataset`."
        )
