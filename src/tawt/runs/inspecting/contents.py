"""Examples told apart by eight bytes each, whatever their labels."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.text.reading import TaggedSentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from torch import Tensor

    from tawt.text.reading import Example


def text_contents(examples: Sequence[Example]) -> NDArray[np.uint64]:
    """Of words, or texts; blanks count as one, so a sentence and its words are the same.

    Example:
        >>> from tawt.text.reading import LabelledText
        >>> words = TaggedSentence(("Good", "!"), ("ADJ", "PUNCT"), line=1)
        >>> text = LabelledText("Good  !", None, "pos", line=1)
        >>> one, other = text_contents([words, text])
        >>> bool(one == other)
        True
    """
    return _digests(_text(example).encode("utf-8", "surrogatepass") for example in examples)


def array_contents(inputs: Tensor) -> NDArray[np.uint64]:
    """Of the rows of an array.

    Example:
        >>> import torch
        >>> len(set(array_contents(torch.tensor([[1.0], [2.0], [1.0]])).tolist()))
        2
    """
    return _digests(row.tobytes() for row in inputs.numpy())


def repeated(contents: NDArray[np.uint64]) -> int:
    """How many are the same as an earlier one.

    Example:
        >>> repeated(np.array([5, 6, 5, 5], np.uint64))
        2
    """
    return len(contents) - len(np.unique(contents))


def shared(contents: NDArray[np.uint64], others: NDArray[np.uint64]) -> int:
    """How many occur among others.

    Example:
        >>> shared(np.array([5, 6, 5], np.uint64), np.array([5, 7], np.uint64))
        2
    """
    return int(np.isin(contents, others).sum())


def _text(example: Example) -> str:
    if isinstance(example, TaggedSentence):
        return " ".join(" ".join(example.words).split())
    parts = [example.text] if example.second is None else [example.text, example.second]
    return "\x1f".join(" ".join(part.split()) for part in parts)


def _digests(parts: Iterable[Any]) -> NDArray[np.uint64]:
    digests = (hashlib.blake2b(part, digest_size=8).digest() for part in parts)
    return np.frombuffer(b"".join(digests), np.uint64)
