"""The distance by its definition, where it is known in closed form."""

import numpy as np
import pytest
import torch
from torch import nn

from tawt.arrays import classification, regression
from tawt.distance import Distance, Job, Workshop, frozen_risk, interval, task_distance
from tawt.distance.budgets import TrainingBudget
from tawt.distance.items import gathered
from tawt.distance.trained import held_out
from tawt.errors import ConfigError, DataError, WeightsError
from tawt.probes import Probe, Risk
from tawt.tasks import MultiTaskModel
from tawt.training import SourcesOnly
from tests.distance.made import SETTINGS, model_for, task, watched


class Projection(nn.Module):
    """A single direction of the inputs: what a linear teacher of rank one can be learned with."""

    def __init__(self, direction):
        super().__init__()
        self.inner = nn.Linear(len(direction), 1, bias=False)
        self.inner.weight.data[0] = torch.as_tensor(direction, dtype=torch.float32)

    def forward(self, inputs):
        return self.inner(inputs.float())


def teacher(name, angle, *, seed, sizes=(2000, 4000)):
    """y = ⟨u, x⟩ with x standard normal in the plane and u at an angle to the first axis."""
    draw = np.random.default_rng(seed)
    u = np.array([np.cos(angle), np.sin(angle)])
    parts = []
    for size in sizes:
        inputs = draw.normal(size=(size, 2)).astype(np.float32)
        parts.append((inputs, (inputs @ u).astype(np.float32)))
    return regression(name, train=parts[0], test=parts[1])


def student_for(tasks, seed):
    draw = np.random.default_rng(seed)
    return MultiTaskModel(
        Projection(draw.normal(size=2)), {each.name: nn.Linear(1, 1) for each in tasks}
    )


@pytest.mark.parametrize("degrees", [0, 30, 60, 90])
def test_linear_teachers_are_as_far_apart_as_their_angle(degrees):
    """A head on ⟨u_s, x⟩ leaves sin² of the angle of the target's variance unexplained."""
    angle = np.deg2rad(degrees)
    target = teacher("target", 0.0, seed=2)
    workshop = Workshop(
        model_for=student_for,
        tasks={"source": teacher("source", angle, seed=1), "target": target},
        target="target",
        measured={"target": target},
        budget=TrainingBudget(epochs=6, batch=50, sizes=(2000,), target_size=2000),
        settings=SETTINGS,
    )
    source = workshop.done(Job("sources", "source", (("source", 1.0),)))
    own = workshop.done(Job("own", "target"))
    risks, best = ([Risk(**each["risks"]["target"]["risk"])] for each in (source, own))
    found = Distance(risks, best)
    # Squared errors in units of the variance, cut at 4, over 4: the cut matters little here.
    draw = np.random.default_rng(3).normal(size=200_000)
    expected = np.minimum(np.sin(angle) ** 2 * draw**2, 4).mean() / 4
    assert found.clipped[0] == pytest.approx(expected, abs=0.01)
    assert found.zero_one == []


def test_itself_is_near_and_shuffled_labels_are_far():
    sizes = (200, 300)
    tasks = [
        task("same", 1, sizes=sizes),
        task("shuffled", 2, shuffled=True, sizes=sizes),
        task("target", 3, sizes=sizes),
    ]
    told = []
    found = task_distance(
        model_for,
        tasks=tasks,
        target="target",
        epochs=8,
        settings=SETTINGS,
        seeds=[0, 1],
        on_done=lambda done, total: told.append((done, total)),
    )
    distances = found.trained["target"]
    means = {name: np.mean(distance.zero_one) for name, distance in distances.items()}
    assert abs(means["same"]) < 0.08
    assert means["shuffled"] > 0.2
    assert max(means["uniform"], means["learned"]) < means["shuffled"] - 0.2
    assert found.mixtures["learned"]["same"] > 0.6
    assert found.gains["same"].mean > found.gains["shuffled"].mean
    assert found.metric == "accuracy"
    low, high = interval(distances["shuffled"].zero_one)
    assert low < means["shuffled"] < high
    # Nine trainings of each seed, then two sources and two mixtures are estimated.
    assert told == [(done, 22) for done in range(23)]
    assert {"trained", "gains", "tangent"} <= set(found.seconds)


def test_without_training_there_are_estimates_and_rates_only():
    tasks = [task("same", 1), task("shuffled", 2, shuffled=True), task("target", 3)]
    found = task_distance(model_for, tasks=tasks, target="target", training=False)
    assert (found.trained, found.gains, found.terms, found.metric) == ({}, {}, [], None)
    assert set(found.mixtures) == {"uniform"}
    assert set(found.estimates["target"]) == {"same", "shuffled", "uniform"}
    assert found.rates["uniform"].effective_size == pytest.approx(800)
    # The network has 20·16 + 16 + 16·4 + 4 parameters, and each head 4·4 + 4.
    doubt = np.log(20)
    assert found.rates["uniform"].head == pytest.approx(np.sqrt((20 + doubt) / 400))
    assert found.rates["uniform"].fixed == pytest.approx(np.sqrt((404 + 40 + doubt) / 800))


