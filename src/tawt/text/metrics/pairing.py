"""Gold answers beside predicted ones: as many of each, and at least one."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from tawt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def tokens_of(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> tuple[list[str], list[str]]:
    """The gold and the predicted tags of all tokens, sentence after sentence.

    Raises:
        DataError: A sentence has more tags of one than of the other, or there are none at all.

    Example:
        >>> tokens_of([["O"], ["B-V", "O"]], [["O"], ["O", "O"]])
        (['O', 'B-V', 'O'], ['O', 'O', 'O'])
    """
    check_pairs(gold, predicted)
    for number, (gold_tags, predicted_tags) in enumerate(zip(gold, predicted, strict=True)):
        if len(gold_tags) != len(predicted_tags):
            raise DataError(
                f"Sentence {number} needs one predicted tag per gold tag; got {len(gold_tags)} "
                f"gold and {len(predicted_tags)} predicted. Was the sentence cut?"
            )
    if not any(map(len, gold)):
        raise DataError("There is nothing to score: every sentence is empty.")
    return list(chain.from_iterable(gold)), list(chain.from_iterable(predicted))
