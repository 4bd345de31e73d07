"""What each kind of training trains on, and what it measures."""

from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from tawt.arrays import regression
from tawt.distance import Job, frozen_risk
from tawt.distance.budgets import TrainingBudget
from tawt.errors import Interrupted
from tawt.training import PreTraining, SourcesOnly, train
from tawt.training.devices import accelerator_for
from tawt.weighting import Fixed
from tests.distance.made import SETTINGS, Bench, model_for, task, watched

SIZES = {"near": 60, "far": 40, "goal": 30}
MIXED = (("near", 0.75), ("far", 0.25))
REPRESENTED = [
    Job("own", "goal"),
    Job("sources", "mostly", MIXED),
    Job("learned", "learned", (("near", 0.5), ("far", 0.5))),
    Job("half", "mostly", MIXED),
]
SCORED = [Job("alone", "goal"), Job("with", "near")]


def what_of(job):
    return job.what


def tasks(**other_sizes):
    """Two sources without held-out examples, and a target with both kinds."""
    sizes = {**SIZES, **other_sizes}
    return [
        replace(task("near", 1, sizes=(sizes["near"], 1)), test=None),
        replace(task("far", 2, shuffled=True, sizes=(sizes["far"], 1)), test=None),
        task("goal", 3, sizes=(sizes["goal"], 20, 25)),
    ]


def bench(**given):
    """With every example watched, but for those that heads are fitted and measured on."""
    found = [watched(each) for each in tasks()]
    return Bench(*found, measured={"goal": tasks()[-1]}, **given)


def seen(workshop):
    """How many examples of each task's splits were asked for."""
    return {
        f"{name} {split}": len(part.seen)
        for name, each in workshop.tasks.items()
        for split in ("train", "dev", "test")
        if (part := getattr(each, split)) is not None and part.seen
    }


def without_time(outcome):
    return {name: value for name, value in outcome.items() if name != "seconds"}


# What is trained on


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (Job("own", "goal"), {"goal train": 30}),
        (Job("own", "near"), {"near train": 60}),
        (Job("sources", "near", (("near", 1.0),)), {"near train": 60, "goal train": 30}),
        (REPRESENTED[1], {"near train": 60, "far train": 40, "goal train": 30}),
        (REPRESENTED[2], {"near train": 60, "far train": 40, "goal train": 30}),
        (REPRESENTED[3], {"near train": 30, "far train": 20, "goal train": 30}),
        (Job("alone", "goal"), {"goal train": 30, "goal dev": 20, "goal test": 25}),
        (
            Job("with", "near"),
            {"near train": 60, "goal train": 30, "goal dev": 20, "goal test": 25},
        ),
    ],
    ids=lambda value: f"{value.what} {value.name}" if isinstance(value, Job) else "",
)
def test_a_job_asks_for_what_its_name_says(job, expected):
    workshop = bench()
    workshop.done(job)
    assert seen(workshop) == expected


@pytest.mark.parametrize("job", [REPRESENTED[1], REPRESENTED[3]], ids=what_of)
def test_only_a_head_is_fitted_on_the_target_beside_sources(job):
    near, far, goal = tasks()
    other = replace(goal, train=task("goal", 9, sizes=(30, 1)).train)
    before, after = Bench(near, far, goal), Bench(near, far, other)
    before.done(job)
    after.done(job)
    for one, two in zip(before.representation, after.representation, strict=True):
        assert torch.equal(one, two)


def test_the_best_that_a_target_could_have_is_learned_from_all_there_is_of_it():
    whole = watched(task("goal", 3, sizes=(300, 1)))
    workshop = bench(whole={"goal": whole})
    every = workshop.done(Job("own", "goal"))
    assert len(whole.train.seen) == 300
    assert seen(workshop) == {}
    few = bench().done(Job("own", "goal"))
    assert every["risks"] != few["risks"]
    bench(whole={"goal": whole}).done(Job("own", "near"))  # only the target's is replaced


