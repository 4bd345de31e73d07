"""Importance of text by hashed n-grams, and drawing by it."""

import math
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from tawt.corpora import importance
from tawt.corpora.importance import BucketCounts, importance_shares, log_importance, resampled
from tawt.errors import DataError

TEXTS = [
    "To be, or not to be.",
    "",
    "that is the question",
    "to be to be",
    "...",
    "to",
    "Ünïcode 語",
]


def bucket(text, buckets=10_000):
    """Where the only feature of a text of one word is counted."""
    [place] = BucketCounts.of([text], buckets=buckets).counts.nonzero()[0]
    return int(place)


def pair_bucket(one, two, buckets=10_000):
    """Where a pair is counted: what its text has more than its two words."""
    counts = BucketCounts.of([f"{one} {two}"], buckets=buckets).counts.copy()
    for word in (one, two):
        counts[bucket(word, buckets)] -= 1
    [place] = counts.nonzero()[0]
    return int(place)


# By hand


def test_two_words_worked_out_by_hand():
    """A hundred buckets and a pseudo-count of one: p(a) is (3 + 1) / (4 + 100) in the target."""
    target = BucketCounts.of(["a", "a", "a", "b"], buckets=100)
    sources = BucketCounts.of(["a", "b", "b", "b"], buckets=100)
    pairs = {pair_bucket(one, two, 100) for one, two in ("aa", "ab", "ba")}
    assert not pairs & {bucket("a", 100), bucket("b", 100)}
    # Pairs are in buckets that neither has seen: their ratio is one.
    wanted = {"a": 1, "b": -1, "a b": 0, "a a": 2, "b a a": 1}
    found = log_importance(wanted, target=target, sources=sources)
    np.testing.assert_allclose(found / math.log(2), list(wanted.values()), atol=1e-12)


def test_a_feature_seen_in_one_place_only_has_its_pseudo_count_in_the_other():
    target, sources = BucketCounts.of(["a"]), BucketCounts.of(["b", "b", "b"])
    found = log_importance(["a", "b"], target=target, sources=sources, smoothing=0.5)
    total = math.log((3 + 5000) / (1 + 5000))
    wanted = [math.log(1.5 / 0.5) + total, math.log(0.5 / 3.5) + total]
    np.testing.assert_allclose(found, wanted, atol=1e-12)


# Against counting one feature at a time


def counted(texts, buckets):
    found = [0] * buckets
    for text in texts:
        words = importance._WORD.findall(text.lower())
        for word in words:
            found[bucket(word, buckets)] += 1
        for one, two in pairwise(words):
            found[pair_bucket(one, two, buckets)] += 1
    return found


@pytest.mark.parametrize("at_once", [1, 3, 200_000])
@pytest.mark.parametrize("buckets", [1, 7, 10_000])
def test_buckets_are_those_of_counting_one_by_one(buckets, at_once, monkeypatch):
    wanted = counted(TEXTS, buckets)
    monkeypatch.setattr(importance, "_AT_ONCE", at_once)
    monkeypatch.setattr(importance, "_REMEMBERED", 2)
    assert BucketCounts.of(iter(TEXTS), buckets=buckets).counts.tolist() == wanted


@pytest.mark.parametrize("at_once", [1, 3, 200_000])
def test_importance_is_the_sum_over_features(at_once, monkeypatch):
    target, sources = BucketCounts.of(TEXTS[:1]), BucketCounts.of(TEXTS)
    ratios = [
        math.log((t + 1) / (target.counts.sum() + 10_000))
        - math.log((s + 1) / (sources.counts.sum() + 10_000))
        for t, s in zip(target.counts, sources.counts, strict=True)
    ]
    wanted = [np.dot(counted([text], 10_000), ratios) for text in TEXTS]
    monkeypatch.setattr(importance, "_AT_ONCE", at_once)
    found = log_importance(iter(TEXTS), target=target, sources=sources)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert found[1] == 0.0  # of no words


def test_nothing_to_choose_from_has_no_importance():
    target = BucketCounts.of(["a"])
    assert log_importance([], target=target, sources=target).shape == (0,)
    assert BucketCounts.of([]).counts.sum() == 0


def test_buckets_of_corpora_add_up():
    both = BucketCounts.of(TEXTS[:3]) + BucketCounts.of(TEXTS[3:])
    assert both.counts.tolist() == BucketCounts.of(TEXTS).counts.tolist()


def test_buckets_are_the_same_in_every_process():
    program = (
        "from tawt.corpora.importance import BucketCounts\n"
        "print(BucketCounts.of(['To be, or not to be'], buckets=50).counts.tolist())"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    here = BucketCounts.of(["To be, or not to be"], buckets=50).counts.tolist()
    assert said[0] == said[1] == f"{here}\n"


# Drawing


def test_draws_are_in_proportion_to_importance():
    logs = np.log([0.5, 0.3, 0.15, 0.05])
    first = [int(resampled(logs, count=1, seed=seed)[0]) for seed in range(4000)]
    shares = np.bincount(first, minlength=4) / 4000
    np.testing.assert_allclose(shares, [0.5, 0.3, 0.15, 0.05], atol=0.025)  # three deviations


def test_draws_of_several_are_without_replacement():
    """P({0, 1}) = p₀p₁/(1 − p₀) + p₁p₀/(1 − p₁)."""
    logs = np.log([0.5, 0.3, 0.2]) + 1000.0  # a constant makes no difference
    pairs = [tuple(resampled(logs, count=2, seed=seed)) for seed in range(4000)]
    assert pairs.count((0, 1)) / 4000 == pytest.approx(0.15 / 0.5 + 0.15 / 0.7, abs=0.025)
    assert all(one < two for one, two in pairs)


def test_all_can_be_drawn_and_a_seed_repeats_its_draw():
    logs = np.linspace(-3, 3, 50)
    assert resampled(logs, count=50, seed=3).tolist() == list(range(50))
    once, again = (resampled(logs, count=9, seed=3).tolist() for _ in range(2))
    assert once == again != resampled(logs, count=9, seed=4).tolist()


def test_shares_are_those_of_the_chosen_pieces():
    logs = {"a": np.array([50.0, -50.0, 60.0]), "none": np.zeros(0), "b": np.array([70.0, -60.0])}
    assert importance_shares(logs, count=3, seed=0) == {"a": 2 / 3, "none": 0.0, "b": 1 / 3}


# Refused


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: BucketCounts.of("one text"), "got one text"),
        (lambda: BucketCounts.of(["a", 3]), "got int"),
        (lambda: BucketCounts.of(["a"], buckets=0), "`buckets`"),
        (lambda: BucketCounts.of(["a"]) + BucketCounts.of(["a"], buckets=3), "10000 and 3"),
        (lambda: BucketCounts.of(["a"]).log_probabilities(smoothing=0), "`smoothing`"),
        (lambda: resampled(np.zeros(3), count=4, seed=0), "from 1 to the number of pieces, 3"),
        (lambda: resampled(np.zeros(3), count=0, seed=0), "got 0"),
        (lambda: resampled(np.array([0.0, math.nan]), count=1, seed=0), "not finite"),
        (lambda: resampled(np.zeros((3, 2)), count=1, seed=0), r"shape \(3, 2\)\.$"),
        (lambda: importance_shares({}, count=1, seed=0), "at least one corpus"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(call, words):
    with pytest.raises(DataError, match=words) as error:
        call()
    assert "\n" not in str(error.value)
