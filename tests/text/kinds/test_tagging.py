"""Tagging: a loss by words, sentences put together again, and what is refused."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.errors import ConfigError, DataError
from tawt.text.kinds import KINDS, Cutting, Tagging, TaskOptions
from tawt.text.reading import Splits, TaggedSentence
from tawt.text.reading.report import ReadReport
from tawt.text.tokens import NO_TAG, TaggedSentences, WordPieces
from tests.text.encoders import letters_tokenizer

LETTERS = letters_tokenizer()
KIND = Tagging(("A", "B", "C"), unseen=("D",))
POSITIONS = {"A": 0, "B": 1, "C": 2, "D": 3}


def sentence(words, tags):
    return TaggedSentence(tuple(words), tuple(tags), line=1)


def splits(train, dev=None, test=None):
    return Splits(train, dev, test, ReadReport(sizes={}, duplicates={}))


def task(train, dev=None, test=None, **wanted):
    cutting = Cutting(tokenizer=LETTERS, max_length=16)
    return KINDS["tagging"].make("words", splits(train, dev, test), cutting, TaskOptions(**wanted))


def examples(sentences, *, max_length):
    pieces = WordPieces(LETTERS, max_length=max_length, overlap=1)
    return TaggedSentences(sentences, POSITIONS, pieces, padding=0)


def scored(batch, logits_of):
    """Outputs that say of every piece what `logits_of` says of the word it begins, else nothing."""
    tags = batch.labels.tags
    outputs = torch.zeros(*tags.shape, 3, dtype=torch.float64)
    seen: dict[int, int] = {}
    for row, owner in enumerate(batch.labels.sentence.tolist()):
        for place in range(tags.shape[1]):
            if tags[row, place] != NO_TAG:
                word = seen.get(owner, 0)
                outputs[row, place] = torch.tensor(logits_of[owner][word])
                seen[owner] = word + 1
            else:
                outputs[row, place] = torch.tensor([7.0, -3.0, 1.0])  # must not matter
    return outputs


def cross_entropy(logits, gold):
    return math.log(sum(math.exp(x) for x in logits)) - logits[gold]


tagged = st.lists(
    st.tuples(st.sampled_from(["a", "bca", "cc"]), st.sampled_from(["A", "B", "C"])),
    min_size=1,
    max_size=10,
).map(lambda pairs: sentence(*zip(*pairs, strict=True)))


@settings(max_examples=60)
@given(sentences=st.lists(tagged, min_size=1, max_size=4), seed=st.integers(0, 99))
def test_the_mean_loss_of_all_examples_is_the_mean_over_their_words(sentences, seed):
    draw = np.random.default_rng(seed)
    logits = [draw.normal(size=(len(each.words), 3)).tolist() for each in sentences]
    by_hand = [
        cross_entropy(row, POSITIONS[tag])
        for each, rows in zip(sentences, logits, strict=True)
        for row, tag in zip(rows, each.tags, strict=True)
    ]
    for max_length in (5, 9, 80):  # in windows, or in one row
        batch = examples(sentences, max_length=max_length).batch(np.arange(len(sentences)))
        losses = KIND.losses(scored(batch, logits), batch.labels)
        mean = losses.sum().item() / len(sentences)
        assert mean == pytest.approx(math.fsum(by_hand) / len(by_hand), rel=1e-6)


def test_a_window_takes_nothing_from_the_loss_and_adds_nothing():
    sentences = [sentence("abcabcabc", "ABCABCABC"), sentence("ab", "CA")]
    logits = np.random.default_rng(0).normal(size=(2, 9, 3)).tolist()
    sums = []
    for max_length in (4, 6, 64):
        batch = examples(sentences, max_length=max_length).batch(np.arange(2))
        rows = KIND.losses(scored(batch, logits), batch.labels)
        by_sentence = torch.zeros(2, dtype=rows.dtype).index_add(0, batch.labels.sentence, rows)
        sums.append(by_sentence)
    torch.testing.assert_close(sums[0], sums[2])
    torch.testing.assert_close(sums[1], sums[2])


def test_gradients_flow_to_the_words_first_pieces_alone():
    batch = examples([sentence(["abc", "b"], "AB")], max_length=64).batch(np.arange(1))
    outputs = torch.zeros(*batch.labels.tags.shape, 3, requires_grad=True)
    KIND.losses(outputs, batch.labels).sum().backward()
    # Softmax minus one-hot, over the two words of the one sentence.
    expected = torch.zeros_like(outputs)
    expected[0, 1] = torch.tensor([1 / 3 - 1, 1 / 3, 1 / 3]) / 2
    expected[0, 4] = torch.tensor([1 / 3, 1 / 3 - 1, 1 / 3]) / 2
    torch.testing.assert_close(outputs.grad, expected)


@given(sentences=st.lists(tagged, min_size=1, max_size=5), max_length=st.integers(4, 20))
def test_answers_put_the_windows_back_together(sentences, max_length):
    made = examples(sentences, max_length=max_length)
    order = np.arange(len(made))[::-1].copy()
    batch = made.batch(order)
    guesses = [
        [(word + len(sentences[index].words)) % 3 for word in range(len(sentences[index].words))]
        for index in order
    ]
    logits = [[[float(k == guess) for k in range(3)] for guess in row] for row in guesses]
    gold, predicted = KIND.answers(scored(batch, logits), batch.labels)
    assert gold == [list(sentences[index].tags) for index in order]
    assert predicted == [["ABC"[guess] for guess in row] for row in guesses]


def test_tags_that_training_never_saw_are_always_wrong():
    made = task([sentence("ab", "AB")], dev=[sentence("abc", "ADB")])
    assert made.kind.labels == ("A", "B")
    assert made.kind.unseen == ("D",)
    assert made.kind.head(4).out_features == 2
    batch = made.dev.batch(np.array([0]))
    outputs = torch.zeros(1, batch.labels.tags.shape[1], 2)
    gold, predicted = made.kind.answers(outputs, batch.labels)
    assert gold == [["A", "D", "B"]]
    assert predicted == [["A", "A", "A"]]
    assert made.kind.scores(gold, predicted)["accuracy"] == pytest.approx(1 / 3)


# What is made of what is wanted


def test_labels_are_in_the_order_they_are_given():
    made = task([sentence("ab", "AB")], labels=["C", "B", "A"])
    assert made.kind.labels == ("C", "B", "A")
    assert made.train.batch(np.array([0])).labels.tags[0, 1:3].tolist() == [2, 1]


def test_labels_that_miss_one_are_refused():
    with pytest.raises(DataError, match=r"^Task 'words' has the tag 'B', which `labels` does not"):
        task([sentence("ab", "AB")], labels=["A"])


IOB = [sentence("abc", ["B-X", "I-X", "O"])]


@pytest.mark.parametrize(
    ("train", "metric", "shown"),
    [
        (IOB, "span_f1", {"accuracy", "span_f1", "span_f1_conlleval", "token_f1", "macro_f1"}),
        ([sentence("ab", "AB")], "accuracy", {"accuracy", "macro_f1"}),
        ([sentence("a", ["B--LRB-"])], "accuracy", {"accuracy", "macro_f1"}),
    ],
    ids=["spans", "parts of speech", "types that no span can have"],
)
def test_the_metric_follows_from_the_tags(train, metric, shown):
    kind = task(train).kind
    assert kind.metric == metric
    gold = [list(each.tags) for each in train]
    assert set(kind.scores(gold, gold)) == shown
    assert kind.scores(gold, gold)[metric] == 1
    assert kind.example_scores(gold, gold) == [1.0]


@pytest.mark.parametrize("metric", ["accuracy", "token_f1", "macro_f1"])
def test_the_metric_that_is_wanted_is_among_the_scores(metric):
    kind = task([sentence("ab", ["O", "V"])], metric=metric).kind
    assert kind.scores([["O", "V"]], [["O", "V"]])[metric] == 1


@pytest.mark.parametrize("metric", ["span_f1", "span_f1_conlleval"])
def test_spans_are_not_looked_for_in_other_tags(metric):
    with pytest.raises(ConfigError, match=r"^Task 'words': the metric 'span_f1\w*' is of spans"):
        task([sentence("ab", "AB")], metric=metric)


def test_metrics_of_other_kinds_are_refused():
    with pytest.raises(ConfigError, match=r"^Task 'words': No metric 'matthews' for tagging"):
        task([sentence("ab", "AB")], metric="matthews")


def test_example_scores_by_hand():
    gold, predicted = [["B-X", "I-X", "O"], ["O"]], [["B-X", "O", "O"], ["O"]]
    spans = Tagging(("B-X", "I-X", "O"), "span_f1").example_scores(gold, predicted)
    tokens = Tagging(("B-X", "I-X", "O"), "token_f1").example_scores(gold, predicted)
    words = Tagging(("B-X", "I-X", "O")).example_scores(gold, predicted)
    assert spans == [0.0, 1.0]
    assert tokens == [pytest.approx(2 / 3), 1.0]
    assert words == [pytest.approx(2 / 3), 1.0]
