"""Several datasets as one, in which a batch sampler's positions find their examples."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from torch.utils.data import Dataset

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class LaidEndToEnd(Dataset[Any]):
    """Map-style datasets, one after the other; the examples of a batch are fetched together.

    Args:
        parts: By name, in the order in which they are laid.

    Attributes:
        sizes: Number of examples of each.

    Example:
        >>> both = LaidEndToEnd({"web": ["a", "b"], "news": ["c"]})
        >>> len(both), both[2], both.__getitems__([0, 2])
        (3, 'c', ['a', 'c'])
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.parts = dict(parts)
        self.sizes = {name: len(part) for name, part in parts.items()}
        self._ends = list(accumulate(self.sizes.values()))
        self._names = list(parts)

    def __len__(self) -> int:
        return self._ends[-1]

    def __getitem__(self, index: int) -> Any:
        name, place = self._locate(index)
        return self.parts[name][place]

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Examples at these positions; at once, if one dataset has them all and can do that."""
        found = [self._locate(index) for index in indices]
        names = {name for name, _ in found}
        part: Any = self.parts[found[0][0]]
        if len(names) == 1 and hasattr(part, "__getitems__"):
            return list(part.__getitems__([place for _, place in found]))
        return [self.parts[name][place] for name, place in found]

    def _locate(self, index: int) -> tuple[str, int]:
        """Whose example is at a position, and where it is there."""
        number = bisect_right(self._ends, index)
        name = self._names[number]
        return name, index - self._ends[number] + self.sizes[name]
