"""How far predicted numbers are from the gold ones; as in `tawt.tasks.Regression`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tawt.text.metrics.pairing import pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def mse(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Mean squared error.

    Example:
        >>> mse([1.0, 2.0], [1.0, 4.0])
        2.0
    """
    return float(np.square(_errors(gold, predicted)).mean())


def mae(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Mean absolute error.

    Example:
        >>> mae([1.0, 2.0], [1.0, 4.0])
        1.0
    """
    return float(np.abs(_errors(gold, predicted)).mean())


def r2(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Explained variance r²: 1 is perfect, 0 is no better than the mean of the gold numbers.

    Where the gold numbers are all the same there is no variance to explain, and r² is 0.

    Example:
        >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
        0.5
    """
    errors = _errors(gold, predicted)
    spread = float(np.square(np.asarray(gold) - np.mean(gold)).sum())
    return 1 - float(np.square(errors).sum()) / spread if np.ptp(gold) > 0 else 0.0


def _errors(gold: Sequence[float], predicted: Sequence[float]) -> NDArray[np.float64]:
    both = np.asarray(pairs(gold, predicted), dtype=float)
    errors: NDArray[np.float64] = both[:, 0] - both[:, 1]
    return errors
