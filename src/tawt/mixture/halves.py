"""One of two halves of a target's examples, which successive updates see in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tawt.streams import stream

if TYPE_CHECKING:
    from tawt.mixture.orders import Indices


@dataclass(frozen=True)
class Half:
    """Which examples of a target an update measures.

    Example:
        >>> first = Half(which=0, cut=3).order(5, seed=0, name="ner")
        >>> second = Half(which=1, cut=3).order(5, seed=0, name="ner")
        >>> sorted([*first.tolist(), *second.tolist()])
        [0, 1, 2, 3, 4]
    """

    which: int
    """0 or 1."""
    cut: int
    """The number of the cut; both halves of one are seen before the next."""
    parts: int = 1
    """How many batches of it an update asks for."""
    part: int = 0
    """Which of them this is."""

    def order(self, size: int, *, seed: int, name: str) -> Indices:
        """Its examples, in a random order."""
        order = stream(seed, "mixture", "halves", name, self.cut).permutation(size)
        found: Indices = order[self.which :: 2]
        return found

    def window(self, count: int, *, size: int, seed: int, name: str) -> Indices:
        """The examples of this part: so many, or as many as there are for it.

        Args:
            count: How many are wanted.
            size: Examples of the target.
            seed: Of the mixture.
            name: Of the target.
        """
        mine = self.order(size, seed=seed, name=name)
        each = min(count, max(1, len(mine) // self.parts))
        return np.resize(mine, self.parts * each)[self.part * each :][:each]