@pytest.mark.parametrize("job", [*REPRESENTED, *SCORED], ids=what_of)
def test_test_examples_are_not_learned_from(job):
    """Other held-out examples, and not a parameter differs."""
    near, far, goal = tasks()
    other = task("goal", 9, sizes=(5, 20, 25))
    # Scored trainings choose their best epoch by dev examples, and may.
    changed = replace(goal, test=other.test, dev=goal.dev if job in SCORED else other.dev)
    before, after = Bench(near, far, goal), Bench(near, far, changed)
    first, second = before.done(job), after.done(job)
    for one, two in zip(before.representation, after.representation, strict=True):
        assert torch.equal(one, two)
    assert without_time(first) != without_time(second)


def test_half_is_drawn_anew_for_each_seed_and_for_each_source():
    picked = {}
    for seed in (0, 0, 1):
        workshop = bench(seed=seed)
        workshop.done(REPRESENTED[3])
        found = {name: workshop.tasks[name].train.seen for name in ("near", "far")}
        assert picked.setdefault(seed, found) == found
    assert picked[0]["near"] != picked[1]["near"]
    assert {each for each in picked[0]["near"] if each < 40} != picked[0]["far"]


def test_half_of_one_example_is_that_example():
    workshop = Bench(*[watched(each) for each in tasks(near=1)], measured={})
    workshop.done(Job("half", "near", (("near", 1.0),)))
    assert workshop.tasks["near"].train.seen == {0}


# What is trained


