"""The order in which a task's examples are taken, pass after pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from tawt.streams import stream

Indices = np.ndarray[Any, np.dtype[np.integer[Any]]]


class Order:
    """Every example once in each pass, in an order that is new in every pass.

    The order of a pass is a function of the seed, the task and the number of the pass. A pass does
    not begin with examples that the last one ended with: any quarter of the examples in a row
    are different ones, also where a pass ends. A batch of that size holds none twice.

    Args:
        size: Number of examples.
        seed: Of the mixture.
        purpose: What the order is for, such as "train" and the task's name.
        shuffled: Whether the order changes at all.

    Example:
        >>> order = Order(4, seed=0, purpose=("train", "pos"))
        >>> sorted(order.window(0, 4).tolist()), len(order.window(3, 6))
        ([0, 1, 2, 3], 6)
    """

    def __init__(
        self, size: int, *, seed: int, purpose: tuple[str, ...], shuffled: bool = True
    ) -> None:
        self.size = size
        self._seed = seed
        self._purpose = purpose
        self._shuffled = shuffled
        self._passes: dict[int, Indices] = {}

    def window(self, start: int, count: int) -> Indices:
        """Those at positions `start` to `start + count`, counted over all passes."""
        first, last = start // self.size, (start + max(count, 1) - 1) // self.size
        parts = []
        for number in range(first, last + 1):
            begin = max(start - number * self.size, 0)
            parts.append(self._pass(number)[begin : start + count - number * self.size])
        return np.concatenate(parts)

    def rest(self, start: int) -> int:
        """How many positions the pass has from there on."""
        return self.size - start % self.size

    def _pass(self, number: int) -> Indices:
        if number not in self._passes:
            self._passes = {known: self._passes[known] for known in sorted(self._passes)[-1:]}
            self._passes[number] = self._build_order(number)
        return self._passes[number]

    def _build_order(self, number: int) -> Indices:
        """The pass's own permutation; in its first half, examples just seen come last.

        Its second half is left alone, so that the next pass can be made without making this one.
        """
        order = self._permutation(number)
        if number == 0 or not self._shuffled:
            return order
        half, quarter = self.size // 2, self.size // 4
        seen = np.isin(order[:half], self._permutation(number - 1)[self.size - quarter :])
        order[:half] = np.concatenate([order[:half][~seen], order[:half][seen]])
        return order

    def _permutation(self, number: int) -> Indices:
        numbers: Indices = np.arange(self.size, dtype=np.int32 if self.size < 2**31 else np.int64)
        if self._shuffled:
            stream(self._seed, *self._purpose, "pass", number).shuffle(numbers)
        return numbers

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_passes": {}}
