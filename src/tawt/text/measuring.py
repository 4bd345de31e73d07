"""How long texts are, in words and in an encoder's pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tawt.modality.facts import Lengths
from tawt.text.facts import PieceFacts
from tawt.text.reading import LabelledText, TaggedSentence
from tawt.text.tokens import WordPieces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from transformers import PreTrainedTokenizerFast

    from tawt.text.kinds import Cutting
    from tawt.text.reading import Example

_ENDLESS = 2**40  # pieces to a row: none is cut
_AT_A_TIME = 1024


def word_counts(examples: Sequence[Example]) -> NDArray[np.int64]:
    """Words of each sentence; in a text (or two), what blanks separate.

    Example:
        >>> word_counts([LabelledText("Good, very.", "No", "pos", line=1)])
        array([3])
    """
    counts = (
        len(example.words)
        if isinstance(example, TaggedSentence)
        else len(example.text.split()) + len((example.second or "").split())
        for example in examples
    )
    return np.fromiter(counts, np.int64, count=len(examples))


def piece_facts(examples: Sequence[Example], cutting: Cutting) -> PieceFacts:
    """What an encoder sees of these examples, all of one kind.

    Args:
        examples: One at least.
        cutting: How texts become pieces.
    """
    sentences = [example for example in examples if isinstance(example, TaggedSentence)]
    if not sentences:
        texts = [example for example in examples if isinstance(example, LabelledText)]
        lengths = np.fromiter(_text_lengths(texts, cutting.tokenizer), np.int64, count=len(texts))
        return _facts(lengths, cutting, cut_words=None, words=1, rows=None)
    whole = WordPieces(cutting.tokenizer, max_length=_ENDLESS)
    counts = (len(rows[0].ids) for rows in whole.rows(s.words for s in sentences))
    lengths = np.fromiter(counts, np.int64, count=len(sentences))
    long_ones = [sentences[index].words for index in np.flatnonzero(lengths > cutting.max_length)]
    truncating = WordPieces(cutting.tokenizer, max_length=cutting.max_length, long="truncate")
    for _ in truncating.rows(long_ones):
        pass  # it counts
    windows = WordPieces(
        cutting.tokenizer, max_length=cutting.max_length, overlap=cutting.overlap
    ).rows(long_ones)
    rows = len(sentences) - len(long_ones) + sum(len(parts) for parts in windows)
    words = sum(len(sentence.words) for sentence in sentences)
    return _facts(lengths, cutting, cut_words=truncating.cut_words, words=words, rows=rows)


def _facts(
    lengths: NDArray[np.int64],
    cutting: Cutting,
    *,
    cut_words: int | None,
    words: int,
    rows: int | None,
) -> PieceFacts:
    too_long = int((lengths > cutting.max_length).sum())
    return PieceFacts(
        max_length=cutting.max_length,
        lengths=Lengths.of(lengths),
        too_long=too_long,
        too_long_share=too_long / len(lengths),
        cut_words=cut_words,
        cut_words_share=None if cut_words is None else cut_words / words,
        rows=rows,
    )


def _text_lengths(
    texts: Sequence[LabelledText], tokenizer: PreTrainedTokenizerFast
) -> Iterator[int]:
    pairs = any(text.second is not None for text in texts)
    for start in range(0, len(texts), _AT_A_TIME):
        chunk = texts[start : start + _AT_A_TIME]
        encoded = tokenizer(
            [text.text for text in chunk],
            [text.second or "" for text in chunk] if pairs else None,
            truncation=False,
            verbose=False,  # how long they are is what is asked
        )
        yield from (len(row) for row in encoded["input_ids"])
