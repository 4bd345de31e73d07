"""Steps recorded as CUDA graphs: the same numbers as without, and what cannot be recorded."""

import copy
import logging

import numpy as np
import pytest
import torch
from torch import nn

from tawt.arrays import MLP, classification
from tawt.errors import Interrupted
from tawt.gradients import dot, gradient_of, squared_norm
from tawt.tasks import Batch, MultiTaskModel
from tawt.training import JointTraining, PreTraining, Settings, train
from tawt.training.fresh import FreshLosses
from tawt.training.recorded import RecordedPasses, Recorder
from tawt.training.replay import Replay
from tawt.weighting import TargetAware

on_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
CPU = torch.device("cpu")


def rows(seed, size, *, noise=False):
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(size, 4))
    return inputs, draw.integers(0, 3, size) if noise else inputs[:, :3].argmax(1)


def some_tasks():
    return [
        classification("near", train=rows(1, 60)),
        classification("far", train=rows(2, 43, noise=True)),
        classification("goal", train=rows(3, 24), dev=rows(4, 15), test=rows(5, 15)),
    ]


def weights(*, joint):
    return TargetAware(
        sources=["near", "far"], target="goal", target_share="learned" if joint else None
    )


def test_functions_are_called_with_their_inputs():
    seen = []
    replay = Replay(CPU, enabled=True)
    for number in (1.0, 2.0, 3.0):
        replay("see", lambda given: seen.append(float(given["x"])), {"x": torch.tensor(number)})
    assert seen == [1.0, 2.0, 3.0]


def test_recorded_passes_find_what_backward_passes_find():
    tasks = {task.name: task for task in some_tasks()}
    torch.manual_seed(0)
    model = MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), list(tasks.values()), width=8)
    parameters = list(model.representation.parameters())

    def fresh():
        return FreshLosses(
            model,
            tasks,
            {name: task.train for name, task in tasks.items()},
            counts=dict.fromkeys(tasks, 16),
            weighting=weights(joint=False),
            seed=0,
            update=1,
            device=CPU,
            autocast=torch.enable_grad,
        )

    recorder = Recorder(Replay(CPU, enabled=True), parameters)
    passes, plain = RecordedPasses(fresh(), recorder), fresh()
    loss, gradient = passes.gradient("goal")
    expected = plain("goal")
    direction = gradient_of(expected, parameters)
    torch.testing.assert_close(loss, expected.detach().double())
    torch.testing.assert_close(gradient, direction)

    loss, inner, squared = passes.along("near", gradient)
    expected = plain("near")
    near = gradient_of(expected, parameters)
    torch.testing.assert_close(loss, expected.detach().double())
    torch.testing.assert_close(inner, dot(direction, near))
    torch.testing.assert_close(squared, squared_norm(near))


def test_a_direction_from_elsewhere_is_measured_along_too():
    """A curvature's solve makes a new direction, and may leave parameters out."""
    parameters = [torch.tensor([1.0, 2.0], requires_grad=True), torch.ones(1, requires_grad=True)]

    class Fixed:
        def batch(self, task):
            return Batch(torch.tensor([3.0, 5.0]), None), 1

        def loss(self, task, drawn, *, size):
            return (parameters[0] * drawn[0]).sum() + 7 * parameters[1].sum()

    passes = RecordedPasses(Fixed(), Recorder(Replay(CPU, enabled=True), parameters))
    _, inner, squared = passes.along("t", [torch.tensor([1.0, -1.0]), None])
    assert float(inner) == 3.0 - 5.0
    assert float(squared) == pytest.approx(9.0 + 25.0 + 49.0)


# On a GPU.


def trained(*, graphs, paradigm, representation=None, dropout=0.3, **options):
    tasks = some_tasks()
    torch.manual_seed(0)
    body = representation or MLP((4,), widths=(16, 8), dropout=dropout)
    model = MultiTaskModel.for_tasks(body, tasks, width=8)
    result = train(
        model,
        tasks=tasks,
        target="goal",
        paradigm=paradigm,
        weighting=weights(joint=isinstance(paradigm, JointTraining)),
        settings=Settings(
            batch_size=8, learning_rate=0.01, update_every=5, cuda_graphs=graphs, head_epochs=2
        ),
        **options,
    )
    return model, result


@on_gpu
@pytest.mark.parametrize("paradigm", [JointTraining(epochs=4), PreTraining(epochs=4)])
def test_replayed_steps_are_the_steps(paradigm):
    plain, without = trained(graphs=False, paradigm=paradigm)
    replayed, recorded = trained(graphs=True, paradigm=paradigm)
    assert recorded.weights == pytest.approx(without.weights, rel=1e-3)
    assert len(recorded.history) == len(without.history) > 10
    for ours, theirs in zip(replayed.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)
    losses = [entry["loss"] for entry in recorded.epochs]
    assert losses == pytest.approx([entry["loss"] for entry in without.epochs], rel=1e-3)


@on_gpu
def test_what_is_forgotten_is_recorded_anew(caplog):
    total = torch.zeros((), device="cuda")
    replay = Replay(torch.device("cuda", 0), enabled=True)
    for _ in range(4):
        for number in (1.0, 2.0, 3.0):
            given = torch.full((1000,), number)
            replay("add", lambda given: total.add_((given * 2).sum()), given)
        replay.forget()
    assert float(total) == 4 * 2000 * (1 + 2 + 3)
    assert "not recorded" not in caplog.text


@on_gpu
def test_batch_norm_is_replayed():
    paradigm = JointTraining(epochs=4)
    made = []
    for graphs in (False, True):
        torch.manual_seed(1)
        body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU())
        made.append(trained(graphs=graphs, paradigm=paradigm, representation=body)[0])
    for ours, theirs in zip(made[1].buffers(), made[0].buffers(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


class _Kept:
    """A checkpoint in memory."""

    def __init__(self):
        self.state = None

    def load(self):
        return self.state

    def due(self):
        return False

    def save(self, state):
        self.state = copy.deepcopy(state)


@on_gpu
def test_an_interrupted_run_goes_on_to_the_same_numbers():
    paradigm = JointTraining(epochs=4)
    whole, expected = trained(graphs=True, paradigm=paradigm)
    checkpoint, steps = _Kept(), iter(range(1000))
    with pytest.raises(Interrupted):
        trained(
            graphs=True,
            paradigm=paradigm,
            checkpoint=checkpoint,
            should_stop=lambda: next(steps) == 33,
        )
    resumed, found = trained(graphs=True, paradigm=paradigm, checkpoint=checkpoint)
    assert found.weights == pytest.approx(expected.weights, rel=1e-3)
    for ours, theirs in zip(resumed.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-4)


class _Waits(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1))

    def forward(self, inputs):
        return self.inner(inputs) * (2.0 if bool(inputs.isfinite().all()) else 1.0)


@on_gpu
def test_a_model_that_waits_for_the_device_is_trained_as_it_is(caplog):
    paradigm = JointTraining(epochs=3)
    with caplog.at_level(logging.WARNING, logger="tawt"):
        _, result = trained(graphs=True, paradigm=paradigm, representation=_Waits())
    assert "not recorded as CUDA graphs" in caplog.text
    assert result.steps == 3 * (8 + 6 + 3)
