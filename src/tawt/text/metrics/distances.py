"""How far predicted numbers are from the gold ones, by scikit-learn.

Numbers that are not finite give NaN: scikit-learn refuses them, and a model that has diverged is to
be scored all the same.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import metrics

from tawt.text.metrics.pairing import check_pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
