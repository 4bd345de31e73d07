"""What the guard sees and says, what the schedule does about it, and what training comes to."""

import logging
import math
from collections import Counter
from itertools import pairwise

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
from tawt.training import JointTraining, PreTraining, Settings, SingleTask, train
from tawt.training.beyond import of_passes, of_size, of_steps
from tawt.training.guard import Guard
from tawt.training.material import Material
from tawt.training.remarks import Remarks
from tawt.training.result import Predictions
from tawt.training.schedule import Schedule
from tawt.weighting import Fixed
from tawt.weights import SourceWeights, WeightUpdate

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
        guard.look_back(updates(*losses), [])
        guard.look_back(updates(*losses), [])
    assert caplog.messages == list(guard.said.values())
    assert len(caplog.messages) == said
    if said:
        assert "is 2, after 1 at the first 4" in caplog.messages[0]


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ([2.0], False),
        ([2.0, 1.0, 1.5], False),
        ([2.0, 3.9], False),
        ([2.0, 4.1], True),
        ([2.0, math.inf], True),
        ([2.0, math.nan], True),
    ],
)
def test_a_loss_that_grows_is_said_where_there_is_nothing_else_to_look_at(losses, said):
    guard = Guard()
    for count in range(1, len(losses) + 1):
        guard.look_back([], losses[:count])
    assert bool(guard.said) == said
    if said:
        assert f"the loss of epoch 2 is {losses[1]:.3g}, after 2 in the first" in guard.said["loss"]
    guard = Guard()
    guard.look_back(updates(1.0), losses)  # weights that move change the loss
    assert not guard.said


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
    return Remarks(material, settings).on(JointTraining(epochs=1).phases())


# Weights that ask for the same few examples again and again


FEW = {"few": 8, "many": 3992}


def repeating(*, sizes=FEW, guarded=True, sampling="weight", **given):
    often = dict.fromkeys(sizes, 100.0)
    return Schedule(
        sizes,
        batch_size=10,
        sampling=sampling,
        seed=0,
        phase="x",
        epochs=2,
        too_often=often,
        guarded=guarded,
        **given,
    )


def taken_by(plan, shares, *, stops=()):
    """How many examples of each task all steps have; those after a stop are planned anew."""
    counts = Counter()
    for epoch in range(plan.epochs):
        edges = [0, *stops, plan.length]
        for first, last in pairwise(edges):
            for step in plan.steps(epoch, first, last, shares=shares, taken=counts):
                counts.update({task: len(found) for task, found in step.examples.items()})
    return counts


@pytest.mark.parametrize("sampling", ["weight", "mixed"])
def test_a_source_that_would_be_passed_over_too_often_is_held(sampling):
    shares = {"few": 0.35, "many": 0.65}
    counts = taken_by(repeating(sampling=sampling), shares)
    assert 0.95 * 800 < counts["few"] <= 800
    free = taken_by(repeating(sampling=sampling, guarded=False), shares)
    assert free["few"] > 2000
    assert taken_by(repeating(sampling=sampling), shares, stops=(50, 300)) == counts


@pytest.mark.parametrize("sampling", ["weight", "mixed"])
def test_other_steps_are_as_without_the_guard(sampling):
    shares = {"few": 0.05, "many": 0.95}
    plans = [repeating(sampling=sampling, guarded=guarded) for guarded in (True, False)]
    for one, other in zip(*(plan.steps(0, 0, 400, shares=shares) for plan in plans), strict=True):
        assert one.shares is None
        assert one.task == other.task
        for task, found in one.examples.items():
            np.testing.assert_array_equal(found, other.examples[task])


def test_steps_drawn_by_weight_by_the_guard_are_held_too():
    counts = taken_by(repeating(sampling="size"), {"few": 0.35, "many": 0.65})
    assert 0.95 * 800 < counts["few"] <= 800


def test_targets_and_sources_of_no_weight_are_not_limited():
    numbers = np.zeros((8, 3)), np.arange(8) % 2
    many = np.zeros((392, 3)), np.arange(392) % 2
    tasks = [
        classification("few", train=numbers),
        classification("none", train=numbers),
        classification("many", train=many),
        classification("goal", train=numbers, test=numbers),
    ]
    weighting = Fixed(["few", "none", "many", "goal"], initial=dict(zip(
        ["few", "none", "many", "goal"], [0.3, 0.0, 0.3, 0.4], strict=True)))  # fmt: skip
    [phase] = JointTraining(epochs=1).phases()

    def often(**given):
        settings = Settings(sampling="weight", batch_size=8, steps=500, **given)
        return Material(tasks, {"goal": 1.0}, weighting, settings, seed=0).schedule(phase).too_often

    assert often() == {"few": 100.0, "many": 100.0}
    assert often(most_passes=300) == {}


