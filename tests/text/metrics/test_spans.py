import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import sequence_labeling, v1
from seqeval.scheme import IOB2

from tawt.errors import DataError
from tawt.text.metrics import sentence_span_f1, span_f1, spans
from tawt.text.metrics.spans import span_label_scores

READINGS = ["strict", "conlleval"]
TAGS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-C-ARG", "I-C-ARG"]
tags = st.sampled_from(TAGS)
sentences = st.lists(st.tuples(tags, tags), min_size=1, max_size=8)
corpora = st.lists(sentences, min_size=1, max_size=5)


def split(corpus):
    gold = [[g for g, _ in sentence] for sentence in corpus]
    return gold, [[p for _, p in sentence] for sentence in corpus]


def seqeval_scores(gold, predicted, *, reading, average):
    """Precision, recall, F1 by seqeval itself, and its own way of choosing the labels."""
    if reading == "strict":
        scores = v1.precision_recall_fscore_support(
            gold, predicted, average=average, scheme=IOB2, zero_division=0
        )
    else:
        scores = sequence_labeling.precision_recall_fscore_support(
            gold, predicted, average=average, zero_division=0
        )
    return scores[:3]


@pytest.mark.parametrize(
    ("sentence", "strict", "conlleval"),
    [
        ("O O", [], []),
        ("B-A I-A O B-B", [("A", 0, 2), ("B", 3, 4)], [("A", 0, 2), ("B", 3, 4)]),
        ("B-A B-A", [("A", 0, 1), ("A", 1, 2)], [("A", 0, 1), ("A", 1, 2)]),
        ("O I-A I-A", [], [("A", 1, 3)]),
        ("B-A I-B", [("A", 0, 1)], [("A", 0, 1), ("B", 1, 2)]),
        ("B-A I-B I-A", [("A", 0, 1)], [("A", 0, 1), ("B", 1, 2), ("A", 2, 3)]),
        ("I-A B-A I-A", [("A", 1, 3)], [("A", 0, 1), ("A", 1, 3)]),
        ("B-C-X I-C-X I-X", [("C-X", 0, 2)], [("C-X", 0, 2), ("X", 2, 3)]),
    ],
)
def test_the_readings_differ_only_where_a_beginning_is_missing(sentence, strict, conlleval):
    assert spans(sentence.split(), reading="strict") == strict
    assert spans(tuple(sentence.split()), reading="conlleval") == conlleval


def test_worked_case():
    gold = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "B-ORG", "I-ORG"]]
    predicted = [["B-PER", "I-PER", "O", "B-PER"], ["O", "I-ORG", "I-ORG"]]
    # Strict: gold has 3 spans, predicted 2 (I-ORG begins nothing), 1 in both.
    # Precision 1/2, recall 1/3, F1 2·1/(3+2). PER: 2·1/(1+2). LOC and ORG: nothing found.
    assert span_f1(gold, predicted, reading="strict") == pytest.approx(
        {"precision": 1 / 2, "recall": 1 / 3, "f1": 2 / 5}
        | {"f1/LOC": 0, "f1/ORG": 0, "f1/PER": 2 / 3}
    )
    # Conlleval: the predicted I-ORG I-ORG is a third span, and right: 2 in both of 3 and 3.
    assert span_f1(gold, predicted, reading="conlleval") == pytest.approx(
        {"precision": 2 / 3, "recall": 2 / 3, "f1": 4 / 6}
        | {"f1/LOC": 0, "f1/ORG": 1, "f1/PER": 2 / 3}
    )


@pytest.mark.parametrize("reading", READINGS)
@given(corpus=corpora)
def test_equals_seqeval(reading, corpus):
    gold, predicted = split(corpus)
    ours = span_f1(gold, predicted, reading=reading)
    micro = seqeval_scores(gold, predicted, reading=reading, average="micro")
    assert [ours["precision"], ours["recall"], ours["f1"]] == pytest.approx(micro, abs=1e-12)
    by_type = seqeval_scores(gold, predicted, reading=reading, average=None)[2]
    kinds = [name for name in ours if name.startswith("f1/")]
    assert kinds == sorted(kinds)
    assert [ours[name] for name in kinds] == pytest.approx(list(by_type), abs=1e-12)


@pytest.mark.parametrize("reading", READINGS)
@given(corpus=corpora)
def test_every_type_has_its_own_scores(reading, corpus):
    gold, predicted = split(corpus)
    found = span_label_scores(gold, predicted, reading=reading)
    whole = span_f1(gold, predicted, reading=reading)
    assert {f"f1/{label}": score.f1 for label, score in found.items()} == {
        name: value for name, value in whole.items() if name.startswith("f1/")
    }
    in_gold = [kind for tags in gold for kind, _, _ in spans(tags, reading=reading)]
    for label, score in found.items():
        assert score.support == in_gold.count(label)


@pytest.mark.parametrize("reading", READINGS)
@given(corpus=corpora)
def test_f1_is_a_share_and_treats_both_sides_alike(reading, corpus):
    gold, predicted = split(corpus)
    there, back = (
        span_f1(gold, predicted, reading=reading),
        span_f1(predicted, gold, reading=reading),
    )
    assert all(0 <= value <= 1 for value in there.values())
    assert there["f1"] == back["f1"]
    assert there["precision"] == back["recall"]


@pytest.mark.parametrize("reading", READINGS)
@given(corpus=corpora)
def test_perfect_is_one_where_there_is_a_span(reading, corpus):
    gold, _ = split(corpus)
    found = any(spans(sentence, reading=reading) for sentence in gold)
    assert span_f1(gold, gold, reading=reading)["f1"] == float(found)
    assert all(sentence_span_f1(s, s, reading=reading) == 1 for s in gold)


@pytest.mark.parametrize("reading", READINGS)
@given(sentence=sentences)
def test_one_sentence_is_a_corpus_of_one(reading, sentence):
    (gold,), (predicted,) = split([sentence])
    one = sentence_span_f1(gold, predicted, reading=reading)
    if spans(gold, reading=reading) or spans(predicted, reading=reading):
        assert one == span_f1([gold], [predicted], reading=reading)["f1"]
    else:
        assert one == 1


def test_without_spans_a_corpus_scores_nothing():
    expected = {"precision": 0.0, "recall": 0.0, "f1": 0.0}
    assert span_f1([["O", "O"]], [["O", "O"]], reading="strict") == expected


@pytest.mark.parametrize("tag", ["NN", "B", "B-", "", "E-PER", "o", "B-PER-", "I--X"])
def test_other_tags_are_refused(tag):
    with pytest.raises(DataError, match="use a token metric"):
        spans(["O", tag], reading="strict")


def test_lengths_that_disagree_are_refused():
    with pytest.raises(DataError, match="Sentence 1 needs one predicted tag per gold tag; got 2"):
        span_f1([["O"], ["O", "O"]], [["O"], ["O"]], reading="strict")
    with pytest.raises(DataError, match="got 1 gold and 2 predicted"):
        span_f1([["O"]], [["O"], ["O"]], reading="strict")
    with pytest.raises(DataError, match="nothing to score"):
        span_f1([], [], reading="strict")
    with pytest.raises(DataError, match="every sentence is empty"):
        span_f1([[]], [[]], reading="strict")
