"""A task whose examples are found by their position."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from tawt.mixture.orders import Order
from tawt.mixture.states import check_counts
from tawt.streams import derived_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tawt.mixture.halves import Half
    from tawt.mixture.orders import Indices
    from tawt.mixture.processes import Processes

_PASSED_ON = (
    *("num_workers", "pin_memory", "timeout", "worker_init_fn", "multiprocessing_context"),
    *("prefetch_factor", "persistent_workers"),
)
"""Settings of a loader that have nothing to do with which examples it takes."""


class Indexed:
    """Takes examples of a map-style dataset, every one once in each pass.

    All processes count the same positions, and each fetches its own part of every window of them.

    Args:
        dataset: With a length and `[index]`.
        name: Of the task.
        seed: Of the mixture.
        batch_size: Examples of one process in a step.
        collate: Makes a batch of a list of examples.
        shuffled: Whether passes have orders of their own.
        loader: The loader that was given, if one was; its workers fetch ahead.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        name: str,
        seed: int,
        batch_size: int,
        collate: Callable[[list[Any]], Any],
        shuffled: bool = True,
        loader: DataLoader[Any] | None = None,
    ) -> None:
        self.size: int | None = len(dataset)
        self.batch_size = batch_size
        self.taken = 0
        self._name = name
        self._chosen = seed
        self._dataset = dataset
        self._collate = collate
        self._loader = loader
        self._order = Order(
            len(dataset), seed=seed, purpose=("mixture", "train", name), shuffled=shuffled
        )
        self._fresh_order = Order(len(dataset), seed=seed, purpose=("mixture", "fresh", name))
        self._seed = derived_seed(seed, "mixture", "workers", name)
        self._last = 0  # examples in the window that training took last
        self._measured = 0  # positions of the fresh order that were passed
        self._ahead: Iterator[Any] | None = None

    def steps(self, processes: int) -> int | None:
        """How many make a pass."""
        return -(-len(self._dataset) // (self.batch_size * processes))

    def batch(self, processes: Processes) -> Any:
        """The next batch of this process."""
        whole = self.batch_size * processes.count
        if self._loader is not None:
            if self._ahead is None:
                self._ahead = self._fetched_ahead(self._loader, processes)
            found = next(self._ahead)
        else:
            window = self._order.window(self.taken, whole)
            found = self._collate(self._fetched(window[processes.part(whole)]))
        self._advance(whole)
        return found

    def examples(self, count: int, mine: Indices) -> list[Any]:
        """Of the next `count` examples, those at these places."""
        window = self._order.window(self.taken, count)
        self._advance(count)
        return self._fetched(window[mine])

    def fresh(self, processes: Processes, *, first: bool) -> tuple[Any, int]:
        """A batch to measure by, and its number of examples.

        It has an order of its own and passes over what training took last. Two in a row have no
        example in common: where the pass is too short for both, the first begins a new one.

        Args:
            processes: Which of them this is.
            first: Whether it is the first in an update.
        """
        size = len(self._dataset)
        whole = max(min(self.batch_size * processes.count, size // 2), processes.count)
        last = self._order.window(self.taken - self._last, self._last)
        avoided = last if 2 * whole + len(last) <= size else last[:0]
        wanted = 2 * whole if first else whole
        if len(self._left(wanted, avoided)[0]) < wanted:
            self._measured += self._fresh_order.rest(self._measured)
        window, places = self._left(whole, avoided)
        if len(window) < whole:  # more processes than examples: some measure the same one
            window, places = self._fresh_order.window(self._measured, whole), np.arange(whole)
        self._measured += int(places[whole - 1]) + 1
        mine = window[:whole][processes.part(whole)]
        return self._collate(self._fetched(mine)), len(mine)

    def fresh_half(self, processes: Processes, half: Half) -> tuple[Any, int]:
        """A batch of one half of the examples, and its number of examples.

        Args:
            processes: Which of them this is.
            half: The half.
        """
        whole = self.batch_size * processes.count
        window = half.window(whole, size=len(self._dataset), seed=self._chosen, name=self._name)
        window = np.resize(window, max(len(window), processes.count))  # each has one, at least
        mine = window[processes.part(len(window))]
        return self._collate(self._fetched(mine)), len(mine)

    def state(self) -> dict[str, Any]:
        """Where it is."""
        return {"taken": self.taken, "last": self._last, "measured": self._measured}

    def check_state(self, state: object) -> None:
        """Refuse what is not such a state."""
        check_counts(state, ["taken", "last", "measured"], what=f"the place in {self._name!r}")

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self.taken, self._last = state["taken"], state["last"]
        self._measured = state["measured"]
        self._ahead = None

    def _left(self, count: int, avoided: Indices) -> tuple[Indices, Indices]:
        """Of this pass of the fresh order, at least so many if there are; and their places."""
        rest = self._fresh_order.rest(self._measured)
        window = self._fresh_order.window(self._measured, min(rest, count + len(avoided)))
        places = np.flatnonzero(~np.isin(window, avoided))
        return window[places], places

    def _advance(self, count: int) -> None:
        self.taken += count
        self._last = min(count, len(self._dataset))

    def _fetched(self, indices: Indices) -> list[Any]:
        places = indices.tolist()
        if hasattr(self._dataset, "__getitems__"):
            return list(self._dataset.__getitems__(places))
        return [self._dataset[place] for place in places]

    def _fetched_ahead(self, loader: DataLoader[Any], processes: Processes) -> Iterator[Any]:
        windows = _Windows(self._order, self.taken, self.batch_size, processes)
        settings = {name: getattr(loader, name) for name in _PASSED_ON}
        return iter(
            DataLoader(
                self._dataset,
                batch_sampler=windows,
                collate_fn=self._collate,
                generator=torch.Generator().manual_seed(self._seed),  # not the global stream
                **settings,
            )
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ahead": None}


class _Windows:
    """The positions of one process's batches, without an end."""

    def __init__(self, order: Order, start: int, batch_size: int, processes: Processes) -> None:
        self._order = order
        self._start = start
        self._batch_size = batch_size
        self._processes = processes

    def __iter__(self) -> Iterator[list[int]]:
        whole = self._batch_size * self._processes.count
        start = self._start
        while True:
            yield self._order.window(start, whole)[self._processes.part(whole)].tolist()
            start += whole
