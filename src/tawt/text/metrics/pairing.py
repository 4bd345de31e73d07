"""Gold tags beside predicted ones: as many of each in every sentence."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from tawt.errors import DataError
from tawt.modality.scoring import check_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence


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
