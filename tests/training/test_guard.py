"""What the guard sees and says, what the schedule does about it, and what training comes to."""

import logging
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tawt import TargetAware, UpdateRule
from tawt.arrays import MLP, classification
from tawt.config import parsed
from tawt.errors import Interrupted
from tawt.runs import building
from tawt.tasks import MultiTaskModel
from tawt.training import JointTraining, Settings, train
from tawt.training.guard import Guard, of_steps
from tawt.training.material import Material
from tawt.training.result import Predictions
from tawt.training.schedule import Schedule
from tawt.weights import WeightUpdate

SIZES = {"goal": 20, "many": 1980}
HEAVY = {"goal": 0.3, "many": 0.7}
LIGHT = {"goal": 0.04, "many": 0.96}
HOW_OFTEN = [("target-aware", 100), ("target-aware", None), ("fixed", None)]
"""Kinds of weighting, and after how many steps they update; those that are fixed do not."""


def schedule(*, guarded=True, sampling="size", sizes=SIZES):
    return Schedule(sizes, batch_size=10, sampling=sampling, seed=0, phase="x", guarded=guarded)


def same(steps, others):
    return all(
        one.task == other.task and np.array_equal(one.examples[one.task], other.examples[one.task])
        for one, other in zip(steps, others, strict=True)
    )


def test_a_task_that_counts_far_more_than_is_seen_of_it_has_steps_drawn_by_weight():
    guarded, by_weight = schedule(), schedule(sampling="weight")
    steps = guarded.steps(1, 3, 40, shares=HEAVY)
    assert same(steps, by_weight.steps(1, 3, 40, shares=HEAVY))
    assert {step.task for step in steps} == {"goal", "many"}
    for task in SIZES:
        assert guarded.scale(task, 10, shares=HEAVY) == 1
    assert schedule(guarded=False).scale("goal", 10, shares=HEAVY) == pytest.approx(30)


def test_other_weights_are_drawn_by_size_with_the_guard_too():
    guarded, by_size = schedule(), schedule(guarded=False)
    assert same(guarded.steps(1, 3, 40, shares=LIGHT), by_size.steps(1, 3, 40, shares=LIGHT))
    for task in SIZES:
        assert guarded.scale(task, 10, shares=LIGHT) == by_size.scale(task, 10, shares=LIGHT)


def test_the_guard_is_left_by_the_weights_of_the_round_alone():
    """What was drawn before does not matter, so a run that is resumed draws the same."""
    guarded, new = schedule(), schedule()
    for shares in (LIGHT, HEAVY, LIGHT):
        found = guarded.steps(2, 0, 50, shares=shares)
        assert same(found, new.steps(2, 0, 50, shares=shares))
        new = schedule()


@given(
    sizes=st.lists(st.integers(10, 400), min_size=2, max_size=4),
    weights=st.lists(st.floats(0.01, 1), min_size=4, max_size=4),
    guarded=st.booleans(),
)
def test_the_expected_objective_is_the_weighted_one(sizes, weights, guarded):
    """Of losses L_t, the mean over steps of scale times loss is Σ ω_t L_t, guarded or not."""
    sizes = {f"task {number}": size for number, size in enumerate(sizes)}
    known = dict(zip(sizes, weights, strict=False))
    shares = {name: weight / sum(known.values()) for name, weight in known.items()}
    losses = {name: 1.0 + number for number, name in enumerate(sizes)}
    plan = schedule(guarded=guarded, sizes=sizes)
    by_weight = guarded and of_steps(plan, shares, step=0) is not None
    if by_weight:  # a step is on task t with probability ω_t
        chances = {(name, min(size, 10)): shares[name] for name, size in sizes.items()}
    else:  # every batch comes once an epoch
        steps = plan.steps(0, 0, plan.length, shares=shares)
        pairs = [(step.task, step.size) for step in steps]
        chances = {pair: pairs.count(pair) / len(pairs) for pair in pairs}
    expected = sum(
        chance * plan.scale(task, examples, shares=shares) * losses[task]
        for (task, examples), chance in chances.items()
    )
    assert expected == pytest.approx(sum(shares[name] * losses[name] for name in sizes))


def test_guarded_steps_are_drawn_as_often_as_tasks_count():
    steps = schedule().steps(0, 0, 4000, shares=HEAVY)
    share = sum(step.task == "goal" for step in steps) / len(steps)
    assert share == pytest.approx(0.3, abs=4 * math.sqrt(0.3 * 0.7 / 4000))


def test_what_is_done_is_said():
    assert of_steps(schedule(), HEAVY, step=20) == (
        "'goal' is 30% of the objective but 1% of the examples: from step 21 on, while that is "
        "so, tasks are drawn by weight, not by size (`training.guard`)."
    )
    assert of_steps(schedule(guarded=False), HEAVY, step=20) == (
        "'goal' is 30% of the objective but only 1% of the steps, so its loss is scaled by 30: "
        "training is likely to fail, or to fall behind. Set `training.sampling: weight`, which "
        "draws each task in proportion to its weight."
    )


