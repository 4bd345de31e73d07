"""What corpora ask of a tokenizer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Ids = NDArray[Any]
"""Numbers of tokens."""


class Vocabulary(ABC):
    """A tokenizer that turns text into numbers of tokens, and back.

    Text never becomes a special token, even if it looks like one: only the separator ends a
    document.
    """

    separator: int
    """Stands before, between and after documents."""
    padding: int
    """Fills a row that is not full; what is filled is never counted."""
    mask: int | None
    """Stands for a token that is to be guessed, if there is one."""
    specials: frozenset[int]
    """Tokens that stand for no text; the separator is among them."""
    size: int
    """How many tokens there are: every number is below it."""
    fingerprint: str
    """SHA-256 of all that numbers of tokens depend on."""

    @abstractmethod
    def encode_joined(self, texts: Sequence[str]) -> tuple[Ids, NDArray[np.int64]]:
        """The tokens of texts, one text after the other, and how many each has.

        Args:
            texts: Any number.
        """

    def encode(self, texts: Sequence[str]) -> list[Ids]:
        """The tokens of each text, without special ones.

        Args:
            texts: Any number.
        """
        if not texts:
            return []
        joined, counts = self.encode_joined(texts)
        return np.split(joined, np.cumsum(counts)[:-1])

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """The text that tokens stand for; special ones stand for none.

        Args:
            ids: Their numbers.
        """

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Leave the files from which `AutoTokenizer.from_pretrained(folder)` makes this tokenizer.

        Args:
            folder: Made if it is not there.
        """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The smallest that every number fits."""
        return np.dtype(np.uint16 if self.size <= 2**16 else np.uint32)
