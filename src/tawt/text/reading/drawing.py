"""Parts of a dataset, drawn so that they can be drawn again."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from tawt.errors import DataError
from tawt.streams import stream

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Item = TypeVar("Item")

FIXED_SEED = 20210514
"""For what must not differ between runs. Any constant will do, as long as it stays."""


def draw(examples: Sequence[Item], *, limit: int, seed: int, what: str) -> list[Item]:
    """Some examples, at random; of a larger draw with the same seed they are the first.

    Args:
        examples: What is drawn from.
        limit: How many.
        seed: Of the permutation whose first `limit` positions are drawn.
        what: What the examples are, for the error and for the seed.

    Raises:
        DataError: If there are not as many.

    Example:
        >>> few = draw("abcdefgh", limit=3, seed=0, what="train")
        >>> draw("abcdefgh", limit=5, seed=0, what="train")[:3] == few
        True
    """
    if limit > len(examples):
        raise DataError(
            f"A limit of {limit} {what} examples was asked for, but there are {len(examples)}; "
            f"{len(examples)} is the largest possible."
        )
    order = stream(seed, "limit", what).permutation(len(examples))
    return [examples[i] for i in order[:limit]]


def hold_out(
    examples: Sequence[Item], fractions: Mapping[str, float]
) -> tuple[list[Item], dict[str, list[Item]]]:
    """Cut dev and test off the training examples: what is left, and what was cut off.

    Which ones depends on the number of examples alone and on no run's seed, so that every run is
    judged on the same ones. Test is cut first: it is the same with and without dev. All stay in
    the order of the file.

    Args:
        examples: All of them.
        fractions: Of all examples, for `dev`, `test` or both.

    Raises:
        DataError: If a part would be empty.

    Example:
        >>> left, cut = hold_out(range(10), {"dev": 0.2, "test": 0.1})
        >>> len(left), len(cut["dev"]), len(cut["test"])
        (7, 2, 1)
    """
    order = stream(FIXED_SEED, "held out", len(examples)).permutation(len(examples))
    cut: dict[str, list[Item]] = {}
    start = 0
    for split in sorted(fractions, reverse=True):
        size = round(fractions[split] * len(examples))
        cut[split] = [examples[i] for i in sorted(order[start : start + size])]
        start += size
    left = [examples[i] for i in sorted(order[start:])]
    for split, part in (("train", left), *cut.items()):
        if not part:
            raise DataError(
                f"Holding out {_listed(fractions)} of {len(examples)} examples leaves none for "
                f"{split}; give more examples or other fractions."
            )
    return left, cut


def _listed(fractions: Mapping[str, float]) -> str:
    return " and ".join(f"{part:g} for {split}" for split, part in fractions.items())