@pytest.mark.parametrize("sampling", ["weight", "mixed"])
def test_steps_that_are_drawn_by_weight_carry_what_they_weigh(sampling):
    assert of_steps(schedule(sampling=sampling), HEAVY, step=0) is None
    assert of_steps(schedule(), LIGHT, step=0) is None


def updates(*losses):
    shares = {"goal": 0.5, "many": 0.5}
    return [
        WeightUpdate(step, shares, {}, target_loss=loss)
        for step, loss in enumerate(losses, start=1)
    ]


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ([1.0, 1.1, 1.0, 0.9, 2.0, 2.1, 2.0, 1.9], True),
        ([1.0, 1.1, 1.0, 2.0, 2.1, 2.0], False),  # too few to know their noise
        ([1.0, 1.1, 1.0, 0.9, 1.2, 1.1, 1.2, 1.1], False),  # less than a quarter
        ([0.2, 2.0, 0.3, 1.5, 3.0, 0.4, 2.6, 1.0], False),  # within the noise
        ([2.0, 2.1, 2.0, 1.9, 1.0, 1.1, 1.0, 0.9], False),
    ],
)
def test_a_target_that_is_unlearned_is_said_where_chance_does_not_explain_it(losses, said, caplog):
    guard = Guard()
    with caplog.at_level(logging.WARNING):
        guard.look_back(updates(*losses))
        guard.look_back(updates(*losses))
    assert caplog.messages == list(guard.said.values())
    assert len(caplog.messages) == said
    if said:
        assert "is 2, after 1 at the first 4" in caplog.messages[0]


def on_dev(right, of=100):
    scores = [1.0] * right + [0.0] * (of - right)
    return {"goal": Predictions([], [], {"accuracy": right / of}, scores)}


@pytest.mark.parametrize(
    ("rights", "said"),
    [([20, 80, 30], True), ([80, 70, 65], False), ([10, 8, 6], False), ([30, 60, 90], False)],
)
def test_a_fall_on_dev_examples_is_said_where_chance_does_not_explain_it(rights, said):
    numbers = np.zeros((4, 3)), np.arange(4) % 2
    guard, tasks = Guard(), {"goal": classification("goal", train=numbers)}
    for step, right in enumerate(rights, start=1):
        state, guard = guard.state_dict(), Guard()
        guard.load_state_dict(state)
        guard.look_at_dev(on_dev(right), tasks, step=10 * step)
    assert bool(guard.said) == said
    if said:
        assert "accuracy was 0.8 after step 20 and is 0.3 after step 30" in guard.said["dev"]


def test_all_presets_but_the_papers_have_the_guard():
    base = {"data": {"kind": "digits"}, "target": "digit"}
    assert parsed(base).training.guard
    assert parsed({**base, "weighting": {"unit": "example"}}).training.guard
    assert not parsed({**base, "weighting": {"preset": "paper"}}).training.guard


def small_digits(**sections):
    """What `examples/digits.yaml` is about, with fewer sources; chance is 10%."""
    config = parsed(
        {
            "data": {"kind": "digits", "target_size": 30},
            "target": "digit",
            "sources": ["parity", "shape", "shuffled"],
            "model": {"kind": "mlp", "widths": [64, 32]},
            "epochs": 3,
            "weighting": sections.pop("weighting"),
            "training": {"learning_rate": 0.01, **sections},
        }
    )
    parts = building.build_parts(config)
    found = train(
        parts.model,
        tasks=parts.tasks,
        target="digit",
        paradigm=parts.paradigm,
        weighting=parts.weighting,
        settings=config.training,
    )
    return 100 * found.scores["digit"]["test"]["accuracy"], found.warnings


@pytest.mark.parametrize("share", [0.3, "learned"])
@pytest.mark.parametrize(("kind", "every"), [*HOW_OFTEN, ("target-aware", 5)])
def test_robust_does_not_collapse_whatever_sampling_and_updates_are(kind, share, every):
    """Within 5 points of sampling by weight (82 to 86%), where `paper` ends at 26 to 39%."""
    weighting = {"kind": kind, "target_share": share}
    by_weight, nothing = small_digits(weighting=weighting, sampling="weight", update_every=every)
    by_size, [said] = small_digits(weighting=weighting, sampling="size", update_every=every)
    assert by_weight > 65
    assert by_size > by_weight - 5
    assert nothing == []
    assert "drawn by weight" in said


@pytest.mark.parametrize(("kind", "every"), HOW_OFTEN)
def test_paper_collapses_and_says_so(kind, every):
    weighting = {"kind": kind, "preset": "paper", "target_share": "learned"}
    score, [said, *_] = small_digits(weighting=weighting, update_every=every)
    assert score < 50
    assert "training is likely to fail" in said


