"""What a question wants to be made, and what is told while it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Record = dict[str, Any]
"""What is kept of a piece of work: plain values."""


@dataclass(frozen=True)
class Context:
    """What a piece of work is told, and tells, while it is made."""

    should_stop: Callable[[], bool] = lambda: False
    """Asked after every step; if true, the work saves its state and raises `Interrupted`."""
    wait: bool = False
    """Whether to wait for another process that makes the same, instead of raising `FolderInUse`."""
    on_share: Callable[[float], None] = lambda share: None
    """Told the share that is done, from 0 to 1, by work that knows it."""


class Make(Protocol):
    """Does the work, often in another process: it is pickled, and has to have a name there."""

    def __call__(self, context: Context) -> None:
        """Do it, and leave its record in the store."""


def _fits(record: Record) -> bool:
    return True


@dataclass(frozen=True)
class Work:
    """One training, say; a question wants many.

    Two pieces of work with the same key are the same.
    """

    key: str
    """By which its record is found in the store."""
    name: str
    """In messages."""
    make: Make
    size: float = 0.0
    """Roughly how long it takes, beside the others: the longest is begun first."""
    fits: Callable[[Record], bool] = _fits
    """Whether a record that has the key is of this work, where the key alone does not tell."""


@dataclass(frozen=True)
class Plan:
    """What a question wants, as far as it is known from what is there already."""

    wanted: Sequence[Work]
    """Made already or not."""
    later: int = 0
    """How many more will be wanted, of which only the number is known by now."""


@dataclass(frozen=True)
class Progress:
    """How far a sweep has come."""

    done: float
    """Pieces of work that are there; one that is being made may count in part."""
    total: int
    before: int
    """Those that were there at the start, which say nothing about how long the rest takes."""
    made: Work | None = None
    """The one that was just made, if one was."""
