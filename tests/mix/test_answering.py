"""The answer, against numbers worked out by hand."""

import math

import pytest
from scipy import stats

from tawt.mix.answering import MixEvidence, answered
from tawt.mix.result import MixResult
from tawt.mix.study import BY_SIZE, EQUAL, LEARNED
from tests.mix.cases import COURSES, SIZES, answer, course, plan, study

SURE = {LEARNED: [3.0, 3.2, 3.1], EQUAL: [3.5, 3.6, 3.6], BY_SIZE: [3.4, 3.5, 3.5]}


def by_name(found: MixResult):
    return {corpus.name: corpus for corpus in found.corpora}


def test_weights_are_means_over_seeds_of_the_second_halves():
    found = by_name(answer(scores=SURE))
    # From half-time on 0.8 with one seed, 0.7 with the other.
    assert found["near"].weight == pytest.approx(0.75)
    assert found["far"].weight == found["noise"].weight == pytest.approx(0.125)
    reach = stats.t.ppf(0.975, 1) * (math.sqrt(2) * 0.05) / math.sqrt(2)
    assert found["near"].interval == pytest.approx((max(0, 0.75 - reach), min(1, 0.75 + reach)))


def test_multipliers_are_against_size_and_passes_over_what_there_is():
    found = by_name(answer(scores=SURE))
    assert found["near"].by_size == pytest.approx(0.1)
    assert found["near"].multiplier == pytest.approx(7.5)
    assert found["noise"].multiplier == pytest.approx(0.125 / 0.6)
    # A run has 100 steps of 20 tokens, and the sources 100, 300 and 600.
    assert found["near"].passes == pytest.approx(0.75 * 2000 / 100)
    assert found["noise"].passes == pytest.approx(0.125 * 2000 / 600)


def test_gains_are_paired_by_seed_and_lower_bits_are_better():
    learned = answer(scores=SURE).loss(LEARNED)
    gains = [0.5, 0.4, 0.5]
    reach = stats.t.ppf(0.975, 2) * math.sqrt(2 / 3 * 0.1**2 / 2) / math.sqrt(3)
    assert learned.mean == pytest.approx(3.1)
    assert learned.gains[EQUAL].mean == pytest.approx(sum(gains) / 3)
    middle = sum(gains) / 3
    assert learned.gains[EQUAL].interval == pytest.approx((middle - reach, middle + reach))
    assert learned.gains[EQUAL].is_measured


def test_the_largest_probability_comes_first_and_all_add_up():
    found = answer(scores=SURE)
    assert next(iter(found.mixture)) == "near"
    assert sum(found.mixture.values()) == pytest.approx(1)


def test_what_was_not_measurably_better_is_not_recommended():
    found = answer()  # gains of 0.5 and 0.4 from two seeds: 0.45 ± 0.64
    assert found.recommended == EQUAL
    assert list(found.mixture.values()) == pytest.approx([1 / 3] * 3)
    assert by_name(found)["near"].weight == pytest.approx(0.75)  # is said all the same


@pytest.mark.parametrize(
    ("learned", "by_size", "recommended"),
    [
        ([3.0, 3.1, 3.0], [3.3, 3.4, 3.3], LEARNED),
        ([3.0, 3.1, 3.0], [3.0, 3.1, 3.05], LEARNED),  # the sizes may be as good
        ([3.3, 3.4, 3.3], [3.0, 3.1, 3.0], BY_SIZE),  # both are better, the sizes most
        ([3.6, 3.7, 3.6], [3.0, 3.1, 3.0], BY_SIZE),
        ([3.6, 3.7, 3.6], [3.7, 3.8, 3.7], EQUAL),
        ([3.0, 4.0, 3.5], [3.0, 4.1, 3.5], EQUAL),  # who knows
    ],
)
def test_recommendations(learned, by_size, recommended):
    scores = {LEARNED: learned, EQUAL: [3.5, 3.6, 3.5], BY_SIZE: by_size}
    assert answer(scores=scores).recommended == recommended


@pytest.mark.parametrize(
    ("learned", "recommended"), [(3.0, LEARNED), (3.45, BY_SIZE), (3.6, BY_SIZE)]
)
def test_from_one_seed_the_best_mean_is_taken_and_there_is_no_interval(learned, recommended):
    scores = {LEARNED: [learned], EQUAL: [3.5], BY_SIZE: [3.4]}
    found = answer(scores=scores, courses=COURSES[:1])
    assert found.recommended == recommended
    assert by_name(found)["near"].interval is None
    assert found.loss(LEARNED).gains[EQUAL].interval is None
    assert not found.loss(LEARNED).gains[EQUAL].is_measured


def test_sources_of_one_size_need_no_runs_by_size():
    scores = {name: SURE[name] for name in (LEARNED, EQUAL)}
    found = answer(scores=scores)
    assert found.recommended == LEARNED
    assert found.loss(BY_SIZE) is None


def test_what_a_run_did_not_repeat_is_capped():
    # The weights are 3/4, 1/8 and 1/8; near has 100 tokens, so at most 400 of 2500.
    found = by_name(answer(scores=SURE, wanted=2500, most_passes=4))
    assert found["near"].probability == pytest.approx(0.16)
    assert found["near"].passes == pytest.approx(4)
    # The runs had 400 of 2000, a fifth.
    assert found["near"].uncapped_passes == pytest.approx(0.2 * 2500 / 100)
    assert found["near"].is_capped
    # The others share what is left; far would have 0.42 · 2500 / 300 passes, which is 3.5.
    assert found["far"].probability == found["noise"].probability == pytest.approx(0.42)
    assert not found["far"].is_capped


def test_the_limit_of_the_runs_is_that_of_the_mixture():
    near = by_name(answer(scores=SURE, most_passes=4))["near"]
    assert (near.weight, near.probability) == (pytest.approx(0.75), pytest.approx(0.2))
    assert near.passes == pytest.approx(4)
    assert not near.is_capped  # beyond what the runs were
    usual = answer(scores=SURE, most_passes="usual")
    assert usual.most_passes == 12
    assert by_name(usual)["near"].probability == pytest.approx(12 * 100 / 2000)


def test_without_a_limit_nothing_is_capped():
    found = answer(scores=SURE, wanted=1e9)
    near = by_name(found)["near"]
    assert (near.is_capped, near.probability) == (False, pytest.approx(0.75))
    assert (found.most_passes, found.is_short) == (None, False)


def test_too_little_text_is_said_and_nothing_capped_beyond_the_runs():
    found = answer(scores=SURE, wanted=4001, most_passes=4)
    assert found.is_short
    assert found.mixture == pytest.approx({"near": 0.2, "far": 0.4, "noise": 0.4})


def test_the_course_begins_with_equal_weights():
    found = answer(scores=SURE)
    assert found.course[0].step == 0
    assert found.course[0].weights == pytest.approx(dict.fromkeys(SIZES, 1 / 3))
    assert found.course[2].weights["near"] == pytest.approx(0.75)


def test_scores_that_are_better_when_higher():
    from dataclasses import replace

    from tawt.tasks import Measure

    evidence = MixEvidence(
        scores={LEARNED: [0.7, 0.8, 0.75], EQUAL: [0.5, 0.6, 0.55]},
        courses=[course(0.8, 0.8)] * 3,
        seconds=1.0,
        circumstances={},
    )
    counted = replace(study(rows=(LEARNED, EQUAL)), measure=Measure())
    found = answered(evidence, counted, plan(), seeds=range(3), wanted=None)
    assert found.recommended == LEARNED
    assert found.loss(LEARNED).gains[EQUAL].mean == pytest.approx(0.2)
