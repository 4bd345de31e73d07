"""Whether estimates put sources in the order of the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import scipy  # whose parts are imported when they are first used

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def rank_correlation(
    told: Mapping[str, Mapping[str, float]], true: Mapping[str, Mapping[str, float]]
) -> float | None:
    """Spearman's, over the sources of all targets that both know.

    Ranks are taken within each target, since targets' risks have different scales.

    Args:
        told: By target and source.
        true: By target and source.

    Returns:
        None for fewer than three pairs, or where one side is all the same.

    Example:
        >>> rank_correlation({"ner": {"a": 1, "b": 5, "c": 2}}, {"ner": {"a": 0, "b": 9, "c": 3}})
        1.0
    """
    left: list[float] = []
    right: list[float] = []
    for target, found in told.items():
        both = [source for source in found if source in true.get(target, {})]
        left += _ranks([found[source] for source in both])
        right += _ranks([true[target][source] for source in both])
    if len(left) < 3 or min(len(set(left)), len(set(right))) < 2:
        return None
    return float(scipy.stats.spearmanr(left, right).statistic)


def _ranks(values: Sequence[float]) -> list[float]:
    """From 0 to 1.

    Example:
        >>> _ranks([3.0, 9.0, 5.0])
        [0.0, 1.0, 0.5]
    """
    if len(values) == 1:
        return [0.5]
    ranked = scipy.stats.rankdata(values)
    return [float(rank - 1) / (len(values) - 1) for rank in ranked]
