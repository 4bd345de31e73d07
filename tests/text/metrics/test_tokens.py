import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from tawt.errors import DataError
from tawt.text.metrics import (
    accuracy,
    macro_f1,
    positive_f1,
    token_accuracy,
    token_f1,
    token_macro_f1,
)

labels = st.sampled_from(["O", "B-V", "a", "b"])
answers = st.lists(st.tuples(labels, labels), min_size=1, max_size=20)
binary = st.lists(st.tuples(*2 * [st.sampled_from(["O", "B-V"])]), min_size=1, max_size=20)


def split(pairs):
    return [g for g, _ in pairs], [p for _, p in pairs]


def sentences(labels, size=3):
    return [labels[start : start + size] for start in range(0, len(labels), size)]


def test_worked_case():
    gold = ["a", "a", "b", "c", "a"]
    predicted = ["a", "b", "b", "a", "a"]
    # Right: a, b, a of five.
    assert accuracy(gold, predicted) == 3 / 5
    # a: 2·2/(3+3), b: 2·1/(1+2), c: 2·0/(1+0); averaged over three.
    assert macro_f1(gold, predicted) == pytest.approx((4 / 6 + 2 / 3 + 0) / 3)
    assert positive_f1(gold, predicted, positive="a") == 4 / 6
    # Marked are a and b and c, "b" standing for outside: gold has 4, predicted 3, both alike in 2.
    assert token_f1([gold], [predicted], outside="b") == pytest.approx(2 * 2 / (4 + 3))


@given(answers)
def test_equals_scikit_learn(pairs):
    gold, predicted = split(pairs)
    assert accuracy(gold, predicted) == pytest.approx(sklearn.accuracy_score(gold, predicted))
    expected = sklearn.f1_score(gold, predicted, average="macro", zero_division=0)
    assert macro_f1(gold, predicted) == pytest.approx(expected)
    by_label = sklearn.f1_score(gold, predicted, average=None, labels=sorted(set(gold)))
    ours = [positive_f1(gold, predicted, positive=label) for label in sorted(set(gold))]
    assert ours == pytest.approx(list(by_label))
    marked = ["B-V", "a", "b"]
    expected = sklearn.f1_score(gold, predicted, average="micro", labels=marked, zero_division=0)
    assert token_f1(sentences(gold), sentences(predicted)) == pytest.approx(expected)


@given(answers)
def test_tokens_of_all_sentences_count_alike(pairs):
    gold, predicted = split(pairs)
    in_sentences = sentences(gold), sentences(predicted)
    assert token_accuracy(*in_sentences) == accuracy(gold, predicted)
    assert token_macro_f1(*in_sentences) == macro_f1(gold, predicted)


@given(binary)
def test_with_one_tag_token_f1_is_that_tags_f1(pairs):
    gold, predicted = split(pairs)
    if "B-V" in gold:
        assert token_f1([gold], [predicted]) == positive_f1(gold, predicted, positive="B-V")
    else:
        assert token_f1([gold], [predicted]) == 0


@given(answers)
def test_laws(pairs):
    gold, predicted = split(pairs)
    for score in (accuracy, macro_f1):
        assert 0 <= score(gold, predicted) <= 1
        assert score(gold, predicted) == pytest.approx(score(predicted, gold))
        assert score(gold, gold) == 1
    assert accuracy(gold, predicted) == accuracy(gold[::-1], predicted[::-1])


def test_a_positive_label_that_never_occurs_is_refused():
    with pytest.raises(DataError, match=r"'1' needs gold examples of it; got only \['no', 'yes'\]"):
        positive_f1(["yes", "no"], ["yes", "yes"])


@pytest.mark.parametrize("score", [accuracy, macro_f1, positive_f1])
def test_lengths_that_disagree_are_refused(score):
    with pytest.raises(DataError, match="got 2 gold and 1 predicted"):
        score(["1", "1"], ["1"])
    with pytest.raises(DataError, match="nothing to score"):
        score([], [])