def test_what_is_repeated_is_said():
    said = of_passes(repeating(), {"few": 0.35, "many": 0.65}, {"few": 40}, left=800, step=20)
    assert said == (
        "'few' (8 examples) has 35% of the weight: it would be passed over 285 times, all sources "
        "together 1.9 times. From step 21 on it is drawn less often, for 100 passes in all "
        "(`training.guard`; `training.most_passes` sets another limit)."
    )
    free = repeating(guarded=False)
    said = of_passes(free, {"few": 0.35, "many": 0.65}, {}, left=800, step=0)
    assert "It is learned by heart then; `training.most_passes` sets a limit." in said
    assert of_passes(repeating(), {"few": 0.05, "many": 0.95}, {}, left=800, step=0) is None


@pytest.mark.parametrize(
    ("weights", "worth"),
    [({"few": 0.5, "many": 0.5}, 32), ({"few": 0.3, "many": 0.7}, 88), ({"many": 1.0}, None)],
)
def test_weights_that_are_worth_few_examples_are_said(weights, worth):
    sizes = {name: FEW[name] for name in weights}
    plan = repeating(sizes=sizes)
    said = of_size(plan, SourceWeights.of(weights), left=800)
    if worth is None:
        assert said is None
        return
    assert f"sources are worth {worth} of their 4,000 examples" in said
    assert of_size(plan, SourceWeights.proportional(sizes), left=800) is None
    assert of_size(plan, SourceWeights.of(weights), left=worth // 2) is None  # none comes twice


def clustered(size, *, seed):
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(size, 4))
    return inputs, inputs[:, :3].argmax(1)


@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("kind", ["target-aware", "fixed"])
@pytest.mark.parametrize("paradigm", [JointTraining(epochs=6), PreTraining(epochs=6)])
def test_a_source_of_eight_examples_is_not_passed_over_hundreds_of_times(paradigm, kind, guard):
    tasks = [
        classification("few", train=clustered(8, seed=0)),
        classification("many", train=clustered(3992, seed=1)),
        classification("goal", train=clustered(30, seed=2), test=clustered(200, seed=3)),
    ]
    joint = isinstance(paradigm, JointTraining)
    names = ["few", "many", *(["goal"] if joint else [])]
    weighting = (
        Fixed(names)
        if kind == "fixed"
        else TargetAware(sources=names[:2], target="goal", target_share=0.3 if joint else None)
    )
    result = train(
        small_model(tasks),
        tasks=tasks,
        target="goal",
        paradigm=paradigm,
        weighting=weighting,
        settings=Settings(sampling="weight", learning_rate=0.01, update_every=50, guard=guard),
    )
    [said] = result.warnings
    assert "'few' (8 examples) has " in said
    if guard:
        assert result.passes["few"] <= 101
    elif kind == "fixed":
        assert result.passes["few"] > 200
    assert ("drawn less often" in said) == guard


# Training that fails


def small_model(tasks, *, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), tasks, width=8)


def failing_tasks(*, dev=True):
    near, far, goal = (clustered(size, seed=seed) for seed, size in enumerate((300, 300, 200)))
    held = clustered(200, seed=9)
    return [
        classification("near", train=near),
        classification("far", train=(far[0], np.random.default_rng(0).permutation(far[1]))),
        classification("goal", train=goal, dev=held if dev else None, test=held),
    ]


def taught(tasks):
    """A model that knows the target well."""
    model = small_model(tasks)
    train(
        model,
        tasks=tasks,
        target="goal",
        paradigm=SingleTask(epochs=40),
        settings=Settings(learning_rate=0.01),
    )
    return model


def went_on(tasks, model, paradigm, *, rate=1000.0, kind="fixed", **given):
    """Trained at a rate at which nothing is left of what was known."""
    joint = isinstance(paradigm, JointTraining)
    names = ["near", "far", *(["goal"] if joint else [])]
    weighting = (
        Fixed(names)
        if kind == "fixed"
        else TargetAware(sources=names[:2], target="goal", target_share=0.3 if joint else None)
    )
    settings = Settings(
        **{"sampling": "weight", "learning_rate": rate, "clip_norm": None, "update_every": 10}
        | {name: given.pop(name) for name in ("guard", "select") if name in given}
    )
    return train(
        model,
        tasks=tasks,
        target="goal",
        paradigm=paradigm,
        weighting=weighting,
        settings=settings,
        **given,
    )


