"""How well predictions follow the gold answers.

What does not vary cannot be followed, and follows nothing: where the gold answers or the
predictions are all the same, every correlation here is 0. Numbers that are not finite give NaN.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats
from sklearn import metrics

from tawt.modality.scoring import check_pairs
from tawt.text.metrics.coding import coded

if TYPE_CHECKING:
    from collections.abc import Sequence


def matthews(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Matthews' correlation of two labelings, for any number of labels (Gorodkin 2004).

    Example:
        >>> matthews(["a", "a", "b", "b"], ["a", "a", "b", "a"]).__round__(4)
        0.5774
        >>> matthews(["a", "b"], ["a", "a"])
        0.0
    """
    check_pairs(gold, predicted)
    codes = coded(gold, predicted)
    if len(codes.labels) == 1:  # scikit-learn says 0 too, but warns
        return 0.0
    return float(metrics.matthews_corrcoef(codes.gold, codes.predicted))


def pearson(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Pearson's linear correlation.

    Example:
        >>> pearson([1.0, 2.0, 3.0], [2.0, 4.0, 7.0]).__round__(4)
        0.9934
        >>> pearson([1.0, 2.0, 3.0], [5.0, 5.0, 5.0])
        0.0
    """
    check_pairs(gold, predicted)
    both = np.asarray([gold, predicted], dtype=float)
    if not np.isfinite(both).all():
        return math.nan
    if (np.ptp(both, axis=1) == 0).any():
        return 0.0
    with warnings.catch_warnings():
        # A model that has just begun to learn predicts nearly one number; that is no news.
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        return float(stats.pearsonr(*both).statistic)


def spearman(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Spearman's rank correlation: Pearson's of the ranks, ties sharing their mean rank.

    Example:
        >>> spearman([1.0, 2.0, 3.0], [2.0, 4.0, 700.0]).__round__(4)
        1.0
        >>> spearman([4.0, 4.0], [1.0, 2.0])
        0.0
    """
    check_pairs(gold, predicted)
    return pearson(stats.rankdata(gold).tolist(), stats.rankdata(predicted).tolist())
