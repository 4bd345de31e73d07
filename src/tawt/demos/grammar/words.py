"""Annotated words, and the dice that choose them."""

from __future__ import annotations

from bisect import bisect
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

T = TypeVar("T")


class Word(NamedTuple):
    """A word with its four tags.

    Example:
        >>> Word("Paris", "NNP").chunk
        'O'
    """

    text: str
    pos: str
    chunk: str = "O"
    predicate: str = "O"
    entity: str = "O"


def chunk(words: Iterable[Word], kind: str) -> list[Word]:
    """Words as one chunk.

    Example:
        >>> [word.chunk for word in chunk([Word("the", "DT"), Word("city", "NN")], "NP")]
        ['B-NP', 'I-NP']
    """
    return [word._replace(chunk=f"{'I' if i else 'B'}-{kind}") for i, word in enumerate(words)]


def entity(words: Iterable[Word], kind: str) -> list[Word]:
    """Words as one named entity.

    Example:
        >>> [word.entity for word in entity([Word("New", "NNP"), Word("York", "NNP")], "LOC")]
        ['B-LOC', 'I-LOC']
    """
    return [word._replace(entity=f"{'I' if i else 'B'}-{kind}") for i, word in enumerate(words)]


class Dice:
    """Choices from one random stream.

    Example:
        >>> import numpy as np
        >>> Dice(np.random.default_rng(0)).weighted({"heads": 1, "tails": 0})
        'heads'
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def chance(self, probability: float) -> bool:
        """True that often."""
        return float(self._generator.random()) < probability

    def pick(self, words: Sequence[T]) -> T:
        """One of them, the first ones most often (1 / (rank + 4), as words in a language are)."""
        return words[bisect(_ranked(len(words)), float(self._generator.random()))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """One of the keys, by weight."""
        sums = list(accumulate(weights.values()))
        return list(weights)[bisect(sums, float(self._generator.random()) * sums[-1])]


@cache
def _ranked(size: int) -> list[float]:
    sums = list(accumulate(1 / (rank + 5) for rank in range(size)))
    return [value / sums[-1] for value in sums[:-1]]
