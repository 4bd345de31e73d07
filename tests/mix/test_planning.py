"""How long runs are, so that all of them fit a budget."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tawt.errors import ConfigError
from tawt.mix.amounts import MixBudget
from tawt.mix.planning import FEWEST_STEPS, Pace, ProxyPlan, makespan, planned
from tawt.mix.speed import Speed
from tawt.training.rounds import rounds, update_steps
from tests.mix.cases import plan, study

SPEED = Speed(step=0.1, update=1.0, around=5.0)
NINE = [True, False, False] * 3


def made(budget=None, *, learns=NINE, workers=1, speed=SPEED, **training):
    allowed = None if budget is None else MixBudget.parsed(budget)
    return planned(study(**training), budget=allowed, learns=learns, workers=workers, speed=speed)


def test_without_a_budget_runs_are_as_long_as_the_configuration_says():
    assert made(steps=300).steps == 300
    # Batches of two out of 10, 30 and 60 windows: 50 steps a pass, and 4 passes by default.
    assert made().steps == 200
    assert made().budget is None


def test_tokens_are_shared_among_all_runs():
    # 9 runs of steps of 2 windows with 10 tokens each.
    found = made("180K")
    assert (found.steps, found.amount, found.unit) == (1000, 20_000, "tokens")


def test_a_time_is_filled_but_not_exceeded():
    found = made("10m", update_every=5, update_growth=0)
    assert found.seconds(NINE, workers=1) <= 600
    assert replace(found, steps=found.steps + 5).seconds(NINE, workers=1) > 600
    # 9 runs of 5 s and S steps of 0.1 s, and 3 with S/5 updates of 1 s: 45 + 0.9 S + 0.6 S.
    assert found.steps == pytest.approx(555 / 1.5, abs=5)


def test_updates_that_are_further_and_further_apart_leave_more_time_for_steps():
    found = made("10m", update_every=5, update_growth=0.25)
    assert 595 < found.seconds(NINE, workers=1) <= 600
    # After 5, 10, …, 20, 25 and so on a quarter more each: 19 of them in 555 steps, of 1 s each.
    due = list(itertools.takewhile(lambda s: s <= found.steps, update_steps(5, growth=0.25)))
    assert found.steps == pytest.approx((555 - 3 * len(due)) / 0.9, abs=4)
    assert found.steps > 1.4 * made("10m", update_every=5, update_growth=0).steps


@pytest.mark.parametrize("growth", [0.0, 0.25, 1.0])
def test_a_plan_counts_the_updates_that_a_run_makes(growth):
    found = made(steps=400, update_every=8, update_growth=growth)
    due = [part for part in rounds(400, 8, start=0, before=0, growth=growth) if part.closes]
    alone = found.seconds([True], workers=1) - found.seconds([False], workers=1)
    assert alone == pytest.approx(len(due) * SPEED.update)


def test_what_is_spent_is_gone():
    allowed = MixBudget.parsed("10m")
    found = planned(study(), budget=allowed, learns=NINE, workers=1, speed=SPEED, spent=100.0)
    assert found.seconds(NINE, workers=1) <= 500


def test_runs_side_by_side_have_more_time():
    assert made("10m", workers=3).steps > 2 * made("10m").steps


@given(
    some.lists(some.floats(0.1, 9), min_size=1, max_size=6), some.integers(min_value=1, max_value=3)
)
def test_work_is_begun_by_the_first_who_is_free(durations, workers):
    ends = [0.0] * workers
    for each in durations:
        first = ends.index(min(ends))
        ends[first] += each
    assert makespan(durations, workers=workers) == pytest.approx(max(ends))
    best = min(
        max(sum(d for d, w in zip(durations, who, strict=True) if w == k) for k in range(workers))
        for who in itertools.product(range(workers), repeat=len(durations))
    )
    assert best - 1e-9 <= makespan(durations, workers=workers) <= 2 * best


@pytest.mark.parametrize(
    ("budget", "remedy"), [("50s", r"--budget \d+s"), ("5K", r"--budget 9K"), (None, "steps")]
)
def test_runs_that_would_be_too_short_are_refused_in_one_line(budget, remedy):
    with pytest.raises(ConfigError, match=rf"9 in all.* fewer than 50 .*{remedy}") as found:
        made(budget, **({"steps": 49} if budget is None else {}))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("budget", ["50s", "5K"])
def test_the_budget_that_is_asked_for_is_enough(budget):
    with pytest.raises(ConfigError) as found:
        made(budget)
    wanted = str(found.value).split("--budget ")[1].split(",")[0]
    assert made(wanted).steps >= FEWEST_STEPS


def test_the_first_updates_are_a_twentieth_of_a_run_apart_at_most():
    assert made(steps=1000, update_every=25).update_every == 25
    assert made(steps=100, update_every=25).update_every == 5
    assert made(steps=200, update_every=None).update_every == 10


@given(some.integers(FEWEST_STEPS, 2000), some.one_of(some.none(), some.integers(1, 400)))
def test_how_many_updates_there_are_at_least(steps, every):
    assert Pace(every, growth=0.0).updates(steps) >= 20
    assert Pace(every, growth=0.25).updates(steps) >= 11


def test_a_budget_beyond_the_passes_is_not_spent_and_explicit_steps_are_refused():
    # 100 windows, 4 passes, two windows a step.
    assert made("10M", most_passes=4).steps == 200
    with pytest.raises(ConfigError, match="most_passes"):
        made(steps=201, most_passes=4)


@pytest.mark.parametrize("budget", ["10M", None])
def test_the_usual_limit_neither_shortens_nor_refuses_runs_and_says_so(budget):
    # 100 windows, 12 passes, two windows a step: enough for 600 steps.
    steps = {} if budget else {"steps": 601}
    found = made(budget, most_passes="usual", **steps)
    assert found.steps == (55_555 if budget else 601)
    said = found.remark(study(most_passes="usual"))
    assert f"`steps` ({found.steps}) of 2 examples need {2 * found.steps}, but " in said
    assert "`most_passes` (usual, 12) over all sources give 1200, so there is no limit" in said
    assert made(steps=600, most_passes="usual").remark(study(most_passes="usual")) is None


def test_tokens_are_no_budget_for_data_that_is_not_counted_in_them():
    images = replace(study(), unit="examples")
    with pytest.raises(ConfigError, match="not counted in tokens; give a time"):
        planned(images, budget=MixBudget.parsed("20M"), learns=NINE, workers=1, speed=SPEED)


def test_a_plan_says_what_it_is_about_to_do_and_survives_json():
    found = plan(steps=1000)
    said = found.in_words([True, False], workers=2)
    # 5 s and 1000 steps of 0.1 s, and 200 updates of 1 s.
    assert said == "2 runs of 1,000 steps (20K tokens each, 40K in all): about 5 minutes."
    assert ProxyPlan.from_json(found.to_json()) == found
