"""Gold answers beside predicted ones: as many of each, and at least one."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tawt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


def pairs(gold: Sequence[T], predicted: Sequence[T]) -> list[tuple[T, T]]:
    """Each gold answer with its prediction.

    Raises:
        DataError: There are more of one than of the other, or none at all.

    Example:
        >>> pairs(["a", "b"], ["a", "c"])
        [('a', 'a'), ('b', 'c')]
    """
    if len(gold) != len(predicted):
        raise DataError(
            f"Every gold answer needs one prediction; got {len(gold)} gold and "
            f"{len(predicted)} predicted. Score the same examples in the same order."
        )
    if len(gold) == 0:
        raise DataError("There is nothing to score: expected at least one answer, got none.")
    return list(zip(gold, predicted, strict=True))


def token_pairs(
    gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]
) -> list[tuple[str, str]]:
    """Each token's gold tag with its predicted tag, over all sentences.

    Raises:
        DataError: A sentence has more tags of one than of the other, or there are none at all.

    Example:
        >>> token_pairs([["O"], ["B-V", "O"]], [["O"], ["O", "O"]])
        [('O', 'O'), ('B-V', 'O'), ('O', 'O')]
    """
    tokens: list[tuple[str, str]] = []
    for number, (gold_tags, predicted_tags) in enumerate(pairs(gold, predicted)):
        if len(gold_tags) != len(predicted_tags):
            raise DataError(
                f"Sentence {number} needs one predicted tag per gold tag; got {len(gold_tags)} "
                f"gold and {len(predicted_tags)} predicted. Was the sentence cut?"
            )
        tokens += zip(gold_tags, predicted_tags, strict=True)
    if not tokens:
        raise DataError("There is nothing to score: every sentence is empty.")
    return tokens
