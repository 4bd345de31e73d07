"""Words inside names, with their part of speech and the type of the name, as vectors."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tawt.errors import DataError
from tawt.reproduce.vectors import load_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from tawt.text.reading import Example, TaggedSentence

NEIGHBOURS = 2
"""On either side of a word: five vectors in a row."""


@dataclass(frozen=True)
class NameWords:
    """Words of one split."""

    features: NDArray[np.float32]
    """Shape `(words, 5 × width)`."""
    tags: NDArray[np.str_]
    """Parts of speech."""
    types: NDArray[np.str_]
    """Of the names."""


def paired(
    first: Sequence[Example], second: Sequence[Example]
) -> Iterator[tuple[TaggedSentence, TaggedSentence]]:
    """Sentences that both have, by their words; of several alike, the first with the first.

    Args:
        first: Tagged one way.
        second: Tagged another.
    """
    waiting: dict[tuple[str, ...], list[TaggedSentence]] = defaultdict(list)
    for sentence in reversed(second):
        waiting[tuple(sentence.words)].append(sentence)  # type: ignore[union-attr,arg-type]
    for sentence in first:
        others = waiting.get(tuple(sentence.words))  # type: ignore[union-attr]
        if others:
            yield sentence, others.pop()  # type: ignore[misc]


def name_words(
    tagged: Mapping[str, Sequence[Example]],
    typed: Mapping[str, Sequence[Example]],
    vectors: str | None,
) -> dict[str, NameWords]:
    """Words that have a type, by split.

    Args:
        tagged: Sentences with parts of speech, by split.
        typed: Sentences with names in IOB2, by split.
        vectors: Where word vectors are (see `load_vectors`); drawn at random if nothing is given.

    Raises:
        DataError: The two have no sentence with a name in common, or none of their words has a
            vector.
    """
    pairs = {split: list(paired(tagged[split], typed[split])) for split in tagged}
    vocabulary = {
        word.lower() for found in pairs.values() for sentence, _ in found for word in sentence.words
    }
    known = load_vectors(vectors, vocabulary) if vectors else _drawn(vocabulary)
    if vocabulary and not known:
        raise DataError(f"{vectors} has a vector for none of the data's {len(vocabulary)} words.")
    return {split: _words(split, found, known) for split, found in pairs.items()}


def _drawn(vocabulary: set[str], width: int = 10) -> dict[str, NDArray[np.float32]]:
    draw = np.random.default_rng(0)
    return {word: draw.normal(size=width).astype(np.float32) for word in sorted(vocabulary)}


def _words(
    split: str,
    pairs: Sequence[tuple[TaggedSentence, TaggedSentence]],
    vectors: Mapping[str, NDArray[np.float32]],
) -> NameWords:
    width = len(next(iter(vectors.values()))) if vectors else 1
    zero = np.zeros(width, np.float32)
    beyond = [zero] * NEIGHBOURS
    features, tags, types = [], [], []
    for tagged, typed in pairs:
        row = [*beyond, *(vectors.get(word.lower(), zero) for word in tagged.words), *beyond]
        for place, (tag, kind) in enumerate(zip(tagged.tags, typed.tags, strict=True)):
            if kind != "O":
                features.append(np.concatenate(row[place : place + 2 * NEIGHBOURS + 1]))
                tags.append(tag)
                types.append(kind.partition("-")[2])
    if not features:
        raise DataError(f"The PoS and NER tasks share no sentence with a name in {split}.")
    return NameWords(np.stack(features), np.array(tags), np.array(types))
