"""What the guard says, when, and what the presets do about it."""

import logging

import numpy as np
import pytest

from tawt import TargetAware, UpdateRule
from tawt.arrays import MLP, classification
from tawt.config import parsed
from tawt.tasks import MultiTaskModel
from tawt.training import JointTraining, Settings, train
from tawt.training.guard import Guard, effective_steps
from tawt.training.material import Material
from tawt.training.schedule import Schedule
from tawt.weights import WeightUpdate

SIZES = {"goal": 20, "many": 1980}


def schedule(*, most_scaled=None, sampling="size"):
    return Schedule(
        SIZES, batch_size=10, sampling=sampling, seed=0, phase="x", most_scaled=most_scaled
    )


def updates(*losses):
    shares = {"goal": 0.5, "many": 0.5}
    return [
        WeightUpdate(step, shares, {}, target_loss=loss)
        for step, loss in enumerate(losses, start=1)
    ]


def test_effective_steps_are_those_of_the_steps_losses():
    """Kish's formula on the factor of every step of an epoch."""
    shares = {"goal": 0.4, "many": 0.6}
    plan = schedule()
    steps = plan.steps(0, 0, plan.length, shares=shares)
    factors = [plan.scale(step.task, step.size, shares=shares) for step in steps]
    expected = sum(factors) ** 2 / sum(factor**2 for factor in factors) / len(factors)
    assert effective_steps(plan, shares) == pytest.approx(expected)


def test_few_steps_that_carry_everything_are_named_once(caplog):
    guard = Guard()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            guard.look(schedule(), {"goal": 0.99, "many": 0.01}, updates(1.0))
    [said] = guard.said.values()
    assert "'goal'" in said
    assert "1.0% of the steps" in said
    assert "scaled by 99" in said
    assert caplog.messages == [said]


@pytest.mark.parametrize("sampling", ["weight", "mixed"])
def test_steps_that_are_drawn_by_weight_carry_what_they_weigh(sampling):
    guard = Guard()
    guard.look(schedule(sampling=sampling), {"goal": 0.99, "many": 0.01}, updates(1.0))
    assert not guard.said


def test_no_loss_is_scaled_by_more_than_the_limit():
    shares = {"goal": 0.99, "many": 0.01}
    assert schedule().scale("goal", 10, shares=shares) == pytest.approx(99)
    assert schedule(most_scaled=10).scale("goal", 10, shares=shares) == 10
    assert schedule(most_scaled=10).scale("many", 10, shares=shares) == pytest.approx(0.01 / 0.99)


def test_a_target_that_is_unlearned_is_said(caplog):
    guard = Guard()
    guard.look(schedule(), {"goal": 0.1, "many": 0.9}, updates(1.0, 1.0, 1.0, 0.9, 1.2, 1.2))
    assert not guard.said
    with caplog.at_level(logging.WARNING):
        guard.look(schedule(), {"goal": 0.1, "many": 0.9}, updates(1, 1, 1, 2, 2, 2))
    assert "from 1 to 2" in guard.said["target"]


def test_the_presets_limit_what_a_step_counts_and_the_paper_does_not():
    base = {"data": {"kind": "digits"}, "target": "digit"}
    assert parsed(base).training.most_scaled == 10
    assert parsed({**base, "weighting": {"unit": "example"}}).training.most_scaled == 10
    assert parsed({**base, "weighting": {"preset": "paper"}}).training.most_scaled is None


def test_a_run_of_the_paper_that_collapses_says_so(caplog):
    """Its target's share only grows, and each update makes its few steps count more."""
    draw = np.random.default_rng(0)
    inputs = draw.normal(size=(1220, 4))
    labels = inputs[:, :3].argmax(1)
    tasks = [
        classification("near", train=(inputs[:1200], labels[:1200])),
        classification("goal", train=(inputs[1200:], labels[1200:]), test=(inputs, labels)),
    ]
    model = MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), tasks, width=8)
    weighting = TargetAware(
        sources=["near"], target="goal", target_share="learned", rule=UpdateRule.paper(scale=10.0)
    )
    with caplog.at_level(logging.WARNING):
        found = train(
            model,
            tasks=tasks,
            target="goal",
            paradigm=JointTraining(epochs=1),
            weighting=weighting,
            settings=Settings(batch_size=10, update_every=5),
        )
    assert found.warnings == [message for message in caplog.messages if "objective" in message]
    assert len(found.warnings) == 1


@pytest.mark.parametrize(("steps", "said"), [(19, True), (20, False)])
def test_steps_that_end_before_weights_can_move_are_said(steps, said):
    weighting = TargetAware(sources=["many"], target="goal", target_share=0.5)
    numbers = np.zeros((10, 3)), np.arange(10) % 2
    tasks = [classification(name, train=numbers, test=numbers) for name in SIZES]
    settings = Settings(
        batch_size=1, steps=steps, update_every=10, sampling="weight", target_from="halves in turn"
    )
    material = Material(tasks, {"goal": 1.0}, weighting, settings, seed=0)
    remarks = material.remarks(JointTraining(epochs=1).phases())
    assert bool(remarks) == said
    if said:
        assert f"there are {steps} steps on the sources" in remarks[0]
        assert "weights move after 20 at the earliest" in remarks[0]
        assert "Set `training.update_every` to 2, or train longer." in remarks[0]
