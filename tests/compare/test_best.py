"""The best row: named first, and called better only where chance does not explain it."""

from dataclasses import replace

import numpy as np
import pytest

from tawt.compare.best import Best, Rival, best_in_words, best_of
from tawt.tasks import Measure

POINTS, BITS = Measure(), Measure(lower_is_better=True, unit="bits a byte")


def rival(name, *, beaten=True):
    p_value = 0.001 if beaten else 0.4
    return Rival(name, 0.031, p_value, p_value, (0.01 if beaten else -0.01, 0.05))


def said(name, *rivals, measure=POINTS, mean=0.5):
    return best_in_words(Best(name, list(rivals)), mean=mean, metric="score", measure=measure)


def test_the_best_row_has_the_highest_mean_or_the_lowest():
    scores = {"a": [0.4, 0.4], "b": [0.7, 0.5], "c": [0.6, 0.6]}
    examples = {name: np.outer(found, np.ones(10)) for name, found in scores.items()}
    assert best_of(scores, examples, measure=POINTS).name == "b"  # of equals the first
    assert best_of(scores, examples, measure=BITS).name == "a"


def test_every_other_row_is_tested():
    draw = np.random.default_rng(0)
    right = (draw.random(200) < 0.5).astype(float)
    better = np.maximum(right, draw.random(200) < 0.3)
    examples = {"alone": [right], "same": [right], "better": [better]}
    scores = {name: [float(np.mean(found))] for name, found in examples.items()}
    found = best_of(scores, examples, measure=POINTS)
    assert found.name == "better"
    assert [each.name for each in found.rivals] == ["alone", "same"]
    assert all(each.is_beaten for each in found.rivals)
    gain = scores["better"][0] - scores["alone"][0]
    assert found.rivals[0].difference == pytest.approx(gain)
    without = best_of({"alone": [0.5], "same": [0.5]}, examples, measure=POINTS)
    assert not any(each.is_beaten for each in without.rivals)


@pytest.mark.parametrize(
    ("theirs", "beaten"),
    [([0.5, 0.5, 0.49], True), ([0.9, 0.5, 0.1], False), ([0.9, 0.6], True)],
    ids=["seeds agree", "seeds disagree", "too few to ask"],
)
def test_of_three_seeds_the_difference_must_hold_for_others_too(theirs, beaten):
    ours = [0.8, 0.8, 0.8][: len(theirs)]
    examples = {"ours": np.ones((len(ours), 50)), "theirs": np.tile([0.0, 1.0], (len(ours), 25))}
    found = best_of({"ours": ours, "theirs": theirs}, examples, measure=POINTS)
    assert [each.is_beaten for each in found.rivals] == [beaten]


@pytest.mark.parametrize("test", ["p_value", "p_bootstrap", "p_seeds"])
def test_one_test_that_finds_nothing_is_enough(test):
    assert rival("a").is_beaten
    assert not replace(rival("a"), **{test: 0.2}).is_beaten


def test_a_better_mean_with_worse_examples_is_not_better():
    """As span F1 of a corpus may be, beside that of its sentences."""
    assert not replace(rival("a"), interval=(-0.05, -0.01)).is_beaten


def test_what_can_be_chance_is_no_better():
    assert said("joint", rival("single-task"), rival("balanced", beaten=False)) == (
        "Joint has the best score, 50.0: it is better than single-task (+3.1), but no better than "
        "balanced (+3.1 can be chance)."
    )
    assert said("joint", rival("single-task", beaten=False)) == (
        "Joint has the best score, 50.0, but it is no better than single-task (+3.1 can be "
        "chance). These runs do not show that sources help."
    )
    assert said("joint", rival("single-task")).endswith("better than single-task (+3.1).")


def test_weights_are_many_and_bits_are_shown_as_bits():
    found = said("learned weights", rival("equal weights"), measure=BITS, mean=2.5)
    assert found == (
        "Learned weights have the best score, 2.500: they are better than equal weights (+0.031)."
    )


def test_a_target_that_is_best_alone_says_so():
    assert said("single-task", rival("joint")).endswith("do not show that sources help.")
