"""Labels as numbers: scikit-learn sorts lists of names several times a score, which is slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class Codes(NamedTuple):
    """Labels as positions in the list of all that occur."""

    labels: list[str]
    gold: NDArray[np.int64]
    predicted: NDArray[np.int64]


def coded(gold: Sequence[str], predicted: Sequence[str]) -> Codes:
    """Gold and predicted labels as numbers.

    Example:
        >>> codes = coded(["b", "a"], ["b", "c"])
        >>> codes.labels, codes.gold.tolist(), codes.predicted.tolist()
        (['a', 'b', 'c'], [1, 0], [1, 2])
    """
    labels = sorted({*gold, *predicted})
    position = {label: index for index, label in enumerate(labels)}

    def numbers(names: Sequence[str]) -> NDArray[np.int64]:
        return np.fromiter(map(position.__getitem__, names), dtype=np.int64, count=len(names))

    return Codes(labels, numbers(gold), numbers(predicted))
