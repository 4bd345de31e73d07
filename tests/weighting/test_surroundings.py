"""An update in the middle of anyone's training: compiled, in bfloat16, with hooks, half way."""

import copy
import logging

import pytest
import torch
from torch import nn

import tawt.gradients
from tawt import ConjugateGradient, CurvatureWeighted, TargetAware, UpdateRule
from tawt.errors import TrainingError
from tawt.gradients import untouched

TASKS = ("near", "far", "goal")


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.encoder = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Tanh())
        self.heads = nn.ModuleDict({task: nn.Linear(8, 1) for task in TASKS})
        draw = torch.Generator().manual_seed(1)
        self.inputs = {task: torch.randn(16, 4, generator=draw) for task in TASKS}

    def forward(self, task):
        return self.heads[task](self.encoder(self.inputs[task])).square().mean()


def weighting(**options):
    return TargetAware(
        **{"sources": ["near", "far"], "target": "goal", "target_share": None, **options}
    )


def expected():
    found, model = weighting(), Model()
    found.update(model.encoder, loss_of=model)
    return found.weights.logs


# torch.compile, whose backends "eager" and "aot_eager" need no C++ compiler


@pytest.fixture
def compiling():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.mark.usefixtures("compiling")
@pytest.mark.filterwarnings("ignore")  # torch's own, about its own modules
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_representation_is_measured_as_it_is(backend):
    model = Model()
    mean = model.encoder[1].running_mean.clone()
    model.encoder = torch.compile(model.encoder, backend=backend)
    found = weighting()
    found.update(model.encoder, loss_of=model)
    torch.testing.assert_close(found.weights.logs, expected(), rtol=0, atol=1e-6)
    assert torch.equal(model.encoder._orig_mod[1].running_mean, mean)
    assert model.encoder.training


@pytest.mark.usefixtures("compiling")
@pytest.mark.filterwarnings("ignore")
def test_a_compiled_loss_is_measured_as_it_is():
    model = Model()
    found = weighting()
    found.update(model.encoder, loss_of=torch.compile(model, backend="aot_eager"))
    torch.testing.assert_close(found.weights.logs, expected(), rtol=0, atol=1e-6)


@pytest.mark.usefixtures("compiling")
@pytest.mark.filterwarnings("ignore")
def test_second_derivatives_of_a_compiled_model_are_refused():
    model = Model()
    compiled = torch.compile(model, backend="aot_eager")
    found = weighting(rule=UpdateRule(alignment=CurvatureWeighted(ConjugateGradient())))
    with pytest.raises(TrainingError, match=r"compiled.*second derivative"):
        found.update(model.encoder, loss_of=compiled)


# torch.autocast


def test_losses_in_bfloat16_are_near_those_in_float32():
    model = Model()

    def loss_of(task):
        with torch.autocast("cpu", torch.bfloat16):
            return model(task)

    found = weighting()
    found.update(model.encoder, loss_of=loss_of)
    torch.testing.assert_close(found.weights.logs, expected(), rtol=0, atol=0.02)


def test_casts_that_were_made_without_a_graph_hide_no_parameter():
    """Autocast keeps its casts of weights until it ends, those made under no_grad too."""
    model, found = Model(), weighting()
    with torch.autocast("cpu", torch.bfloat16):
        with torch.no_grad():
            model("goal")
        found.update(model.encoder, loss_of=model)
        norms = found.history[-1].norms
        assert min(norms.values()) > 0
        model("near").backward()  # and what comes after it has a graph of its own
    assert all(p.grad is not None for p in model.encoder.parameters())
    other, fresh = Model(), weighting()
    with torch.autocast("cpu", torch.bfloat16):
        fresh.update(other.encoder, loss_of=other)
    assert torch.equal(found.weights.logs, fresh.weights.logs)


# Gradient accumulation, frozen and shared parameters


def test_an_update_between_batches_that_are_added_up_changes_nothing():
    grads = []
    for updates in (True, False):
        model = Model()
        model("near").backward()
        if updates:
            weighting().update(model.encoder, loss_of=model)
        model("far").backward()
        grads.append([None if p.grad is None else p.grad for p in model.parameters()])
    for left, right in zip(*grads, strict=True):
        assert (left is None) == (right is None)
        assert left is None or torch.equal(left, right)


def test_a_loss_that_writes_gradients_is_refused():
    model, found = Model(), weighting()

    def loss_of(task):
        model(task).backward()
        return model(task)

    with pytest.raises(TrainingError, match=r"`\.grad` changed"):
        found.update(model.encoder, loss_of=loss_of)
    assert not found.history

    model("near").backward()

    def cleared(task):
        model.zero_grad()
        return model(task)

    with pytest.raises(TrainingError, match=r"`\.grad` changed"):
        found.update(model.encoder, loss_of=cleared)


