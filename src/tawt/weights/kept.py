"""A history that does not grow for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from tawt.errors import WeightsError, is_whole
from tawt.weights.history import WeightUpdate

_MOST = 10_000  # updates kept: a few ten megabytes with a dozen tasks


class History(Sequence[WeightUpdate]):
    """Every update; of very many every second pair, then every fourth, and so on, and the newest.

    Up to `most` updates it is a list of all of them. What is left out is still counted. Pairs stay
    together, since two updates in turn may see the halves of a target's examples.

    Args:
        kept: Updates to begin with.
        most: How many are kept.

    Attributes:
        updates: How many there were, kept or not.

    Example:
        >>> history = History(most=4)
        >>> for step in range(1, 11):
        ...     history.append(WeightUpdate(step, {"a": 1.0}, {"a": 0.0}))
        >>> [update.step for update in history], history.updates
        ([1, 2, 9, 10], 10)
    """

    def __init__(self, kept: Iterable[WeightUpdate] = (), *, most: int = _MOST) -> None:
        self._kept: list[WeightUpdate] = []
        self._most = most
        self._every = 1
        self._skipped = 0
        self._failures: Counter[str] = Counter()
        self.updates = 0
        for update in kept:
            self.append(update)

    def append(self, update: WeightUpdate) -> None:
        """Add the newest."""
        if self._kept and (self.updates - 1) // 2 % self._every:
            self._leave_out(self._kept.pop())
        self._kept.append(update)
        self.updates += 1
        if len(self._kept) > self._most:
            before, newest = self._kept, self._kept[-1]
            self._every *= 2
            self._kept = [u for at, u in enumerate(before) if at // 2 % 2 == 0 or u is newest]
            for at, left in enumerate(before):
                if at // 2 % 2 and left is not newest:
                    self._leave_out(left)

    def _leave_out(self, update: WeightUpdate) -> None:
        self._skipped += update.skipped is not None
        if update.failure is not None:
            self._failures[update.failure] += 1

    @property
    def skipped(self) -> int:
        """How many updates were skipped, those left out included."""
        return self._skipped + sum(update.skipped is not None for update in self._kept)

    @property
    def failures(self) -> list[str]:
        """Why updates failed, one reason each, the newest last."""
        found = list(self._failures.elements())
        return found + [update.failure for update in self._kept if update.failure is not None]

    @overload
    def __getitem__(self, place: int) -> WeightUpdate: ...
    @overload
    def __getitem__(self, place: slice) -> list[WeightUpdate]: ...
    def __getitem__(self, place: int | slice) -> WeightUpdate | list[WeightUpdate]:
        return self._kept[place]

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[WeightUpdate]:
        return iter(self._kept)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, History):
            return self.left_out() == other.left_out() and self._kept == other._kept
        return self._kept == other

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return repr(self._kept)

    def left_out(self) -> dict[str, Any]:
        """What is known of the updates that are not kept, as plain JSON values."""
        return {
            "updates": self.updates,
            "every": self._every,
            "skipped": self._skipped,
            "failures": [[reason, count] for reason, count in self._failures.items()],
        }

    @classmethod
    def restored(cls, kept: Sequence[WeightUpdate], left_out: Mapping[str, Any]) -> History:
        """Inverse of `left_out`.

        Raises:
            WeightsError: It is not what `left_out` returned beside these updates.
        """
        found = cls()
        found._kept = list(kept)
        try:
            found.updates, found._every = left_out["updates"], left_out["every"]
            found._skipped = left_out["skipped"]
            found._failures = Counter(dict(left_out["failures"]))
        except (KeyError, TypeError, ValueError) as error:
            raise WeightsError(
                "`left_out` of the saved state is not what `History.left_out` returns; got "
                f"{str(left_out)[:80]}."
            ) from error
        numbers = [found.updates, found._every, found._skipped, *found._failures.values()]
        if not all(is_whole(number) and number >= 0 for number in numbers) or (
            found.updates < len(found._kept) or found._every < 1
        ):
            raise WeightsError(
                f"`left_out` of the saved state must be counts; got {str(left_out)[:80]}."
            )
        return found
