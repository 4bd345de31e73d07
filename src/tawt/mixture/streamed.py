"""A task whose examples, or whole batches, come one after another."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset
from torch.utils.data.distributed import DistributedSampler

from tawt.errors import ConfigError, DataError
from tawt.mixture.states import check_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tawt.mixture.orders import Indices
    from tawt.mixture.processes import Processes

_log = logging.getLogger(__name__)


class Cycle:
    """Reads an iterable to its end, again and again.

    Before each pass it is told the number of the pass, if it has `set_epoch`. Where it is, is kept
    by its own `state_dict` if it has one that is exact; otherwise what was read is read again.

    Args:
        source: Gives a new iterator each time.
        name: Of the task.

    Example:
        >>> cycle = Cycle([1, 2], name="pos")
        >>> [cycle.next() for _ in range(5)]
        [1, 2, 1, 2, 1]
    """

    def __init__(self, source: Iterable[Any], *, name: str) -> None:
        self._source: Any = source
        self._name = name
        self._pass = 0
        self._within = 0  # how many of this pass were read
        self._iterator: Iterator[Any] | None = None

    def next(self) -> Any:
        """The next, of this pass or of a new one."""
        while True:
            if self._iterator is None:
                self._iterator = self._opened()
            for found in self._iterator:
                self._within += 1
                return found
            if self._within == 0:
                raise DataError(
                    f"The dataset of {self._name!r} gave no example; expected at least one. Leave "
                    "it out, or look for what empties it, such as a filter."
                )
            self._pass, self._within, self._iterator = self._pass + 1, 0, None

    def state(self) -> dict[str, Any]:
        """Where it is."""
        found: dict[str, Any] = {"pass": self._pass, "within": self._within}
        if self._within and _keeps_its_place(self._source):
            found["place"] = self._source.state_dict()
        return found

    def check_state(self, state: object) -> None:
        """Refuse what is not such a state; the source's own place is for the source to judge."""
        check_counts(state, ["pass", "within"], what=f"the place in {self._name!r}")

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from there, at the source's own place or by reading up to it."""
        self._pass, self._within = state["pass"], 0
        self._iterator = None
        if "place" in state and hasattr(self._source, "load_state_dict"):
            self._source.load_state_dict(state["place"])
            self._iterator = self._opened()
        elif state["within"]:
            _log.warning(
                "%r cannot be set to a place: its first %d items of this pass are read again.",
                self._name,
                state["within"],
            )
            for _ in range(state["within"]):
                self.next()
        self._within = state["within"]

    def _opened(self) -> Iterator[Any]:
        for part in (self._source, *_parts_of(self._source)):
            if hasattr(part, "set_epoch"):
                part.set_epoch(self._pass)
        return iter(self._source)

    def __getstate__(self) -> dict[str, Any]:
        # An open iterator cannot be copied; the copy reads up to the same place.
        kept = {key: self.__dict__[key] for key in ("_source", "_name")}
        return {**kept, "place": self.state()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_source"], name=state["_name"])  # type: ignore[misc]
        self.load(state["place"])


class Streamed:
    """Takes examples from an iterable dataset; every process reads all and keeps its part.

    Args:
        dataset: Gives a new iterator each time.
        name: Of the task.
        batch_size: Examples of one process in a step.
        collate: Makes a batch of a list of examples.
    """

    size: int | None = None

    def __init__(
        self,
        dataset: Iterable[Any],
        *,
        name: str,
        batch_size: int,
        collate: Callable[[list[Any]], Any],
    ) -> None:
        self.batch_size = batch_size
        self._cycle = Cycle(dataset, name=name)
        self._collate = collate

    def steps(self, processes: int) -> int | None:
        """How many make a pass is not known."""
        return None

    def batch(self, processes: Processes) -> Any:
        """The next batch of this process."""
        read = [self._cycle.next() for _ in range(self.batch_size * processes.count)]
        return self._collate(read[processes.part(len(read))])

    def examples(self, count: int, mine: Indices) -> list[Any]:
        """Of the next `count` examples, those at these places."""
        read = [self._cycle.next() for _ in range(count)]
        return [read[place] for place in mine.tolist()]

    def fresh(self, processes: Processes, *, first: bool) -> tuple[Any, int]:
        """The next batch of the stream, which training then does not see."""
        return self.batch(processes), self.batch_size

    def state(self) -> dict[str, Any]:
        """Where it is."""
        return self._cycle.state()

    def check_state(self, state: object) -> None:
        """Refuse what is not such a state."""
        self._cycle.check_state(state)

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._cycle.load(state)


class Batched:
    """Takes ready batches from a loader, in the loader's own order.

    Of several processes, each takes every so many-th batch, unless the loader's sampler is a
    `DistributedSampler`, which has parted them already.

    Args:
        loader: With a sampler of its own, or over an iterable dataset.
        name: Of the task.
    """

    size: int | None = None

    def __init__(self, loader: DataLoader[Any], *, name: str) -> None:
        self.batch_size = loader.batch_size or 1
        self._loader = loader
        self._cycle = Cycle(loader, name=name)
        self._parted = isinstance(loader.sampler, DistributedSampler)

    def check(self, processes: Processes, *, name: str) -> None:
        """Refuse a random order of the loader's own, which every process would draw for itself."""
        ordered = isinstance(self._loader.dataset, IterableDataset)
        if processes.count > 1 and not (self._parted or ordered):
            raise ConfigError(
                f"The loader of {name!r} has a sampler of its own, and {processes.count} processes "
                "might draw the same examples from it. Pass its dataset, or give the loader a "
                "`DistributedSampler`."
            )

    def steps(self, processes: int) -> int | None:
        """How many make a pass, if the loader knows."""
        try:
            length = len(self._loader)
        except TypeError:
            return None
        return length if self._parted else -(-length // processes)

    def batch(self, processes: Processes) -> Any:
        """The next batch of this process."""
        if self._parted:
            return self._cycle.next()
        return [self._cycle.next() for _ in range(processes.count)][processes.index]

    def fresh(self, processes: Processes, *, first: bool) -> tuple[Any, int]:
        """The loader's next batch, which training then does not see."""
        found = self.batch(processes)
        return found, _length(found) or self.batch_size

    def state(self) -> dict[str, Any]:
        """Where it is."""
        return self._cycle.state()

    def check_state(self, state: object) -> None:
        """Refuse what is not such a state."""
        self._cycle.check_state(state)

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self._cycle.load(state)


def _parts_of(source: object) -> list[Any]:
    """What of a loader may want to know the number of a pass."""
    if not isinstance(source, DataLoader):
        return []
    return [source.batch_sampler, source.sampler, source.dataset]


def _keeps_its_place(source: Any) -> bool:
    """Whether its `state_dict` is exact; one of `datasets` forgets what a shuffle had in memory."""
    if not (hasattr(source, "state_dict") and hasattr(source, "load_state_dict")):
        return False
    waiting: list[Any] = [getattr(source, "_ex_iterable", None)]
    while waiting:
        part = waiting.pop()
        if hasattr(part, "buffer_size"):
            return False
        waiting += getattr(part, "ex_iterables", [])
        waiting += [part.ex_iterable] if hasattr(part, "ex_iterable") else []
    return True


def _length(batch: object) -> int | None:
    """How many examples a batch has, from its first tensor."""
    if isinstance(batch, Tensor):
        return len(batch) if batch.dim() else None
    if isinstance(batch, dict):
        batch = list(batch.values())
    if isinstance(batch, list | tuple):
        return next((found for part in batch if (found := _length(part)) is not None), None)
    return None
