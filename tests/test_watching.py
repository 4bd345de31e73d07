"""The loop learns weights from the gradients of its own steps."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tawt.arrays import MLP, classification
from tawt.curvature import Identity
from tawt.errors import ConfigError, Interrupted, WeightsError
from tawt.hypergradient import Cosine, CurvatureWeighted
from tawt.tasks import MultiTaskModel
from tawt.training import JointTraining, PreTraining, Settings, train
from tawt.training.checkpoints import read, to_bytes
from tawt.training.fresh import FreshLosses
from tawt.training.schedule import Schedule
from tawt.weighting import Fixed, TargetAware, UpdateRule
from tawt.weighting.observing import Observer

STEPS = {"measure": "training steps", "batch_size": 8, "learning_rate": 0.01}


def rows(seed, size, *, noise=False):
    """Four features; the label says which of the first three is largest, or nothing."""
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(size, 4))
    return inputs, draw.integers(0, 3, size) if noise else inputs[:, :3].argmax(1)


def tasks_of(size=160):
    return [
        classification("near", train=rows(1, size)),
        classification("far", train=rows(2, size, noise=True)),
        classification("goal", train=rows(3, 64), dev=rows(4, 15), test=rows(5, 15)),
    ]


def weighting(*, joint, scale=1.0, **options):
    rule = options.pop("rule", UpdateRule(alignment=Cosine(scale=scale)))
    share = 0.3 if joint else None
    return TargetAware(sources=["near", "far"], target="goal", target_share=share, rule=rule)


def trained(weights, *, paradigm, dropout=0.0, size=160, settings=None, **options):
    tasks = tasks_of(size)
    torch.manual_seed(0)
    model = MultiTaskModel.for_tasks(MLP((4,), widths=(8,), dropout=dropout), tasks, width=8)
    result = train(
        model,
        tasks=tasks,
        target="goal",
        paradigm=paradigm,
        weighting=weights,
        settings=Settings(**STEPS | (settings or {})),
        **options,
    )
    return model, result


PARADIGMS = {
    "joint": JointTraining(epochs=4),
    "pre-training": PreTraining(epochs=4, fine_tune_epochs=1),
}


@pytest.fixture
def asked(monkeypatch):
    """Tasks that a fresh batch was drawn of, in order."""
    found = []
    counted = FreshLosses.counted

    def noting(self, task):
        found.append(task)
        return counted(self, task)

    monkeypatch.setattr(FreshLosses, "counted", noting)
    return found


@pytest.mark.parametrize("sampling", ["size", "weight"])
@pytest.mark.parametrize("accumulation", [1, 2])
@pytest.mark.parametrize("name", list(PARADIGMS))
def test_the_source_that_helps_is_found(name, accumulation, sampling):
    joint = name == "joint"
    settings = {"update_every": 10, "accumulation": accumulation, "sampling": sampling}
    paradigm = replace(PARADIGMS[name], epochs=8)
    settings["head_epochs"] = (
        5  # a head that knows little finds noise more agreeable, watched or not
    )
    _, result = trained(weighting(joint=joint), paradigm=paradigm, settings=settings)
    assert result.weights["near"] > result.weights["far"]
    assert all(update.skipped is None for update in result.history)
    last = result.history[-1].alignments
    assert last["near"] > last["far"]


def test_joint_training_takes_no_fresh_batch_at_all(asked):
    trained(weighting(joint=True), paradigm=PARADIGMS["joint"], settings={"update_every": 10})
    assert asked == []


def test_pre_training_measures_the_sources_once_and_then_the_target_alone(asked):
    """The first update has nothing to go by: the target's head knew nothing before it."""
    settings = {"update_every": 10}
    _, result = trained(
        weighting(joint=False), paradigm=PARADIGMS["pre-training"], settings=settings
    )
    assert asked[:3] == ["goal", "near", "far"]
    steps = 4 * 40
    aims = len(range(15, steps + 1, 5)) + 1  # from the tenth step on
    assert asked[3:] == ["goal"] * aims
    assert len(result.history) == 16


@pytest.mark.parametrize("name", list(PARADIGMS))
def test_watching_changes_no_step(name):
    """With weights that all but stand still, parameters are those of fixed weights."""
    joint = name == "joint"
    shares = {"near": 0.35, "far": 0.35, "goal": 0.3} if joint else {"near": 0.5, "far": 0.5}
    plain, _ = trained(Fixed(list(shares), initial=shares), paradigm=PARADIGMS[name])
    watched, result = trained(weighting(joint=joint, scale=1e-300), paradigm=PARADIGMS[name])
    assert result.weights == pytest.approx(shares)
    for key, value in plain.state_dict().items():
        assert torch.equal(value, watched.state_dict()[key]), key


