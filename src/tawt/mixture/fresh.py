"""Losses on batches that are not training's, for an update of the weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tawt.errors import WeightsError, suggestion
from tawt.mixture.feeds import HalvedFeed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from torch import Tensor

    from tawt.mixture.feeds import Feed
    from tawt.mixture.halves import Half
    from tawt.mixture.processes import Processes


class FreshBatches:
    """`loss_of` for one update; made by `Mixture.fresh`.

    Args:
        feeds: By task.
        loss_on: From a task and a batch to a scalar loss.
        processes: Which of them this is.
        listed: Whether the task is given as a list with a name for each example.
        halves: Of which targets a half is seen, and which.
    """

    def __init__(
        self,
        feeds: Mapping[str, Feed],
        loss_on: Callable[[Any, Any], Tensor],
        *,
        processes: Processes,
        listed: bool,
        halves: Mapping[str, Half],
    ) -> None:
        self._feeds = feeds
        self._loss_on = loss_on
        self._processes = processes
        self._listed = listed
        self._halves = dict(halves)
        self._asked: set[str] = set()

    def __call__(self, task: str) -> Any:
        """The task's loss; of several processes, with the number of examples on this one."""
        batch, examples = self.batch(task)
        loss = self._loss_on([task] * examples if self._listed else task, batch)
        return loss if self._processes.count == 1 else (loss, examples)

    def batch(self, task: str) -> tuple[Any, int]:
        """The batch itself, and the number of its examples on this process."""
        if task not in self._feeds:
            raise WeightsError(
                f"There is no dataset {task!r} to draw a fresh batch from; "
                f"{suggestion(str(task), self._feeds)}"
            )
        first = task not in self._asked
        self._asked.add(task)
        feed = self._feeds[task]
        if task in self._halves and isinstance(feed, HalvedFeed):
            half = self._halves[task]
            part = 0 if first else min(1, half.parts - 1)
            return feed.fresh_half(self._processes, replace(half, part=part))
        return self._feeds[task].fresh(self._processes, first=first)