@pytest.mark.parametrize("kind", ["fixed", "target-aware"])
@pytest.mark.parametrize("dev", [True, False])
def test_a_joint_run_that_forgets_the_target_ends_as_it_began(dev, kind):
    tasks = failing_tasks(dev=dev)
    model = taught(tasks)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    result = went_on(tasks, model, JointTraining(epochs=3), kind=kind)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert result.best_epoch is None
    assert result.scores["goal"]["test"]["accuracy"] > 0.8
    [said] = result.warnings
    assert said.startswith("on dev examples of 'goal', accuracy was " if dev else "to know its")
    assert " at the start" in said
    assert said.endswith("The model was put back as it was at the start (`training.guard`).")


@pytest.mark.parametrize("given", [{"guard": False}, {"select": "last"}])
def test_without_the_guard_it_is_said_alone(given):
    """`paper` has none: its numbers are those of the authors' program."""
    tasks = failing_tasks()
    result = went_on(tasks, taught(tasks), JointTraining(epochs=3), **given)
    assert result.best_epoch is not None
    assert result.scores["goal"]["test"]["accuracy"] < 0.7
    [said] = result.warnings
    assert "put back as it was at the start" not in said


@pytest.mark.parametrize("guard", [True, False])
def test_a_representation_that_says_nothing_any_more_is_put_back_before_fine_tuning(guard):
    tasks = failing_tasks()
    paradigm = PreTraining(epochs=2, fine_tune_epochs=4, fine_tune_learning_rate=0.01)
    result = went_on(tasks, taught(tasks), paradigm, guard=guard)
    accuracy = result.scores["goal"]["test"]["accuracy"]
    assert (accuracy > 0.8) if guard else (accuracy < 0.7)
    [said] = result.warnings
    assert said.startswith("to know its vector took ")
    assert ("The model was put back as it was at the start" in said) == guard


def test_an_epoch_that_was_better_is_what_a_run_that_collapses_ends_with():
    """The rate rises to what destroys all: the first epochs are the best."""
    tasks = failing_tasks()
    model = small_model(tasks)
    result = train(
        model,
        tasks=tasks,
        target="goal",
        paradigm=JointTraining(epochs=12),
        weighting=Fixed(["near", "goal"]),
        settings=Settings(
            sampling="weight", learning_rate=30.0, clip_norm=None, warmup=0.99, decay="none"
        ),
    )
    scores = [entry["dev"]["goal"]["accuracy"] for entry in result.epochs]
    assert result.best_epoch == int(np.argmax(scores))
    assert scores[-1] < 0.7 * max(scores)
    assert result.scores["goal"]["dev"]["accuracy"] == max(scores)
    [said] = result.warnings
    assert said.endswith("The best epoch's model was put back (`training.select`).")


@pytest.mark.parametrize("paradigm", [JointTraining(epochs=3), PreTraining(epochs=3)])
def test_a_failing_run_that_is_stopped_goes_on_exactly(paradigm):
    tasks = failing_tasks()
    whole = went_on(tasks, taught(tasks), paradigm)
    kept, steps = Kept(), iter(range(30))
    with pytest.raises(Interrupted):
        went_on(tasks, taught(tasks), paradigm, checkpoint=kept,
                should_stop=lambda: next(steps, None) is None)  # fmt: skip
    resumed = went_on(tasks, small_model(tasks, seed=1), paradigm, checkpoint=kept)
    assert resumed.scores == whole.scores
    assert resumed.warnings == whole.warnings
    assert resumed.best_epoch == whole.best_epoch


@pytest.mark.parametrize("rate", [0.001, 0.01])
@pytest.mark.parametrize("dev", [True, False])
@pytest.mark.parametrize("kind", ["fixed", "target-aware"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("paradigm", [JointTraining(epochs=2), PreTraining(epochs=2)])
def test_nothing_is_said_of_runs_that_are_fine(paradigm, known, kind, dev, rate):
    tasks = failing_tasks(dev=dev)
    model = taught(tasks) if known else small_model(tasks)
    assert went_on(tasks, model, paradigm, rate=rate, kind=kind).warnings == []
