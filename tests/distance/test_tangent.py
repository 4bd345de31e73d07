"""The linearised encoder: Gauss-Newton steps and vectors against dense matrices in float64."""

import pytest
import torch
from torch import nn

from tawt.arrays import Classification, Regression
from tawt.distance.tangent import Sample, tangent_items, tangent_step
from tawt.probes import Items, LinearHead, Probe
from tawt.tasks import Batch


@pytest.fixture(autouse=True)
def _doubles():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def encoder(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).eval()


def sample(body, *, seed, kind=None, weight=1.0):
    draw = torch.Generator().manual_seed(seed)
    inputs = torch.randn(10, 3, generator=draw)
    if isinstance(kind, Regression):
        labels = torch.randn(10, generator=draw)
    else:
        labels = torch.randint(0, 3, (10,), generator=draw)
    with torch.no_grad():
        probe = Probe.fitted(Items(body(inputs), labels), classes=3, ridge=0.1)
    head = LinearHead.of(probe, like=inputs)
    batches = [Batch(inputs[:6], labels[:6]), Batch(inputs[6:], labels[6:])]
    return Sample(kind or Classification(("a", "b", "c")), batches, head, weight)


def dense_parts(body, one):
    """Gradient and Gauss-Newton matrix of a sample's mean over batches of mean losses."""
    parameters = list(body.parameters())
    total = sum(p.numel() for p in parameters)
    gradient, matrix = torch.zeros(total), torch.zeros(total, total)
    for batch in one.batches:
        outputs = one.head.outputs(body(batch.inputs))
        rows = [
            torch.cat([g.flatten() for g in torch.autograd.grad(o, parameters, retain_graph=True)])
            for o in outputs.flatten()
        ]
        jacobian = torch.stack(rows).view(*outputs.shape, total)
        for position in range(len(outputs)):
            given = outputs[position].detach().requires_grad_()
            label = batch.labels[position]

            def loss(values, label=label):
                if one.head.is_regression:
                    return (values[0] - label) ** 2 / (2 * one.head.variance)
                return nn.functional.cross_entropy(values[None], label[None])

            slope = torch.autograd.functional.jacobian(loss, given)
            curve = torch.autograd.functional.hessian(loss, given)
            j = jacobian[position]
            scale = one.weight / len(one.batches) / len(outputs)
            gradient += scale * (slope @ j)
            matrix += scale * (j.T @ curve @ j)
    return gradient.detach(), matrix.detach()


def starting(body, one):
    """Vectors before the step."""
    with torch.no_grad():
        vectors = torch.cat([body(batch.inputs) for batch in one.batches])
    return Items(vectors, torch.cat([batch.labels for batch in one.batches]))


@pytest.mark.parametrize("regression", [False, True])
def test_the_step_solves_the_damped_gauss_newton_problem(regression):
    body = encoder()
    kind = Regression() if regression else None
    samples = [sample(body, seed=1, kind=kind, weight=0.7), sample(body, seed=2, weight=0.3)]
    parts = [dense_parts(body, one) for one in samples]
    gradient, matrix = (sum(part[place] for part in parts) for place in (0, 1))
    ridge = 0.1 * gradient @ matrix @ gradient / (gradient @ gradient)
    expected = torch.linalg.solve(matrix + ridge * torch.eye(len(matrix)), -gradient)
    step = tangent_step(body, samples, damping=0.1, iterations=60)
    found = torch.cat([entry.flatten() for entry in step])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")
def test_vectors_move_along_the_jacobian():
    body = encoder()
    one = sample(body, seed=3)
    step = [torch.randn_like(p) * 0.1 for p in body.parameters()]
    found = tangent_items(body, one.kind, one.batches, step, starting(body, one))
    inputs = torch.cat([batch.inputs for batch in one.batches])
    names = [name for name, _ in body.named_parameters()]
    start = {name: p.detach() for name, p in body.named_parameters()}
    value, slope = torch.func.jvp(
        lambda values: torch.func.functional_call(body, values, (inputs,)),
        (start,),
        (dict(zip(names, step, strict=True)),),
    )
    torch.testing.assert_close(found.vectors, value + slope, rtol=1e-5, atol=1e-6)
    assert found.labels.tolist() == torch.cat([b.labels for b in one.batches]).tolist()


def test_nothing_is_left_changed():
    body = encoder()
    before = [p.detach().clone() for p in body.parameters()]
    one = sample(body, seed=4)
    tangent_items(body, one.kind, one.batches, tangent_step(body, [one]), starting(body, one))
    for now, then in zip(body.parameters(), before, strict=True):
        assert torch.equal(now, then)
        assert now.grad is None


def test_a_perfect_fit_asks_for_no_step():
    body = encoder()
    inputs = torch.randn(5, 3)
    with torch.no_grad():
        labels = body(inputs)[:, 0]
    head = LinearHead(torch.tensor([[1.0, 0.0]]), torch.zeros(1), 1.0, True, torch.ones(1) > 0)
    step = tangent_step(body, [Sample(Regression(), [Batch(inputs, labels)], head)])
    assert all(float(entry.abs().max()) < 1e-12 for entry in step)