def noisy_and_near():
    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(1220, 4))
    labels = inputs[:, :3].argmax(1)
    return [
        classification("near", train=(inputs[:1200], labels[:1200])),
        classification("goal", train=(inputs[1200:], labels[1200:]), test=(inputs, labels)),
    ]


def learned(tasks, **given):
    """Starts by size, with a target whose share grows until the guard draws by weight."""
    weighting = TargetAware(
        sources=["near"],
        target="goal",
        target_share="learned",
        initial="proportional",
        sizes={task.name: len(task.train) for task in tasks},
        rule=UpdateRule.paper(scale=3.0),
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), tasks, width=8)
    return train(
        model,
        tasks=tasks,
        target="goal",
        paradigm=JointTraining(epochs=1),
        weighting=weighting,
        settings=Settings(batch_size=10, update_every=5),
        **given,
    )


class Kept:
    """A checkpoint in memory, written after every step."""

    def __init__(self):
        self.state = None

    def load(self):
        return self.state

    def due(self):
        return True

    def save(self, state):
        self.state = state


def test_a_guarded_run_that_is_stopped_goes_on_exactly(caplog):
    tasks = noisy_and_near()
    whole = learned(tasks)
    [said] = whole.warnings
    assert "from step " in said
    assert "from step 1 " not in said
    kept, steps = Kept(), iter(range(33))
    with pytest.raises(Interrupted):
        learned(tasks, checkpoint=kept, should_stop=lambda: next(steps, None) is None)
    resumed = learned(tasks, checkpoint=kept)
    assert resumed.history == whole.history
    assert resumed.scores == whole.scores
    assert resumed.warnings == whole.warnings


@pytest.mark.parametrize(
    ("changes", "needed"),
    [
        ({"target_from": "halves in turn"}, 4),
        ({}, 2),
        ({"rule": UpdateRule.bounded()}, 1),
        ({"rule": UpdateRule.paper()}, 1),
    ],
)
def test_steps_that_end_before_weights_can_move_are_said(changes, needed):
    """As many updates as it takes until they do."""
    changes = dict(changes)
    weighting = {"rule": changes.pop("rule", None)}
    remarks = remarks_of(weighting, steps=10 * needed - 1, **changes)
    assert remarks_of(weighting, steps=10 * needed, **changes) == []
    [said] = remarks
    assert f"there are {10 * needed - 1} steps on the sources" in said
    assert f"weights move after {10 * needed} at the earliest" in said
    assert "Set `training.update_every` to 2, or train longer." in said


def test_updates_that_grow_rarer_and_those_of_an_epoch_are_counted_as_they_come():
    growing = remarks_of({}, steps=39, update_growth=1.0)
    assert "after 20 at the earliest" not in str(growing)
    assert "after 80 at the earliest" in str(
        remarks_of({}, steps=79, update_growth=1.0, target_from="halves in turn")
    )
    assert "after 40 at the earliest" in str(remarks_of({}, steps=20, update_every=None))


HALVES = {"target_from": "halves in turn"}


@pytest.mark.parametrize(
    ("examples", "steps", "changes", "said"),
    [
        (12, 80, HALVES, None),
        (12, 79, HALVES, "there will be 7 updates of the weights, and it takes 8"),
        (11, 200, HALVES, "the target has 11 examples to measure by, and it takes 12"),
        (3, 200, HALVES, "the target has 3 examples to measure by, and it takes 12"),
        (11, 79, {}, "updates see all of the target's examples at once"),
        (11, 79, {"rule": UpdateRule.bounded()}, None),
        (12, 200, {"measure": "training steps"}, "whether a source helps is not said"),
        (3, 79, HALVES | {"rule": UpdateRule.paper()}, None),
    ],
)
def test_it_is_said_beforehand_where_nothing_will_be_said_of_sources(
    examples, steps, changes, said
):
    changes = dict(changes)
    weighting = {"sources": ["many", "few"], "rule": changes.pop("rule", None)}
    remarks = remarks_of(weighting, steps=steps, examples=examples, **changes)
    assert len(remarks) == (said is not None)
    assert said is None or said in remarks[0]


def remarks_of(weighting, *, steps, examples=10, **changes):
    numbers = np.zeros((examples, 3)), np.arange(examples) % 2
    names = ["many", "few", "goal"]
    tasks = [classification(name, train=numbers, test=numbers) for name in names]
    settings = Settings(
        **{"batch_size": 1, "steps": steps, "update_every": 10, "sampling": "weight"} | changes
    )
    roles = {"sources": ["many"], "target": "goal", "target_share": 0.5}
    found = TargetAware(**roles | weighting)
    material = Material(tasks, {"goal": 1.0}, found, settings, seed=0)
    return material.remarks(JointTraining(epochs=1).phases())
