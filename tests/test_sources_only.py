"""Training on the sources alone, for a number of steps and of passes."""

from collections import Counter
from functools import partialmethod

import numpy as np
import pytest
import torch
from torch import nn

from tawt.errors import ConfigError, Interrupted
from tawt.training import PreTraining, Settings, SourcesOnly, train
from tawt.training.checkpoints import read, to_bytes
from tawt.training.schedule import Schedule
from tawt.weighting import Fixed, TargetAware, UpdateRule
from tests.guesses import Guess, model, tasks


def settings(**changes):
    usual = {"sampling": "weight", "batch_size": 8, "learning_rate": 0.1, "update_every": 5}
    return Settings(**{**usual, "gradient_examples": 8, "steps": 60, **changes})


PARADIGM = SourcesOnly(epochs=3)


def trained(weighting, paradigm=PARADIGM, **changes):
    made = model()
    found = train(
        made,
        tasks=tasks(),
        target="goal",
        paradigm=paradigm,
        weighting=weighting,
        settings=settings(**changes),
        seed=1,
    )
    return made, found


def learned():
    return TargetAware(
        sources=["near", "far"], target="goal", target_share=None, rule=UpdateRule.paper(scale=2.0)
    )


def test_weights_are_learned_though_the_target_has_no_head_of_its_own():
    plain, equal = trained(Fixed(["near", "far"]))
    better, found = trained(learned())
    assert found.weights["near"] > 0.9
    assert abs(better.representation.guess.item() - 3.5) < abs(
        plain.representation.guess.item() - 3.5
    )
    assert found.scores["goal"]["test"]["error"] < equal.scores["goal"]["test"]["error"]
    assert found.passes["goal"] == 0.0


def test_dev_examples_are_scored_after_every_part_and_a_lower_score_is_chosen():
    _, found = trained(learned())
    errors = [epoch["dev"]["goal"]["error"] for epoch in found.epochs]
    assert len(errors) == 3
    assert found.best_epoch == int(np.argmin(errors))
    assert found.scores["goal"]["dev"]["error"] == pytest.approx(min(errors))


def test_steps_take_the_place_of_passes_and_are_divided_into_epochs():
    _, found = trained(Fixed(["near", "far"]))
    assert found.steps == 60
    _, rounded_up = trained(Fixed(["near", "far"]), paradigm=SourcesOnly(epochs=7))
    assert rounded_up.steps == 63
    _, tuned = trained(
        Fixed(["near", "far"]), paradigm=PreTraining(epochs=3, fine_tune_epochs=2), steps=9
    )
    assert tuned.steps == 9 + 2 * 2  # ten examples of the target are two batches of eight
    assert tuned.passes["goal"] == 4 * 8 / 10  # each draws eight of them anew


def test_passes_are_counted():
    _, found = trained(Fixed(["near", "far"]), most_passes=None)
    sizes = {"near": 40, "far": 60}
    assert sum(found.passes[name] * size for name, size in sizes.items()) == 60 * 8


def test_no_example_comes_again_before_all_have_come():
    schedule = Schedule(
        {"a": 16, "b": 12},
        batch_size=4,
        sampling="weight",
        seed=0,
        phase="x",
        most_passes=3,
        steps_per_epoch=18,
    )
    steps = schedule.steps(0, 0, 18, shares={"a": 0.7, "b": 0.3})
    for task, size in schedule.sizes.items():
        seen = np.concatenate([step.indices for step in steps if step.task == task])
        for start in range(0, len(seen) - size + 1, size):
            assert sorted(seen[start : start + size]) == list(range(size))


def test_a_task_that_has_had_its_passes_is_left_out():
    schedule = Schedule(
        {"a": 16, "b": 12}, batch_size=4, sampling="weight", seed=0, phase="x", most_passes=1
    )
    steps = schedule.steps(0, 0, 7, shares={"a": 0.999, "b": 0.001})
    assert Counter(step.task for step in steps) == {"a": 4, "b": 3}


