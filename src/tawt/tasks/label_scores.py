"""How well each label is found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class LabelScore:
    """Precision, recall and F1 of one label; a share of nothing is 0."""

    precision: float
    recall: float
    f1: float
    support: int
    """How often it is the right answer."""


def label_scores(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, LabelScore]:
    """The scores of each label that occurs in gold or predicted answers, by name.

    Args:
        gold: The right labels.
        predicted: The predicted labels, in the same order.

    Example:
        >>> found = label_scores(["cat", "cat", "dog"], ["cat", "dog", "dog"])
        >>> found["cat"]
        LabelScore(precision=1.0, recall=0.5, f1=0.6666666666666666, support=2)
        >>> found["dog"].precision
        0.5
    """
    right = (label for label, other in zip(gold, predicted, strict=True) if label == other)
    return counted_scores(gold=Counter(gold), predicted=Counter(predicted), right=Counter(right))


def counted_scores(
    *, gold: Mapping[str, int], predicted: Mapping[str, int], right: Mapping[str, int]
) -> dict[str, LabelScore]:
    """The scores of each label, from counts.

    Args:
        gold: How often each label is the right answer.
        predicted: How often it was predicted.
        right: How often it was predicted and right.

    Example:
        >>> counted_scores(gold={"PER": 4}, predicted={"PER": 2}, right={"PER": 1})["PER"].recall
        0.25
    """
    return {
        label: LabelScore(
            precision=_share(right.get(label, 0), predicted.get(label, 0)),
            recall=_share(right.get(label, 0), gold.get(label, 0)),
            f1=_share(2 * right.get(label, 0), gold.get(label, 0) + predicted.get(label, 0)),
            support=gold.get(label, 0),
        )
        for label in _names(gold, predicted)
    }


def _names(*counts: Iterable[str]) -> list[str]:
    return sorted({label for each in counts for label in each})


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