def test_frozen_and_shared_parameters():
    """A frozen one is no part of the gradient, and a shared one is part of it once."""
    model = Model()
    tied = nn.Linear(8, 8)
    model.encoder = nn.Sequential(nn.Linear(4, 8), tied, nn.Tanh(), tied)
    model.encoder[0].weight.requires_grad_(False)
    found = weighting(rule=UpdateRule.paper())
    found.update(model.encoder, loss_of=model)
    parameters = [model.encoder[0].bias, tied.weight, tied.bias]
    flat = {
        task: torch.cat([g.flatten() for g in torch.autograd.grad(model(task), parameters)])
        for task in TASKS
    }
    cosines = [torch.cosine_similarity(flat["goal"], flat[task], dim=0) for task in TASKS[:2]]
    wanted = torch.log_softmax(torch.stack(cosines).double(), 0)
    torch.testing.assert_close(found.weights.logs, wanted, rtol=0, atol=1e-6)


# Hooks: those that training would set off on its way to a gradient are set off, others not


def test_hooks_on_parameters_change_what_is_measured_as_they_change_training():
    """A mask on a gradient: what is masked is not trained, and does not count."""
    model, found = Model(), weighting(rule=UpdateRule.paper())
    mask = torch.zeros(8, 4)
    mask[:4] = 1.0
    model.encoder[0].weight.register_hook(lambda grad: grad * mask)
    found.update([model.encoder[0].weight], loss_of=model, touching=[model])
    other, plain = Model(), {}
    for task in TASKS:
        plain[task] = torch.autograd.grad(other(task), other.encoder[0].weight)[0] * mask
    cosines = [
        torch.cosine_similarity(plain["goal"].flatten(), plain[task].flatten(), dim=0)
        for task in TASKS[:2]
    ]
    wanted = torch.log_softmax(torch.stack(cosines).double(), 0)
    torch.testing.assert_close(found.weights.logs, wanted, rtol=0, atol=1e-6)


def test_hooks_on_modules_change_what_is_measured_as_they_change_training():
    norms = []
    for hooked in (True, False):
        model, found = Model(), weighting()
        if hooked:
            model.encoder[1].register_full_backward_hook(lambda module, into, out: (into[0] / 2,))
        found.update(model.encoder[0], loss_of=model, touching=[model])
        norms.append(found.history[-1].norms)
    for task, norm in norms[0].items():
        assert norm == pytest.approx(norms[1][task] / 2)


def test_hooks_after_accumulation_are_not_set_off():
    """An optimiser in the backward pass takes no step in a measurement."""
    model, found = Model(), weighting()
    before = copy.deepcopy(model.state_dict())
    calls = []
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(calls.append)
    found.update(model.encoder, loss_of=model)
    assert not calls
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])


def test_a_hook_that_writes_gradients_is_refused():
    model, found = Model(), weighting()
    weight = model.encoder[0].weight

    def write(grad):
        weight.grad = grad.clone()

    weight.register_hook(write)
    with pytest.raises(TrainingError, match="a hook write"):
        found.update(model.encoder, loss_of=model)


# Random streams


class Device:
    """The module of a kind of device, as torch has one for each."""

    def __init__(self):
        self.state = {0: torch.tensor([7]), 1: torch.tensor([8])}

    def get_rng_state(self, index=0):
        return self.state[index].clone()

    def set_rng_state(self, state, index=0):
        self.state[index] = state


@pytest.mark.parametrize("kind", ["cuda", "xpu", "mps"])
def test_streams_of_every_device_that_is_involved_are_put_back(kind, monkeypatch):
    """The devices of the parameters; what is on none of them is none of ours."""
    device, indices = Device(), [0] if kind == "mps" else [0, 1]
    monkeypatch.setattr(tawt.gradients.torch, "get_device_module", lambda name: device)
    real = tawt.gradients._streams
    streams = [tawt.gradients._Stream(kind, index) for index in indices]
    monkeypatch.setattr(tawt.gradients, "_streams", lambda parameters: streams)
    with untouched([nn.Linear(1, 1)]):
        for index in indices:
            device.state[index] += 1
    assert [int(device.state[index]) for index in indices] == [7, 8][: len(indices)]
    assert real([torch.zeros(1), torch.zeros(1, device="meta")]) == []


def test_an_update_that_is_skipped_is_said_in_the_log(caplog):
    model, found = Model(), weighting()
    with caplog.at_level(logging.WARNING):
        found.update(model.encoder, loss_of=lambda task: model(task) * float("inf"))
    assert "update 1 skipped" in caplog.text
