"""Bytes as tokens: no tokenizer to train, and nothing that cannot be written."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from tawt.corpora.vocabularies.interface import Ids, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

_PADDING, _END, _UNKNOWN, _FIRST, _MASK = 0, 1, 2, 3, 259


class Bytes(Vocabulary):
    """The bytes of UTF-8, numbered as ByT5 does: a byte plus 3, after padding, end and unknown.

    A token for masks comes last.

    Example:
        >>> vocabulary = Bytes()
        >>> vocabulary.encode(["é!"])
        [array([198, 172,  36], dtype=uint16)]
        >>> vocabulary.decode([198, 172, 36, vocabulary.separator])
        'é!'
    """

    separator = _END
    padding = _PADDING
    mask = _MASK
    specials = frozenset({_PADDING, _END, _UNKNOWN, _MASK})
    size = _MASK + 1
    fingerprint = hashlib.sha256(b"bytes of UTF-8, plus 3").hexdigest()

    def encode_joined(self, texts: Sequence[str]) -> tuple[Ids, NDArray[np.int64]]:
        """The bytes of texts, one text after the other, and how many each has."""
        encoded = [text.encode() for text in texts]
        counts = np.fromiter(map(len, encoded), np.int64, len(encoded))
        joined = np.frombuffer(b"".join(encoded), np.uint8).astype(np.uint16)
        joined += _FIRST
        return joined, counts

    def decode(self, ids: Iterable[int]) -> str:
        """The text; a part of a character at an end becomes U+FFFD."""
        numbers = np.fromiter(ids, np.int64)
        plain = numbers[(numbers >= _FIRST) & (numbers < _MASK)] - _FIRST
        return plain.astype(np.uint8).tobytes().decode("utf-8", "replace")

    def save(self, folder: Path) -> None:
        """Leave a ByT5 tokenizer; it reads special tokens in a text, such as the mask, as such."""
        from transformers import ByT5Tokenizer

        ByT5Tokenizer(extra_ids=0, mask_token="<mask>").save_pretrained(folder)
