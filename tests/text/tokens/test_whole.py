"""Whole texts and pairs of them, against the tokenizer one by one."""

import numpy as np
import pytest
import torch

from tawt.text.reading import LabelledText
from tawt.text.tokens import WholeTexts
from tests.text.encoders import letters_tokenizer

LETTERS = letters_tokenizer()
TEXTS = ["a", "ab c", "cab cab cab", "b " * 30, "z\u200b!", "c"]
PAIRS = [("a", "b"), ("ab c", "cab"), ("a " * 9, "b " * 4), ("c", "a b c a b c")]


def whole(texts, *, max_length=64):
    labelled = [
        LabelledText(*(text if isinstance(text, tuple) else (text, None)), str(number % 2), 1)
        for number, text in enumerate(texts)
    ]
    answers = np.arange(len(texts))
    return WholeTexts(labelled, answers, LETTERS, max_length=max_length)


@pytest.mark.parametrize("max_length", [8, 16, 64])
@pytest.mark.parametrize("texts", [TEXTS, PAIRS], ids=["texts", "pairs"])
def test_a_batch_is_what_the_tokenizer_gives_one_by_one(texts, max_length):
    made = whole(texts, max_length=max_length)
    chosen = [3, 0, 2, 3]
    batch = made.batch(np.array(chosen))
    ids, lengths, types, level = batch.inputs
    assert level == "text"
    assert batch.labels.tolist() == chosen
    assert (types is None) == (texts is TEXTS)
    for row, index in enumerate(chosen):
        text = texts[index]
        both = text if isinstance(text, tuple) else (text,)
        alone = LETTERS(*both, truncation="longest_first", max_length=max_length)
        size = len(alone["input_ids"])
        assert ids[row].tolist() == alone["input_ids"] + [0] * (ids.shape[1] - size)
        assert lengths[row] == size
        if types is not None:
            assert types[row].tolist() == alone["token_type_ids"] + [0] * (ids.shape[1] - size)


def test_a_pair_by_hand():
    batch = whole([("ab", "c")]).batch(np.array([0]))
    pieces = LETTERS.convert_ids_to_tokens(batch.inputs.ids[0])
    assert pieces == ["[CLS]", "a", "##b", "[SEP]", "c", "[SEP]", "[PAD]", "[PAD]"]
    assert batch.inputs.types.tolist() == [[0, 0, 0, 0, 1, 1, 0, 0]]


def test_texts_that_are_too_long_are_counted():
    assert whole(TEXTS).cut_texts == 0
    assert whole(TEXTS, max_length=8).cut_texts == 2
    assert whole(TEXTS, max_length=8).lengths.tolist() == [3, 5, 8, 8, 4, 3]
    assert whole(PAIRS, max_length=9).cut_texts == 2


def test_a_second_text_may_be_missing_here_and_there():
    made = whole([("a", None), *[("b", "c")] * 1500, ("a", None)])
    batch = made.batch(np.array([0, 1, 1200, 1501]))
    assert batch.inputs.types.sum(dim=1).tolist() == [1, 2, 2, 1]
    assert batch.inputs.lengths.tolist() == [4, 5, 5, 4]


def test_numbers_are_answers_too():
    texts = [LabelledText("a", None, 1.5, 1), LabelledText("b", None, -2.0, 2)]
    made = WholeTexts(texts, np.array([1.5, -2.0], np.float32), LETTERS, max_length=8)
    labels = made.batch(np.array([1, 0])).labels
    assert labels.dtype == torch.float32
    assert labels.tolist() == [-2.0, 1.5]


def test_fingerprints_tell_texts_and_labels_apart():
    def printed(*pairs):
        texts = [LabelledText(text, second, label, 1) for text, second, label in pairs]
        return WholeTexts(texts, np.zeros(len(texts)), LETTERS, max_length=8).fingerprint()

    found = [
        printed(("a", None, "x"), ("b", None, "y")),
        printed(("b", None, "y"), ("a", None, "x")),
        printed(("a", None, "x"), ("b", None, "x")),
        printed(("a", None, "X"), ("b", None, "Y")),
        printed(("a", "b", "x"), ("b", "b", "y")),
        printed(("a", None, "x")),
    ]
    assert len(set(found)) == len(found)
    assert printed(("a", None, "x")) == found[-1]