def test_the_mixture_s_weights_are_those_that_training_is_given():
    near, far, goal = (replace(each, dev=None, test=None) for each in tasks())
    by_hand = model_for([near, far, goal], 0)
    train(
        by_hand,
        tasks=[near, far, goal],
        target="goal",
        paradigm=SourcesOnly(epochs=2),
        weighting=Fixed(["near", "far"], initial=dict(MIXED)),
        settings=replace(SETTINGS, select="last"),
        seed=0,
        accelerator=accelerator_for("fp32", device="cpu"),
    )
    workshop = Bench(*tasks(), device="cpu")
    outcome = workshop.done(REPRESENTED[1])
    assert outcome["weights"] == dict(MIXED)
    for ours, theirs in zip(
        workshop.representation, by_hand.representation.parameters(), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_a_learned_mixture_is_the_mixture_of_the_weights_that_were_learned():
    learned = Bench(*tasks()).done(REPRESENTED[2])
    given = Bench(*tasks()).done(Job("sources", "given", tuple(learned["weights"].items())))
    assert learned["risks"] == given["risks"]


def test_shuffled_labels_are_given_less_weight_than_helpful_ones():
    workshop = Bench(*tasks(near=200, far=200, goal=60), epochs=10)
    weights = workshop.done(REPRESENTED[2])["weights"]
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["near"] > 0.6
    assert weights["far"] < 0.4


def test_trainings_last_as_the_budget_says():
    budget = TrainingBudget(epochs=3, batch=10, sizes=(60, 40), target_size=30)
    # 3 passes over 6 or 4 steps are 15 in the mean; with 9 of the target, 24.
    for job, passes in ((Job("alone", "goal"), 4), (Job("own", "goal"), 5)):
        workshop = bench(budget=budget, settings=replace(SETTINGS, batch_size=10))
        workshop.done(job)
        assert len(workshop.tasks["goal"].train.asked) == 30 * passes


def test_half_of_the_steps_beside_a_source_are_the_target_s():
    budget = TrainingBudget(epochs=20, batch=10, sizes=(60,), target_size=30)
    workshop = bench(budget=budget, settings=replace(SETTINGS, batch_size=10, sampling="size"))
    workshop.done(Job("with", "near"))
    alone = bench(budget=budget, settings=replace(SETTINGS, batch_size=10))
    alone.done(Job("alone", "goal"))
    beside, by_itself = (len(w.tasks["goal"].train.asked) for w in (workshop, alone))
    assert beside == pytest.approx(by_itself, rel=0.2)


def test_before_fine_tuning_the_target_has_the_same_passes_with_and_without_a_source():
    paradigm = PreTraining(epochs=2, fine_tune_epochs=4)
    workshop = bench(paradigm=paradigm)
    workshop.done(Job("alone", "goal"))
    assert len(workshop.tasks["goal"].train.asked) == 30 * 4


def test_sources_prove_themselves_in_the_paradigm_that_is_given():
    alone, joint, before = (
        Bench(*tasks(), **given).done(job)
        for given, job in (
            ({}, Job("alone", "goal")),
            ({}, Job("with", "near")),
            ({"paradigm": PreTraining(epochs=2, fine_tune_epochs=1)}, Job("with", "near")),
        )
    )
    assert len({tuple(each["examples"]) for each in (alone, joint, before)}) == 3


# What is measured


@pytest.mark.parametrize("job", REPRESENTED, ids=what_of)
def test_frozen_risk_is_that_of_the_trained_representation(job):
    goal, other = tasks()[-1], task("other", 5, sizes=(20, 20))
    workshop = Bench(*tasks(), measured={"goal": goal, "other": other})
    outcome = workshop.done(job)
    body = workshop.models[-1].representation
    assert outcome["risks"] == {
        "goal": asdict(frozen_risk(body, goal)),
        "other": asdict(frozen_risk(body, other)),
    }
    assert outcome["seconds"] > 0
    start = model_for([], 0).representation
    for one, other in zip(body.parameters(), start.parameters(), strict=True):
        assert not torch.equal(one, other)


@pytest.mark.parametrize("job", SCORED, ids=what_of)
@pytest.mark.parametrize("split", ["test", "dev"])
def test_scores_are_those_of_the_trained_model_on_held_out_examples(job, split):
    near, far, goal = tasks()
    if split == "dev":
        goal = replace(goal, test=None)
    workshop = Bench(near, far, goal)
    outcome = workshop.done(job)
    batch = getattr(goal, split).batch(np.arange(len(getattr(goal, split))))
    with torch.no_grad():
        answers = workshop.models[-1].eval()(batch.inputs, "goal").argmax(-1)
    right = (answers == batch.labels).double()
    assert outcome["metric"] == "accuracy"
    assert outcome["examples"] == pytest.approx(right.tolist(), abs=1e-9)
    assert outcome["score"] == pytest.approx(float(right.mean()))


def test_single_examples_speak_in_the_units_of_the_score():
    """Explained variance does not ask in what units labels are, and so must no interval."""
    found = []
    for unit in (1, 100):
        draw = np.random.default_rng(0)
        inputs = draw.normal(size=(60, 20)).astype(np.float32)
        numbers = inputs[:, 0]
        goal = regression(
            "goal", train=(inputs[:30], numbers[:30]), test=(inputs[30:], unit * numbers[30:])
        )
        found.append(Bench(*tasks()[:2], goal).done(Job("with", "near")))
    assert found[0]["metric"] == "r2"
    assert found[0]["score"] == pytest.approx(np.mean(found[0]["examples"]), abs=0.1)
    assert np.std(found[1]["examples"]) < 10


def test_without_dev_examples_there_is_nothing_to_choose_or_stop_by():
    near, far, goal = tasks()
    bare = replace(goal, dev=None)
    patient = replace(SETTINGS, patience=1)
    assert Bench(near, far, bare, settings=patient).done(Job("alone", "goal"))["score"] >= 0


@pytest.mark.parametrize("job", [*REPRESENTED, *SCORED], ids=what_of)
def test_a_seed_gives_the_same_again_and_another_something_else(job):
    first, again, other = (Bench(*tasks(), seed=seed).done(job) for seed in (4, 4, 5))
    assert without_time(first) == without_time(again)
    assert without_time(first) != without_time(other)


def test_a_stop_is_heeded():
    with pytest.raises(Interrupted):
        Bench(*tasks(), should_stop=lambda: True).done(Job("own", "goal"))


# Budgets


def test_budgets_are_by_hand():
    budget = TrainingBudget(epochs=2, batch=10, sizes=(500, 1500), target_size=100)
    # 2 passes over 100 steps in the mean are 200; 20 more on the target.
    assert budget.own(100) == 20
    assert budget.own(5000) == 2  # never fewer passes than over a source
    assert budget.alone == 11
    assert (budget.joint(500), budget.joint(1500)) == (4, 1)
    assert TrainingBudget(epochs=1, batch=32, sizes=(4,), target_size=64).alone == 1
