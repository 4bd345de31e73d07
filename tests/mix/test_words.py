"""The sentences follow from the numbers."""

import pytest

from tawt.mix.result import Point
from tawt.mix.study import BY_SIZE, EQUAL, LEARNED
from tawt.mix.words import in_words, mixture_in_words, percentages, when_again
from tests.mix.cases import COURSES, answer, course
from tests.mix.test_answering import SURE


def test_a_gain_is_a_verdict_with_its_interval():
    first, second, *_ = in_words(answer(scores=SURE, courses=[COURSES[0]] * 3))
    assert first == (
        "Use 80% near, 10% far, 10% noise: 3.100 bits a byte on goal, 0.467 (0.323 to 0.610) less "
        "than equal weights."
    )
    assert second == "That is 0.367 (0.223 to 0.510) less than weights by size."


def test_no_gain_is_said_as_it_is():
    first, second, *_ = in_words(answer())
    assert first.startswith(
        "No mixture was measurably better than equal weights; learned weights came to 3.100 bits "
        "a byte on goal, 0.450 (-0.185 to 1.085) less. Use equal weights,"
    )
    assert second == "Weights by size came to 3.700 bits a byte on goal."


def test_a_loss_is_not_called_a_gain():
    scores = {LEARNED: [3.9, 4.0, 3.9], EQUAL: [3.5, 3.5, 3.5], BY_SIZE: [3.6, 3.7, 3.7]}
    first = in_words(answer(scores=scores))[0]
    assert "learned weights came to 3.933 bits a byte on goal, 0.433 (0.290 to 0.577) more" in first


def test_weights_by_size_may_be_best():
    scores = {LEARNED: [3.3, 3.4, 3.3], EQUAL: [3.5, 3.6, 3.5], BY_SIZE: [3.0, 3.1, 3.0]}
    first, second, *_ = in_words(answer(scores=scores))
    assert first.startswith("Use 60% noise, 30% far, 10% near: 3.033 bits a byte on goal")
    assert "weights by size; that is 0.300" in second


def test_what_may_be_chance_is_said():
    scores = {LEARNED: [3.0, 3.1, 3.0], EQUAL: [3.5, 3.6, 3.5], BY_SIZE: [3.0, 3.1, 3.1]}
    assert in_words(answer(scores=scores))[1].endswith("weights by size, which may be chance.")


def test_corpora_at_the_floor_are_named_together():
    lowest = [course(0.5, 10 / 12, 10 / 12)] * 3
    said = in_words(answer(scores=SURE, courses=lowest, bound=10))
    assert any(each.startswith("Not worth their tokens: far and noise;") for each in said)
    assert not any("Not worth" in each for each in in_words(answer(scores=SURE, bound=10)))
    said = in_words(answer(scores=SURE, courses=lowest, wanted=2500, bound=10, most_passes=4))
    assert any(
        "far and noise" in each and each.endswith("only because the others have too little text.")
        for each in said
    )


def test_without_a_bound_nothing_is_at_a_floor_but_hardly_drawn():
    lowest = [course(0.5, 0.994, 0.994)] * 3  # 0.3% each of the others
    said = in_words(answer(scores=SURE, courses=lowest))
    assert "Hardly drawn: far and noise have 0.6% together." in said
    assert not any("Not worth" in each for each in said)
    more = [course(0.5, 0.98, 0.98)] * 3  # 1% each
    assert not any("Hardly" in each for each in in_words(answer(scores=SURE, courses=more)))
    # What learning gave 0.3% is drawn more often where the first is held.
    held = in_words(answer(scores=SURE, courses=lowest, wanted=2500, most_passes=4))
    assert not any("Hardly" in each for each in held)


def test_what_is_hardly_drawn_may_be_one():
    shares = {"near": 0.7, "far": 0.002, "noise": 0.298}
    courses = [[Point(step=20, weights=shares)]] * 3
    assert "Hardly drawn: far has 0.2%." in in_words(answer(scores=SURE, courses=courses))


def test_what_is_held_is_said_with_what_it_would_have_been():
    said = in_words(answer(scores=SURE, wanted=2500, most_passes=4))
    assert said[0].startswith(
        "Use 42% far, 42% noise, 16% near. Without the limit of 4 passes it would be 40% far,"
    )
    assert "20% near, which came to 3.100 bits a byte on goal, 0.467" in said[0]
    # Of near there are 100 tokens: 400 in four passes, which is a fifth of 2000.
    assert said[2] == (
        "Held at 4 passes for 2.5K tokens: near (5.0 passes); the rest went to the others. "
        "For up to 2K tokens nothing would have to be held."
    )


def test_what_the_runs_held_is_said():
    said = in_words(answer(scores=SURE, most_passes=4))
    assert said[0].startswith("Use 40% far, 40% noise, 20% near: 3.100 bits a byte")
    wanted = "At the limit of 4 passes for 2K tokens, in the runs too: near. Give more text like it"
    assert any(each.startswith(wanted) for each in said)
    free = in_words(answer(scores=SURE))
    assert not any("limit" in each or "Held" in each for each in free)


def test_too_little_text_is_said():
    said = in_words(answer(scores=SURE, wanted=8000, most_passes=4))
    assert any("too little for 8K tokens: that is 8.0 passes over them" in each for each in said)


def test_one_seed_is_said_to_be_one():
    scores = {LEARNED: [3.0], EQUAL: [3.5], BY_SIZE: [3.4]}
    said = in_words(answer(scores=scores, courses=COURSES[:1]))
    assert said[0].endswith("3.000 bits a byte on goal, 0.500 less than equal weights.")
    assert any("From one seed there are no intervals" in each for each in said)
    worse = {LEARNED: [3.6], EQUAL: [3.5], BY_SIZE: [3.7]}
    assert in_words(answer(scores=worse, courses=COURSES[:1]))[0].startswith(
        "No mixture was better"
    )


def test_when_to_measure_again():
    assert when_again(answer(scores=SURE)) == (
        "The weights stayed put from step 40 of 100. Measure again when the sources change, or "
        "when a model has seen 5K tokens (2.5 times as many as each run here)."
    )
    moving = [course(0.4, 0.5, 0.6, 0.7, 0.9)] * 3
    assert "the budget was too small for settled weights" in when_again(
        answer(scores=SURE, courses=moving)
    )


@pytest.mark.parametrize(
    ("shares", "percents"),
    [([0.5, 0.25, 0.25], [50, 25, 25]), ([0.335, 0.335, 0.33], [34, 33, 33]), ([1.0], [100])],
)
def test_percents_add_up(shares, percents):
    assert percentages(shares) == percents


def test_many_small_sources_are_summed_up():
    mixture = {"a": 0.6, "b": 0.2, **{f"s{k}": 0.02 for k in range(10)}}
    assert mixture_in_words(mixture) == "60% a, 20% b, 20% ten others"
    alike = {f"s{k}": 1 / 20 for k in range(20)}
    assert mixture_in_words(alike).endswith("85% 17 others")
    assert mixture_in_words({"a": 0.7, "b": 0.25, "c": 0.05}) == "70% a, 25% b, 5% c"


def test_one_source_is_used_alone():
    assert mixture_in_words({"a": 0.001, "b": 0.996, "c": 0.003}) == "b alone"
    assert mixture_in_words({"a": 0.994, "b": 0.006}) == "99% a, 1% b"
    said = in_words(answer(scores=SURE, courses=[course(0.5, 0.999, 0.999)] * 3))
    assert said[0].startswith("Use near alone: 3.100 bits a byte on goal")
