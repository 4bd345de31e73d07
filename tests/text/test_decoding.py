"""Tags of spans are the best valid sequence, and other tags each word's best."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.text.decoding import best_tags, mark_spans
from tests.oracles import best_valid_tags

TAGS = ("I-B", "O", "B-A", "I-A", "B-B")
TAG_SETS = st.sampled_from(
    [TAGS, ("O", "B-V"), ("B-A", "I-A"), ("O", "I-A", "B-B"), ("I-A", "B-A", "I-C", "O")]
)
FEW_NUMBERS = st.integers(-3, 3).map(float)  # many sequences of the same score
NUMBERS = st.integers(-6400, 6400).map(lambda number: number / 64)  # whose sums are exact


@st.composite
def scored(draw):
    labels = draw(TAG_SETS)
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    number = draw(st.sampled_from([FEW_NUMBERS, NUMBERS]))
    row = st.lists(number, min_size=len(labels), max_size=len(labels))
    return labels, [draw(st.lists(row, min_size=n, max_size=n)) for n in lengths]


def found_in(sentences, labels, dtype=torch.float64):
    """What is found for each sentence of a batch."""
    flat = [row for rows in sentences for row in rows]
    scores = torch.tensor(flat, dtype=dtype).reshape(len(flat), len(labels))
    lengths = [len(rows) for rows in sentences]
    parts = np.split(best_tags(scores, lengths, labels), np.cumsum(lengths)[:-1])
    return [tuple(part.tolist()) for part in parts]


@settings(max_examples=300, deadline=None)
@given(case=scored())
def test_of_all_valid_sequences_the_best_is_found(case):
    labels, sentences = case
    for rows, tags in zip(sentences, found_in(sentences, labels), strict=True):
        _, best = best_valid_tags(rows, list(labels))
        assert tags in best


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), words=st.integers(1, 40))
def test_a_sentence_is_answered_alike_whatever_is_beside_it(seed, words):
    draw = np.random.default_rng(seed)
    lengths = [words, *draw.integers(0, 30, size=5).tolist()]
    sentences = [draw.normal(size=(n, len(TAGS))).tolist() for n in lengths]
    together = found_in(sentences, TAGS, torch.float32)
    assert together == [found_in([rows], TAGS, torch.float32)[0] for rows in sentences]


@given(seed=st.integers(0, 2**32 - 1))
def test_what_is_valid_already_stays(seed):
    scores = torch.tensor(np.random.default_rng(seed).normal(size=(3, 2)))
    assert best_tags(scores, [3], ("O", "B-V")).tolist() == scores.argmax(-1).tolist()


def test_other_tags_are_each_words_best():
    scores = torch.randn(50, 5, generator=torch.Generator().manual_seed(0))
    for labels in (("I", "O", "B", "PRON", "I-A"), ("I-A", "I-B", "I-C", "I-D", "I-E")):
        assert best_tags(scores, [20, 30], labels).tolist() == scores.argmax(-1).tolist()


def test_an_inside_tag_that_nothing_leads_to_gives_way_to_what_is_best_with_its_neighbours():
    labels = ("O", "B-A", "I-A")
    alone = torch.tensor([[2.0, 0.0, 0.0], [1.0, 0.0, 3.0], [2.0, 0.0, 0.0]])
    assert [labels[tag] for tag in best_tags(alone, [3], labels)] == ["O", "O", "O"]
    longer = torch.tensor([[2.0, 1.0, 0.0], [0.0, 0.0, 3.0], [0.0, 0.0, 3.0]])
    assert [labels[tag] for tag in best_tags(longer, [3], labels)] == ["B-A", "I-A", "I-A"]


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_not_finite_leave_valid_tags(wrong):
    labels = ("O", "B-A", "I-A")
    scores = torch.full((7, 3), wrong)
    scores[:, 2] = float("inf")
    tags = [labels[tag] for tag in best_tags(scores, [7], labels)]
    assert all(
        tag != "I-A" or before != "O" for before, tag in zip(["O", *tags], tags, strict=False)
    )


def test_half_precision_is_taken():
    scores = torch.randn(9, 5, generator=torch.Generator().manual_seed(3)).bfloat16()
    found, expected = (best_tags(each, [4, 5], TAGS) for each in (scores, scores.double()))
    assert found.tolist() == expected.tolist()


def test_no_words_have_no_tags():
    assert best_tags(torch.zeros(0, 5), [0, 0], TAGS).tolist() == []


def test_bioes_marks_spans_only_once_it_was_read():
    assert not mark_spans(["O", "B-A", "E-A"])
