"""Labels as numbers, four bytes each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Numbers = np.ndarray[tuple[int], np.dtype[np.int32]]

_AT_ONCE = 1 << 16  # labels of an array that are sorted, or shown


@dataclass(frozen=True)
class Coded:
    """Labels as numbers, four bytes each, and every name once.

    Attributes:
        names: By number.
        numbers: One for each label.

    Example:
        >>> Coded.of(["noun", "verb", "noun"])
        Coded(names=('noun', 'verb'), numbers=array([0, 1, 0], dtype=int32))
    """

    names: tuple[str, ...]
    numbers: Numbers

    @classmethod
    def of(cls, labels: Iterable[Any]) -> Coded:
        """These labels, as text.

        Args:
            labels: Anything that can be shown as text. Of an array, no entry is made an object.
        """
        codes: dict[str, int] = {}
        if not isinstance(labels, np.ndarray) or labels.dtype == object:
            seen = (codes.setdefault(str(label), len(codes)) for label in labels)
            numbers = np.fromiter(seen, np.int32)  # which fills `codes`
            return cls(tuple(codes), numbers)
        numbers = np.empty(len(labels), np.int32)
        for start in range(0, len(labels), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            names, places = np.unique(np.asarray(labels[part]), return_inverse=True)
            found = [codes.setdefault(str(name), len(codes)) for name in names]
            numbers[part] = np.array(found, np.int32)[places]
        return cls(tuple(codes), numbers)

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self.numbers), _AT_ONCE):
            for number in self.numbers[start : start + _AT_ONCE].tolist():
                yield self.names[number]

    def at(self, indices: np.ndarray[Any, Any]) -> Coded:
        """The labels at these positions, with all names.

        Example:
            >>> Coded(("noun", "verb"), np.array([0, 1, 1], np.int32)).at(np.array([2, 0]))
            Coded(names=('noun', 'verb'), numbers=array([1, 0], dtype=int32))
        """
        return Coded(self.names, self.numbers[indices])

    def ordered(self) -> Coded:
        """The same labels, their names sorted, and none that no label has.

        Example:
            >>> Coded(("c", "a", "b"), np.array([0, 2, 0], np.int32)).ordered()
            Coded(names=('b', 'c'), numbers=array([1, 0, 1], dtype=int32))
        """
        counts = np.bincount(self.numbers, minlength=len(self.names)).tolist()
        names = sorted({name for name, count in zip(self.names, counts, strict=True) if count})
        places = {name: place for place, name in enumerate(names)}
        moved = np.array([places.get(name, 0) for name in self.names], np.int32)
        return Coded(tuple(names), moved[self.numbers])
