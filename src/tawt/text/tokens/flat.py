"""Pieces of many texts end to end in one array, and batches cut out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tawt.text.tokens.widths import padded_width

if TYPE_CHECKING:
    from collections.abc import Iterable

Ints = NDArray[np.integer[Any]]


class FlatRows:
    """Rows of different lengths, kept end to end: memory is linear in what they hold.

    Args:
        values: All rows' entries.
        starts: Where each row starts, and where the last ends, shape `(rows + 1,)`.

    Example:
        >>> rows = FlatRows.of([[1, 2, 3], [4], [5, 6]], dtype=np.int32)
        >>> rows.padded(np.array([2, 0]), width=4, filler=0)
        array([[5, 6, 0, 0],
               [1, 2, 3, 0]], dtype=int32)
        >>> rows.lengths
        array([3, 1, 2])
    """

    def __init__(self, values: Ints, starts: Ints) -> None:
        self.values = values
        self.starts = starts

    @classmethod
    def of(cls, rows: Iterable[Iterable[int]], *, dtype: type[np.integer[Any]]) -> FlatRows:
        """From rows one by one."""
        parts = [np.fromiter(row, dtype) for row in rows]
        return cls.joined(parts, dtype=dtype)

    @classmethod
    def joined(cls, parts: list[Ints], *, dtype: type[np.integer[Any]]) -> FlatRows:
        """From one array per row."""
        starts = np.zeros(len(parts) + 1, np.int64)
        np.cumsum([len(part) for part in parts], out=starts[1:])
        values = np.concatenate(parts) if parts else np.empty(0, dtype)
        return cls(values.astype(dtype, copy=False), starts)

    def followed_by(self, more: FlatRows) -> FlatRows:
        """These rows and then more.

        Example:
            >>> rows = FlatRows.of([[1, 2]], dtype=np.int32)
            >>> rows.followed_by(FlatRows.of([[3], [4, 5]], dtype=np.int32)).lengths
            array([2, 1, 2])
        """
        starts = np.concatenate([self.starts, self.starts[-1] + more.starts[1:]])
        return FlatRows(np.concatenate([self.values, more.values]), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> Ints:
        return self.values[self.starts[row] : self.starts[row + 1]]

    @property
    def lengths(self) -> Ints:
        """Entries of each row."""
        return np.diff(self.starts)

    def width(self, rows: Ints, *, most: int) -> int:
        """What a batch of these rows is padded to: never more than an encoder takes."""
        lengths = self.starts[rows + 1] - self.starts[rows]
        # One of several processes may have none of a short batch.
        return min(most, padded_width(int(lengths.max(initial=1))))

    def padded(self, rows: Ints, *, width: int, filler: int) -> Ints:
        """These rows as a matrix, shape `(len(rows), width)`."""
        starts = self.starts[rows][:, None]
        lengths = self.starts[rows + 1][:, None] - starts
        places = np.arange(width)
        inside = places < lengths
        found = self.values[np.where(inside, starts + places, 0)]
        found[~inside] = filler
        return found
