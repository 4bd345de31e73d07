"""Long sentences and long texts: memory in proportion with their length."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tawt.text.encoding import load_tokenizer
from tawt.text.reading import LabelledText, TaggedSentence
from tawt.text.tokens import TaggedSentences, WholeTexts, WordPieces
from tests.text.encoders import ARCHITECTURES, letters_tokenizer, write_encoder

LETTERS = letters_tokenizer()


def peak(work):
    """The most that Python and NumPy held at a time, in bytes."""
    work()  # what is made once and kept
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def cut_words(count):
    sentence = TaggedSentence(("ab",) * count, ("",) * count, 1)
    pieces = WordPieces(LETTERS, max_length=16)
    return TaggedSentences([sentence], {"": 0}, pieces, padding=0)


def test_a_sentence_takes_memory_in_proportion_with_its_length():
    short, long = (peak(lambda size=size: cut_words(size)) for size in (1000, 16_000))
    assert long < 20 * short


@pytest.mark.parametrize("seconds", [None, "c"], ids=["text", "pair"])
def test_a_text_keeps_nothing_of_what_is_cut_off(seconds, monkeypatch):
    """The tokenizer's own truncation keeps every part of one text beside every part of the other,
    outside the memory that Python can see."""
    asked = []
    call = type(LETTERS).__call__

    def called(self, *texts, **options):
        asked.append(options)
        found = call(self, *texts, **options)
        assert not any(each.overflowing for each in found.encodings)
        return found

    monkeypatch.setattr(type(LETTERS), "__call__", called)
    second = seconds and seconds + " b" * 500
    texts = [LabelledText("a b " * 500, second, "", 1)]
    made = WholeTexts(texts, np.zeros(1), LETTERS, max_length=9)
    assert asked
    assert made.lengths.tolist() == [9]
    assert made.cut_texts == 1


def test_few_long_sentences_are_tokenized_at_a_time(monkeypatch):
    sizes = []
    call = type(LETTERS).__call__

    def called(self, words, **options):
        if len(words) and isinstance(words[0], list):
            sizes.append(len(words))
        return call(self, words, **options)

    pieces = WordPieces(LETTERS, max_length=16)
    monkeypatch.setattr(type(LETTERS), "__call__", called)
    long = ("a",) * 70_000
    rows = list(pieces.rows([long, ("a",), ("b",), long, ("c",)]))
    assert sizes == [1, 3, 1]
    assert [sum(len(row.words) for row in each) for each in rows] == [70_000, 1, 1, 70_000, 1]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def tokenizer(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    return load_tokenizer(write_encoder(request.param, folder))


@pytest.mark.parametrize("side", ["right", "left"])
def test_texts_are_cut_as_the_tokenizer_would(tokenizer, side):
    before, tokenizer.truncation_side = tokenizer.truncation_side, side
    try:
        for first in (0, 1, 3, 4, 5, 9, 30):
            for second in (None, 0, 1, 3, 4, 5, 9, 30):
                _cut_alike(tokenizer, "a cat " * first, second if second is None else "b " * second)
    finally:
        tokenizer.truncation_side = before


def _cut_alike(tokenizer, text, second, most=12):
    made = WholeTexts([LabelledText(text, second, "", 1)], np.zeros(1), tokenizer, max_length=most)
    both = [text], None if second is None else [second]
    theirs = tokenizer(*both, truncation="longest_first", max_length=most)
    batch = made.batch(np.array([0]))
    size = len(theirs["input_ids"][0])
    assert batch.inputs.lengths.tolist() == [size]
    assert batch.inputs.ids[0, :size].tolist() == theirs["input_ids"][0]
    if batch.inputs.types is not None:
        assert batch.inputs.types[0, :size].tolist() == theirs["token_type_ids"][0]
    assert made.cut_texts == any(each.overflowing for each in theirs.encodings)


@given(
    first=st.integers(0, 40),
    second=st.none() | st.integers(0, 40),
    most=st.integers(4, 30),
)
def test_any_lengths_are_cut_as_the_tokenizer_would(first, second, most):
    _cut_alike(LETTERS, "a " * first, None if second is None else "b " * second, most)