def test_a_matrix_measures_every_task_from_every_other():
    tasks = [task(name, seed, sizes=(30, 30)) for seed, name in enumerate(("a", "b", "goal"))]
    found = task_distance(
        model_for, tasks=tasks, target="goal", epochs=1, seeds=[0], matrix=True, settings=SETTINGS,
        weights={"mostly": {"a": 1.0}},
    )  # fmt: skip
    assert {target: set(distances) for target, distances in found.trained.items()} == {
        "goal": {"a", "b", "uniform", "learned", "mostly"},
        "a": {"b", "goal"},
        "b": {"a", "goal", "mostly"},
    }
    assert {target: set(known) for target, known in found.estimates.items()} == {
        target: set(distances) for target, distances in found.trained.items()
    }
    for target, distances in found.trained.items():
        for distance in distances.values():  # one best for each target, whatever the source
            assert distance.best == next(iter(distances.values())).best, target


def test_half_of_the_target_gives_a_head_of_its_own():
    body = model_for([], 0).representation
    goal = task("goal", 3, sizes=(40, 200))
    found = frozen_risk(body, goal)
    assert found.half != found.risk
    again = frozen_risk(body, goal)
    assert again == found
    one = task("goal", 3, sizes=(1, 5))
    assert frozen_risk(body, one).half == frozen_risk(body, one).risk


def test_half_of_the_target_is_half_of_every_label():
    """Examples often come sorted by their label; the first half would then miss some."""
    body = nn.Linear(3, 3, bias=False)
    body.weight.data = torch.eye(3)
    draw = np.random.default_rng(0)

    def points(size):
        labels = np.sort(draw.integers(0, 3, size))
        return np.eye(3)[labels] * 4 + draw.normal(size=(size, 3)), labels

    found = frozen_risk(body, classification("goal", train=points(300), test=points(300)))
    assert found.risk.zero_one < 0.05
    assert found.half.zero_one < 0.05


def test_losses_are_cut_alike_for_a_half_without_one_of_the_labels():
    draw = np.random.default_rng(0)
    labels = np.array([0, 1] * 10 + [2])
    body = nn.Linear(4, 4)
    halves = []
    for name in ("a", "b", "c", "d"):  # in half of which the last label is in the second half
        part = draw.normal(size=(21, 4)), labels
        goal = watched(classification(name, train=part, test=part))
        found = frozen_risk(body, goal)
        first = torch.tensor(goal.train.asked[:11])
        halves.append(2 in labels[first.numpy()])
        seen = gathered(body, goal.kind, goal.train, device=first.device, positions=first)
        unseen = gathered(body, goal.kind, goal.test, device=first.device)
        assert found.half == Probe.fitted(seen, classes=3).risk(unseen)
    assert set(halves) == {True, False}


def test_test_examples_come_before_dev_examples():
    every = task("goal", 3, sizes=(40, 10, 20))
    assert held_out(every) is every.test
    few = classification("few", train=(np.eye(2), [0, 1]), dev=(np.eye(2), [0, 1]))
    assert held_out(few) is few.dev


def test_only_sources_are_trained_on():
    [phase] = SourcesOnly(epochs=3).phases()
    assert (phase.trains_on, phase.epochs) == ("sources", 3)


def test_what_cannot_be_measured_is_refused():
    bare = classification("bare", train=(np.zeros((4, 2)), np.array([0, 1, 0, 1])))
    with pytest.raises(DataError, match="'bare' has neither dev nor test"):
        frozen_risk(nn.Linear(2, 2), bare)
    tasks = [task("source", 1, sizes=(9, 9)), task("target", 2, sizes=(9, 9))]
    made = []

    def refused(error, match, **given):
        usual = {"tasks": tasks, "target": "target", "epochs": 1, "settings": SETTINGS}
        with pytest.raises(error, match=match):
            task_distance(lambda *_: made.append(1), **{**usual, **given})

    refused(ConfigError, "no source 'target'", weights={"all": {"target": 1.0}})
    refused(ConfigError, "did you mean 'source'", weights={"all": {"sauce": 1.0}})
    refused(WeightsError, "sum to 1", weights={"all": {"source": 0.5}})
    refused(WeightsError, "at least 0", weights={"all": {"source": float("nan")}})
    for name in ("uniform", "learned", "source", "target"):
        refused(ConfigError, f"cannot be called '{name}'", weights={name: {"source": 1.0}})
    refused(ConfigError, "no source whose distance", tasks=tasks[1:])
    refused(DataError, "did you mean 'target'", target="tarket")
    refused(DataError, "'bare' has neither", tasks=[tasks[0], bare], target="bare")
    refused(DataError, "'bare' has neither", tasks=[*tasks, bare], matrix=True)
    assert made == []


@pytest.mark.parametrize("name", ["uniform", "learned"])
@pytest.mark.parametrize("role", ["source", "target"])
def test_no_task_may_have_a_mixtures_name(name, role):
    """Their distances, and the files of their trainings, could not be told apart."""
    others = [task("one", 1, sizes=(9, 9)), task("two", 2, sizes=(9, 9))]
    tasks = [*others, task(name, 3, sizes=(9, 9))]
    target = name if role == "target" else "two"
    with pytest.raises(ConfigError, match=f"'{name}'"):
        task_distance(model_for, tasks=tasks, target=target, training=False)


def test_an_interval_needs_two_values():
    assert interval([1.0]) is None
