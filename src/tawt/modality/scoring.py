"""Gold answers beside predicted ones, and how far numbers are from them, by scikit-learn.

Every kind of data that predicts numbers scores them by these.

Numbers that are not finite give NaN: scikit-learn refuses them, and a model that has diverged is to
be scored all the same.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import metrics

from tawt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def check_pairs(gold: Sequence[Any], predicted: Sequence[Any]) -> None:
    """Refuse answers that cannot be compared one by one.

    Raises:
        DataError: There are more of one than of the other, or none at all.

    Example:
        >>> check_pairs(["a"], [])  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        tawt.errors.DataError: Every gold answer needs one prediction; got 1 gold and 0 predicted...
    """
    if len(gold) != len(predicted):
        raise DataError(
            f"Every gold answer needs one prediction; got {len(gold)} gold and "
            f"{len(predicted)} predicted. Score the same examples in the same order."
        )
    if len(gold) == 0:
        raise DataError("There is nothing to score: expected at least one answer, got none.")


def mse(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Mean squared error.

    Example:
        >>> mse([1.0, 2.0], [1.0, 4.0])
        2.0
    """
    return _score(metrics.mean_squared_error, gold, predicted)


def mae(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Mean absolute error.

    Example:
        >>> mae([1.0, 2.0], [1.0, 4.0])
        1.0
    """
    return _score(metrics.mean_absolute_error, gold, predicted)


def r2(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Explained variance r²: 1 is perfect, 0 is no better than the mean of the gold numbers.

    Where the gold numbers are all the same there is no variance to explain, and r² is 0.

    Example:
        >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
        0.5
    """
    return _score(_explained, gold, predicted)


def _explained(gold: Sequence[float], predicted: Sequence[float]) -> float:
    return float(metrics.r2_score(gold, predicted)) if np.ptp(gold) > 0 else 0.0


def _score(
    score: Callable[[Any, Any], float], gold: Sequence[float], predicted: Sequence[float]
) -> float:
    check_pairs(gold, predicted)
    finite = np.isfinite([gold, predicted]).all()
    return float(score(gold, predicted)) if finite else math.nan