def test_steps_planned_from_the_middle_are_those_planned_at_once():
    schedule = Schedule(
        {"a": 40, "b": 30},
        batch_size=4,
        sampling="weight",
        seed=3,
        phase="x",
        most_passes=2,
        steps_per_epoch=10,
        epochs=3,
    )
    shares = {"a": 0.6, "b": 0.4}
    whole = schedule.steps(0, 0, 30, shares=shares)
    for middle in (1, 11, 29):
        taken = Counter()
        for step in whole[:middle]:
            taken[step.task] += len(step.indices)
        rest = schedule.steps(0, middle, 30, shares=shares, taken=taken)
        for one, other in zip(whole[middle:], rest, strict=True):
            assert one.task == other.task
            np.testing.assert_array_equal(one.indices, other.indices)


class Kept:
    """A checkpoint that is saved when training is stopped."""

    def __init__(self, path):
        self.path = path

    def load(self):
        return read(self.path) if self.path.exists() else None

    def due(self):
        return False

    def save(self, state):
        self.path.write_bytes(to_bytes(state))


@pytest.mark.parametrize("stopped_after", [3, 23, 41])
def test_a_training_that_is_stopped_goes_on_with_the_same_examples(stopped_after, tmp_path):
    def run(checkpoint, should_stop):
        made = model()
        found = train(
            made,
            tasks=tasks(),
            target="goal",
            paradigm=SourcesOnly(epochs=3),
            weighting=learned(),
            settings=settings(most_passes=30),
            seed=1,
            checkpoint=checkpoint,
            should_stop=should_stop,
        )
        return made, found

    whole, wanted = run(None, None)
    kept, asked = Kept(tmp_path / "state.safetensors"), Counter()

    def should_stop():
        asked["times"] += 1
        return asked["times"] == stopped_after

    with pytest.raises(Interrupted):
        run(kept, should_stop)
    resumed, found = run(kept, None)
    assert torch.equal(whole.representation.guess, resumed.representation.guess)
    assert found.weights == wanted.weights
    assert found.passes == wanted.passes


def test_more_steps_than_the_passes_are_enough_for_are_refused():
    with pytest.raises(ConfigError, match="lower `steps` or raise `most_passes`"):
        trained(Fixed(["near", "far"]), most_passes=2, steps=1000)


def test_steps_are_held_against_passes_as_many_as_epochs_of_equal_length_take():
    # A hundred examples in batches of eight: 60 steps fit into 4.8 passes, the 63 of 7 epochs not.
    _, found = trained(Fixed(["near", "far"]), most_passes=4.8)
    assert found.steps == 60
    wanted = r"`steps` \(60, rounded up to 63 for 7 epochs\) of 8 examples need 504"
    with pytest.raises(ConfigError, match=wanted):
        trained(Fixed(["near", "far"]), paradigm=SourcesOnly(epochs=7), most_passes=4.8)


def test_epochs_are_held_against_passes_too():
    # 5 and 8 steps see 40 and 60 examples once: 13 steps an epoch, the last of four.
    with pytest.raises(ConfigError, match=r"`epochs` \(3\), 39 steps .* 300; lower `epochs`"):
        trained(Fixed(["near", "far"]), steps=None, most_passes=3)
    _, found = trained(Fixed(["near", "far"]), steps=None, most_passes=3.1)
    assert found.steps == 39


def test_the_usual_limit_is_none_where_it_leaves_too_few_examples():
    _, held = trained(Fixed(["near", "far"]), most_passes="usual", steps=150)
    assert max(held.passes.values()) <= 12
    _, free = trained(Fixed(["near", "far"]), most_passes="usual", steps=153)
    assert max(free.passes.values()) > 12


@pytest.mark.parametrize("name", ["steps", "most_passes"])
def test_budgets_need_tasks_that_are_drawn_by_weight(name):
    with pytest.raises(ConfigError, match=f"`{name}` needs `sampling: weight`"):
        Settings(**{name: 10})


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own, when it is imported
def test_a_compiled_representation_learns_the_same(monkeypatch):
    torch.compiler.reset()
    compiled_by_tracing = partialmethod(nn.Module.compile, backend="aot_eager")
    monkeypatch.setattr(Guess, "compile", compiled_by_tracing, raising=False)
    plain, one = trained(learned(), steps=12)
    compiled, other = trained(learned(), steps=12, compile=True)
    torch.testing.assert_close(plain.representation.guess, compiled.representation.guess)
    assert other.weights == pytest.approx(one.weights, abs=1e-5)