def test_products_are_those_of_the_gradients_of_the_steps(monkeypatch):
    """By hand: the cosine of each step's gradient with that of the last step on the target."""
    shown, by_hand = [], []
    note, compared = Observer.note, Observer.compared
    last = []

    def noting(self, shares, numbers, **options):
        shown.append((dict(shares), numbers.tolist()))
        return note(self, shares, numbers, **options)

    def comparing(self, parameters, *, renews):
        gradient = torch.cat([p.grad.detach().flatten() for p in parameters]).double()
        held = last[-1] if last else torch.zeros_like(gradient)
        by_hand.append([float(held @ gradient), float(gradient @ gradient), float(held @ held)])
        if renews:
            last.append(gradient.clone())
        return compared(self, parameters, renews=renews)

    monkeypatch.setattr(Observer, "note", noting)
    monkeypatch.setattr(Observer, "compared", comparing)
    trained(weighting(joint=True), paradigm=JointTraining(epochs=1), settings={"update_every": 10})
    assert len(shown) == len(by_hand) == 48
    assert {name for shares, _ in shown for name in shares} == {"near", "far", "goal"}
    assert len(last) == 8
    for (_, (inner, squared, held)), wanted in zip(shown, by_hand, strict=True):
        # As if each loss had not been scaled by its weight.
        scale = math.sqrt(wanted[1] / squared)
        assert (inner * scale, held) == pytest.approx((wanted[0], wanted[2]), rel=1e-4, abs=1e-9)


def test_heads_fitted_between_two_batches_of_a_step_change_nothing(monkeypatch):
    """An update falls due in the middle of an accumulation; the step is still on both tasks."""
    shown = []
    note = Observer.note

    def noting(self, shares, numbers, **options):
        shown.append(dict(shares))
        return note(self, shares, numbers, **options)

    monkeypatch.setattr(Observer, "note", noting)
    settings = {"update_every": 3, "accumulation": 2, "sampling": "size"}
    trained(weighting(joint=False), paradigm=PreTraining(epochs=1), settings=settings)
    assert len(shown) == 20
    assert any(len(shares) == 2 for shares in shown)
    assert all(sum(shares.values()) == pytest.approx(1.0) for shares in shown)


class Kept:
    """State through the bytes of a real checkpoint."""

    def __init__(self, path):
        self.path = path

    def load(self):
        return read(self.path) if self.path.exists() else None

    def due(self):
        return False

    def save(self, state):
        self.path.write_bytes(to_bytes(state))


@pytest.mark.parametrize("sampling", ["size", "weight"])
@pytest.mark.parametrize("name", list(PARADIGMS))
def test_a_stopped_run_goes_on_to_the_same_bits(name, sampling, tmp_path):
    paradigm = {
        "joint": JointTraining(epochs=2),
        "pre-training": PreTraining(epochs=2, fine_tune_epochs=1),
    }

    def once(**options):
        return trained(
            weighting(joint=name == "joint"),
            paradigm=paradigm[name],
            size=40,
            dropout=0.3,
            settings={"update_every": 4, "sampling": sampling},
            **options,
        )

    asked = itertools.count(0)
    whole = once(should_stop=lambda: next(asked) < 0)
    for stop in range(1, next(asked) + 1):
        kept = Kept(tmp_path / f"{stop}.safetensors")
        asked = itertools.count(1)
        with pytest.raises(Interrupted):
            once(checkpoint=kept, should_stop=lambda: next(asked) == stop)  # noqa: B023
        again = once(checkpoint=kept)
        assert again[1] == whole[1], f"stopped after step {stop}"
        for key, value in whole[0].state_dict().items():
            assert torch.equal(value, again[0].state_dict()[key]), key


def test_explored_steps_keep_every_task_in_sight_and_the_objective_as_it_is():
    """Σ p_t · scale_t · L_t is Σ ω_t L_t, and a task of no weight still comes now and then."""
    sizes = {"a": 80, "b": 80, "c": 80}
    shares = {"a": 0.7, "b": 0.3, "c": 0.0}
    schedule = Schedule(sizes, batch_size=8, sampling="weight", seed=0, phase="x", explored=0.3)
    drawn = [step.task for step in schedule.steps(0, 0, 3000, shares=shares)]
    for name in sizes:
        chance = 0.7 * shares[name] + 0.1
        spread = 4 * math.sqrt(chance * (1 - chance) / 3000)
        assert drawn.count(name) / 3000 == pytest.approx(chance, abs=spread)
        scaled = chance * schedule.scale(name, 8, shares=shares)
        assert scaled == pytest.approx(shares[name], abs=1e-4)
    assert Schedule(sizes, batch_size=8, sampling="weight", seed=0, phase="x").scale(
        "a", 8, shares=shares
    ) == pytest.approx(1.0)


def test_batches_of_one_step_are_of_one_task_where_steps_are_watched():
    sizes, shares = {"a": 80, "b": 80, "c": 80}, {"a": 0.4, "b": 0.3, "c": 0.3}
    schedule = Schedule(sizes, batch_size=8, sampling="weight", seed=0, phase="x", hold=4)
    drawn = [s.task for epoch in range(3) for s in schedule.steps(epoch, 0, 30, shares=shares)]
    groups = [set(drawn[start : start + 4]) for start in range(0, 90, 4)]
    assert all(len(group) == 1 for group in groups)
    assert len(set().union(*groups)) == 3


def test_what_steps_do_not_show_is_refused_before_the_first_of_them():
    curved = UpdateRule(alignment=CurvatureWeighted(Identity()))
    with pytest.raises(WeightsError, match="fresh batches"):
        trained(weighting(joint=True, rule=curved), paradigm=PARADIGMS["joint"])
    with pytest.raises(ConfigError, match="measure"):
        Settings(measure="dreams")
