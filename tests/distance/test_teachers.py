"""The simulation of the paper's appendix: sources of teachers that learned flipped labels."""

import numpy as np
import pytest
import torch
from torch import nn

from tawt.arrays import classification
from tawt.distance import Workshop
from tawt.distance.budgets import TrainingBudget
from tawt.reproduce.by_heart import flipped, learned_by_heart
from tawt.reproduce.networks_at_once import predicted
from tawt.reproduce.stages import Stages
from tawt.tasks import MultiTaskModel
from tawt.training import Settings
from tests.distance.made import distances_of

RATES = (0.0, 0.25, 0.5, 1.0)
WIDTHS = (30, 128, 4)
SEEDS = (0, 1)
SETTINGS = Settings(
    learning_rate=5e-3, clip_norm=None, batch_size=50, head_epochs=10, head_learning_rate=0.02
)


def tasks_of_teachers(seed):
    """What each teacher says of the same inputs, by flip rate, and the target's: the first's."""
    stages = Stages(seed=seed, device=torch.device("cpu"), batch_size=50, learning_rate=5e-3)
    draw = stages.generator("labels")
    labels = torch.randint(4, (200,), generator=draw)
    teachers, _ = learned_by_heart(
        stages,
        [str(rate) for rate in RATES],
        WIDTHS,
        stages.inputs("examples", (200, WIDTHS[0])),
        flipped(labels, RATES, classes=4, generator=draw),
        loss=0.01,
        bound=300,
    )

    def parts(purpose, size, teacher):
        inputs = stages.inputs(purpose, (size, WIDTHS[0]))
        return inputs.numpy(), predicted(teachers, inputs)[teacher].numpy()

    names = ["a", "b", "c", "d"]
    sources = [
        classification(str(rate), train=parts("source", 2000, place), labels=names)
        for place, rate in enumerate(RATES)
    ]
    held_out = parts("test", 1000, 0)
    few = classification("goal", train=parts("few", 300, 0), test=held_out, labels=names)
    return sources, few, classification("goal", train=parts("all", 2000, 0), labels=names)


def student_for(tasks, seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        body = nn.Sequential(nn.Linear(*WIDTHS[:2]), nn.ReLU())
        return MultiTaskModel.for_tasks(body, tasks, width=WIDTHS[1])


def workshop(seed):
    sources, goal, whole = tasks_of_teachers(seed)
    return Workshop(
        model_for=student_for,
        tasks={task.name: task for task in (*sources, goal)},
        target="goal",
        measured={"goal": goal},
        whole={"goal": whole},
        budget=TrainingBudget(epochs=12, batch=50, sizes=(2000,) * len(RATES), target_size=300),
        settings=SETTINGS,
        seed=seed,
    )


@pytest.fixture(scope="module")
def distances():
    return distances_of([str(rate) for rate in RATES], map(workshop, SEEDS))


@pytest.mark.parametrize("loss", ["clipped", "zero_one"])
def test_the_distance_of_teachers_grows_with_their_flip_rate(distances, loss):
    means = [np.mean(getattr(distance, loss)) for distance in distances]
    assert (np.diff(means) > 0).all(), means
    assert abs(means[0]) < 0.02, means
    assert means[-1] > 0.08, means
