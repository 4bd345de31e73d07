"""What every curvature must do, whatever it approximates H by."""

import random

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import nn

from tawt.curvature import (
    AdamDiagonal,
    ConjugateGradient,
    Dense,
    Identity,
    WeightedHessian,
)
from tawt.gradients import dot, squared_norm, trainable
from tawt.hypergradient import CurvatureWeighted
from tawt.weighting import TargetAware, UpdateRule

DAMPING = 1.0  # above the most negative eigenvalue of H here, so that every solve is well posed
SOURCES = {"a": 0.5, "b": 0.3, "c": 0.2}
CURVATURES = {
    "identity": lambda damping: Identity(scale=1 / damping),
    "adam": lambda damping: AdamDiagonal(damping=damping),
    "conjugate gradient": lambda damping: ConjugateGradient(
        damping=damping, iterations=500, tolerance=1e-13
    ),
    "dense": lambda damping: Dense(damping=damping),
}


class Encoder(nn.Module):
    """Something of everything: a tied layer, a frozen bias, a scale, and what no loss reaches."""

    def __init__(self):
        super().__init__()
        self.first, self.twice = nn.Linear(4, 5), nn.Linear(5, 5)
        self.first.bias.requires_grad_(False)
        self.scale = nn.Parameter(torch.ones(5))
        self.batch = nn.BatchNorm1d(4, affine=False)
        self.unused = nn.Parameter(torch.ones(3))

    def forward(self, inputs):
        vectors = torch.tanh(self.first(self.batch(inputs)))
        for _ in range(2):
            vectors = torch.tanh(self.twice(vectors))
        return vectors * self.scale


class Problem:
    """Three sources and a target on one encoder, and an Adam that has taken some steps."""

    def __init__(self, *, dtype=torch.float64):
        torch.manual_seed(0)
        self.encoder = Encoder().to(dtype)
        self.heads = nn.ModuleDict({name: nn.Linear(5, 3) for name in [*SOURCES, "t"]}).to(dtype)
        self.inputs = {name: torch.randn(12, 4).to(dtype) for name in self.heads}
        self.labels = {name: torch.randint(3, (12,)) for name in self.heads}
        self.parameters = trainable(self.encoder)
        self.asked = []
        self.optimiser = torch.optim.Adam(self.parameters, lr=1e-3)
        for _ in range(3):
            self.optimiser.zero_grad()
            sum(share * self.loss_of(name) for name, share in SOURCES.items()).backward()
            self.optimiser.step()
        self.optimiser.zero_grad()
        self.asked.clear()

    def loss_of(self, task):
        self.asked.append(task)
        outputs = self.heads[task](self.encoder(self.inputs[task]))
        return F.cross_entropy(
            outputs.float() if outputs.dtype == torch.bfloat16 else outputs, self.labels[task]
        )

    def gradient(self, seed=0):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(p.shape, generator=generator, dtype=p.dtype) for p in self.parameters]

    def solved(self, curvature, gradient):
        curvature.follow(self.optimiser)
        hessian = WeightedHessian(self.parameters, SOURCES, self.loss_of)
        copied = [entry if entry is None else entry.clone() for entry in gradient]
        return curvature.solve(copied, hessian)


@pytest.fixture(params=CURVATURES)
def make(request):
    return CURVATURES[request.param]


def shared_streams():
    numbers = np.random.get_state()[1].tolist()  # noqa: NPY002 - the stream that all share
    return torch.get_rng_state().tolist(), random.getstate(), numbers


def close(left, right):
    torch.testing.assert_close(left, right, rtol=1e-7, atol=1e-9)


def test_it_is_linear(make):
    problem = Problem()
    u, v = problem.gradient(1), problem.gradient(2)
    whole = problem.solved(make(DAMPING), [2 * a - 3 * b for a, b in zip(u, v, strict=True)])
    parts = zip(problem.solved(make(DAMPING), u), problem.solved(make(DAMPING), v), strict=True)
    close(whole, [2 * a - 3 * b for a, b in parts])


def test_it_is_symmetric(make):
    problem = Problem()
    u, v = problem.gradient(1), problem.gradient(2)
    close(dot(u, problem.solved(make(DAMPING), v)), dot(v, problem.solved(make(DAMPING), u)))


@pytest.mark.parametrize("seed", range(5))
def test_it_is_positive(make, seed):
    """So that a source which is the target always has a negative g: more of it is better."""
    problem = Problem()
    v = problem.gradient(seed)
    assert dot(v, problem.solved(make(DAMPING), v)) > 0


def test_much_damping_leaves_the_gradient(make):
    problem = Problem()
    v = problem.gradient()
    found = problem.solved(make(1e7), v)
    cosine = dot(v, found) / (squared_norm(v) * squared_norm(found)).sqrt()
    torch.testing.assert_close(float(cosine), 1.0, rtol=0, atol=1e-9)


def test_it_is_deterministic(make):
    problem = Problem()
    first, second = (problem.solved(make(DAMPING), problem.gradient()) for _ in range(2))
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_a_zero_gradient_has_no_direction(make):
    problem = Problem()
    found = problem.solved(make(DAMPING), [torch.zeros_like(p) for p in problem.parameters])
    assert squared_norm(found) == 0


def test_parameters_that_the_target_does_not_reach(make):
    """Nothing is made up for them where H does not couple them with others."""
    problem = Problem()
    reached = problem.gradient()
    unreached = [
        None if p is problem.encoder.unused else g
        for p, g in zip(problem.parameters, reached, strict=True)
    ]
    found = problem.solved(make(DAMPING), unreached)
    assert len(found) == len(problem.parameters)
    for parameter, entry in zip(problem.parameters, found, strict=True):
        if parameter is problem.encoder.unused:
            assert entry is None or not entry.any()
        else:
            assert entry.shape == parameter.shape
            assert torch.isfinite(entry).all()


def test_every_source_is_asked_once_at_most(make):
    problem = Problem()
    problem.solved(make(DAMPING), problem.gradient())
    assert problem.asked in ([], list(SOURCES))


def test_half_precision_is_solved_for_in_float32(make):
    problem = Problem(dtype=torch.bfloat16)
    found = problem.solved(make(DAMPING), [g.float() for g in problem.gradient()])
    assert {entry.dtype for entry in found} == {torch.float32}
    assert all(torch.isfinite(entry).all() for entry in found)


def test_an_update_leaves_no_trace(make):
    problem = Problem()
    for parameter in problem.parameters:
        parameter.grad = torch.ones_like(parameter)
    modules = [problem.encoder, problem.heads]
    before = [{key: value.clone() for key, value in m.state_dict().items()} for m in modules]
    streams = shared_streams()
    rule = UpdateRule(alignment=CurvatureWeighted(make(DAMPING)))
    weights = TargetAware(sources=list(SOURCES), target="t", target_share=None, rule=rule)
    weights.follow(problem.optimiser)
    update = weights.update(problem.encoder, loss_of=problem.loss_of, touching=[problem.heads])
    assert update.skipped is None
    for module, state in zip(modules, before, strict=True):
        assert all(torch.equal(value, state[key]) for key, value in module.state_dict().items())
    assert all(torch.equal(p.grad, torch.ones_like(p)) for p in problem.parameters)
    assert shared_streams() == streams


def test_the_solve_itself_draws_from_no_shared_stream(make):
    """An update would put it back; a curvature that is used by itself must not need that."""
    problem = Problem()
    before = shared_streams()
    problem.solved(make(DAMPING), problem.gradient())
    assert shared_streams() == before
