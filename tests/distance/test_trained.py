"""The distance by its definition, where it is known in closed form."""

import numpy as np
import pytest
import torch
from torch import nn

from tawt.arrays import classification, regression
from tawt.distance.trained import SourcesAlone, frozen_risk, interval, trained_distances
from tawt.errors import ConfigError, DataError
from tawt.tasks import MultiTaskModel
from tawt.training import Settings

SETTINGS = Settings(learning_rate=0.02, clip_norm=None, batch_size=50, decay="linear")


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


@pytest.mark.parametrize("degrees", [0, 30, 60, 90])
def test_linear_teachers_are_as_far_apart_as_their_angle(degrees):
    """A head on ⟨u_s, x⟩ leaves sin² of the angle of the target's variance unexplained."""
    angle = np.deg2rad(degrees)
    tasks = [teacher("source", angle, seed=1), teacher("target", 0.0, seed=2)]

    def model_for(seed):
        draw = np.random.default_rng(seed)
        return MultiTaskModel(
            Projection(draw.normal(size=2)),
            {name: nn.Linear(1, 1) for name in ("source", "target")},
        )

    found = trained_distances(
        model_for,
        tasks=tasks,
        target="target",
        mixtures={"source": {"source": 1.0}},
        epochs=6,
        settings=SETTINGS,
        seeds=[0],
    )["source"]
    # Squared errors in units of the variance, cut at 4, over 4: the cut matters little here.
    draw = np.random.default_rng(3).normal(size=200_000)
    expected = np.minimum(np.sin(angle) ** 2 * draw**2, 4).mean() / 4
    assert found.clipped[0] == pytest.approx(expected, abs=0.01)
    assert found.zero_one == []


def digits(name, seed, *, shuffled=False, shift=0):
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(700, 6)).astype(np.float32)
    labels = np.abs(np.roll(inputs, shift, axis=1)[:, :3]).argmax(1)
    if shuffled:
        labels = draw.permutation(labels)
    return classification(
        name, train=(inputs[:400], labels[:400]), test=(inputs[400:], labels[400:])
    )


def network_for(tasks):
    def model_for(seed):
        torch.manual_seed(seed)
        body = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 8), nn.ReLU())
        return MultiTaskModel.for_tasks(body, tasks, width=8)

    return model_for


def test_itself_is_near_and_shuffled_labels_are_far():
    tasks = [
        digits("same", 1),
        digits("shuffled", 2, shuffled=True),
        digits("target", 3),
    ]
    found = trained_distances(
        network_for(tasks),
        tasks=tasks,
        target="target",
        mixtures={
            "same": {"same": 1.0},
            "shuffled": {"shuffled": 1.0},
            "both": {"same": 0.5, "shuffled": 0.5},
        },
        epochs=30,
        settings=SETTINGS,
        seeds=[0, 1, 2],
    )
    means = {name: np.mean(distance.zero_one) for name, distance in found.items()}
    assert abs(means["same"]) < 0.05
    assert means["shuffled"] > 0.15
    assert means["same"] < means["both"] < means["shuffled"]
    low, high = interval(found["shuffled"].zero_one)
    assert low < means["shuffled"] < high


def test_only_sources_are_trained_on():
    [phase] = SourcesAlone(3).phases()
    assert (phase.trains_on, phase.epochs) == ("sources", 3)


def test_what_cannot_be_measured_is_refused():
    bare = classification("bare", train=(np.zeros((4, 2)), np.array([0, 1, 0, 1])))
    with pytest.raises(DataError, match="neither dev nor test"):
        frozen_risk(nn.Linear(2, 2), bare)
    tasks = [digits("source", 1), digits("target", 2)]
    with pytest.raises(ConfigError, match="no source of its own"):
        trained_distances(
            network_for(tasks),
            tasks=tasks,
            target="target",
            mixtures={"all": {"target": 1.0}},
            epochs=1,
            settings=SETTINGS,
            seeds=[0],
        )


def test_an_interval_needs_two_values():
    assert interval([1.0]) is None
