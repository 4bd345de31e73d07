"""Right and wrong labels, of tokens and of whole examples, by scikit-learn.

Functions on flat label lists serve classification; those named `token_…` take the tags of each
sentence and score all tokens of the corpus alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn import metrics

from tawt.errors import DataError
from tawt.modality.scoring import check_pairs
from tawt.text.metrics.coding import coded
from tawt.text.metrics.pairing import tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """The share of right labels.

    Example:
        >>> accuracy(["a", "b", "b", "a"], ["a", "b", "a", "a"])
        0.75
    """
    check_pairs(gold, predicted)
    codes = coded(gold, predicted)
    return float(metrics.accuracy_score(codes.gold, codes.predicted))


def token_accuracy(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """The share of tokens with the right tag.

    Example:
        >>> token_accuracy([["DT", "NN"], ["VB", "RB"]], [["DT", "NN"], ["NN", "RB"]])
        0.75
    """
    return accuracy(*tokens_of(gold, predicted))


def macro_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """F1 of each label, averaged over the labels that occur in gold or predicted.

    These are scikit-learn's default labels: one that only occurs among the predictions counts
    with F1 0; one of the task that occurs nowhere in this split does not count.

    Example:
        >>> macro_f1(["a", "b"], ["a", "a"]).__round__(3)
        0.333
    """
    check_pairs(gold, predicted)
    codes = coded(gold, predicted)
    return float(metrics.f1_score(codes.gold, codes.predicted, average="macro"))


def token_macro_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """`macro_f1` of the tags of all tokens.

    Example:
        >>> token_macro_f1([["a"], ["b"]], [["a"], ["a"]]).__round__(3)
        0.333
    """
    return macro_f1(*tokens_of(gold, predicted))


def positive_f1(gold: Sequence[str], predicted: Sequence[str], positive: str = "1") -> float:
    """F1 of one label.

    Args:
        gold: The right labels.
        predicted: The predicted labels.
        positive: The label to find.

    Raises:
        DataError: No gold label is `positive`, so every prediction would score 0. Most often it is
            spelled otherwise in the data.

    Example:
        >>> positive_f1(["yes", "no", "yes"], ["yes", "yes", "no"], positive="yes")
        0.5
    """
    check_pairs(gold, predicted)
    if positive not in gold:
        raise DataError(
            f"F1 of the label {positive!r} needs gold examples of it; "
            f"got only {sorted(set(gold))}. Name one of these, or use macro_f1."
        )
    return float(
        metrics.f1_score(
            [label == positive for label in gold], [label == positive for label in predicted]
        )
    )


def token_f1(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]], *, outside: str = "O"
) -> float:
    """F1 of the tokens that have a tag at all: every tag but `outside` is positive.

    With one such tag (`B-V` in predicate detection) this is that tag's `positive_f1`; with several
    it is their micro-average. Without any, in gold and predicted, it is 0, as in `span_f1`.

    Example:
        >>> token_f1([["O", "B-V"], ["B-V"]], [["B-V", "B-V"], ["O"]])
        0.5
    """
    codes = coded(*tokens_of(gold, predicted))
    marked = [code for code, tag in enumerate(codes.labels) if tag != outside]
    if not marked:
        return 0.0
    return float(metrics.f1_score(codes.gold, codes.predicted, labels=marked, average="micro"))
