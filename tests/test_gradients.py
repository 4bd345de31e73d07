"""Gradients against float64, and the guarantee that measuring leaves no trace."""

import random

import numpy as np
import pytest
import torch
from torch import nn

from tawt.curvature import ConjugateGradient, Dense, Identity
from tawt.errors import TrainingError
from tawt.gradients import add_scaled, dot, gradient_of, squared_norm, trainable, untouched
from tawt.hypergradient import Cosine, CurvatureWeighted, hypergradient
from tawt.weighting import TargetAware, UpdateRule
from tawt.weights import SourceWeights
from tests import oracles

DOUBLE = {"dtype": torch.float64}


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), **DOUBLE)


def measure(parameters, losses, *, alignment, targets=("goal",)):
    """The hypergradient of all other tasks towards the targets, at equal weights."""
    units = [name for name in losses if name not in targets]
    return hypergradient(
        parameters,
        targets=dict.fromkeys(targets, 1 / len(targets)),
        weights=SourceWeights.uniform(units),
        loss_of=lambda task: losses[task](),
        alignment=alignment,
    )


# Which parameters


def test_frozen_parameters_are_left_out():
    layer = nn.Linear(3, 2)
    layer.bias.requires_grad_(False)
    assert [id(parameter) for parameter in trainable(layer)] == [id(layer.weight)]
    assert [id(parameter) for parameter in trainable(layer.parameters())] == [id(layer.weight)]


def test_frozen_parameters_do_not_count_in_norms():
    encoder = nn.Linear(3, 2).double()
    inputs = normal(5, 3)
    encoder.bias.requires_grad_(False)
    losses = dict.fromkeys(("a", "goal"), lambda: encoder(inputs).square().sum())
    found = measure(trainable(encoder), losses, alignment=Cosine())
    expected = oracles.flat_gradient(encoder(inputs).square().sum(), [encoder.weight]).norm()
    torch.testing.assert_close(torch.tensor(found.norms["a"], **DOUBLE), expected)
    assert found.target_norm == pytest.approx(float(expected))


def test_a_representation_with_nothing_to_train_is_refused():
    layer = nn.Linear(3, 2).requires_grad_(False)
    with pytest.raises(TrainingError, match="no trainable parameter"):
        trainable(layer)
    with pytest.raises(TrainingError, match="no trainable parameter"):
        trainable([])


def tied_pair():
    first, second = nn.Linear(4, 4, bias=False).double(), nn.Linear(4, 4, bias=False).double()
    second.weight = first.weight
    return nn.ModuleList([first, second])


@pytest.mark.parametrize("as_list", [False, True])
def test_tied_parameters_are_one_parameter_with_the_whole_gradient(as_list):
    pair, inputs = tied_pair(), normal(6, 4)
    given = [layer.weight for layer in pair] if as_list else pair
    parameters = trainable(given)
    assert [id(parameter) for parameter in parameters] == [id(pair[0].weight)]

    (ours,) = gradient_of(pair[1](pair[0](inputs)).square().mean(), parameters)
    apart = [pair[0].weight.detach().clone().requires_grad_() for _ in range(2)]
    loss = (inputs @ apart[0].T @ apart[1].T).square().mean()
    torch.testing.assert_close(ours, sum(torch.autograd.grad(loss, apart)))


def test_tied_parameters_count_once_in_an_alignment():
    pair, inputs, other = tied_pair(), normal(6, 4), normal(6, 4, seed=1)
    free = nn.Parameter(normal(4, seed=2))
    parameters = trainable([*(layer.weight for layer in pair), free])
    losses = {
        "a": lambda: (pair[1](pair[0](inputs)) + free).square().mean(),
        "goal": lambda: (pair[0](other) - free).square().mean(),
    }
    found = measure(parameters, losses, alignment=Cosine())
    mine, goal = (oracles.flat_gradient(losses[name](), [pair[0].weight, free]) for name in losses)
    expected = torch.nn.functional.cosine_similarity(mine, goal, dim=0)
    torch.testing.assert_close(found.alignments[0], expected)


# Parameters that a loss does not reach


def test_an_unreached_parameter_has_no_gradient():
    x, y = normal(3).requires_grad_(), normal(2).requires_grad_()
    reached, unreached = gradient_of(x.square().sum(), [x, y])
    torch.testing.assert_close(reached, 2 * x.detach())
    assert unreached is None


def test_a_loss_without_a_graph_reaches_nothing():
    x = normal(3).requires_grad_()
    assert gradient_of(x.detach().sum(), [x, x]) == [None, None]


def test_unreached_parameters_count_as_zeros():
    left, right = [normal(3), None, normal(2), None], [normal(3, seed=1), normal(4), None, None]
    torch.testing.assert_close(dot(left, right), left[0] @ right[0])
    torch.testing.assert_close(squared_norm(left), left[0] @ left[0] + left[2] @ left[2])
    assert dot([None], [None]) == 0
    assert squared_norm([None]) == 0
    assert dot([None], [None]).dtype == torch.float64


def test_gradients_of_different_length_are_not_compared():
    with pytest.raises(ValueError, match="zip"):
        dot([torch.ones(1)], [torch.ones(1), torch.ones(1)])


@pytest.mark.parametrize("alignment", [Cosine(), CurvatureWeighted(Identity(scale=3.0))])
def test_tasks_that_reach_different_parameters_align_over_the_shared_ones(alignment):
    x, y, z = (normal(3, seed=seed).requires_grad_() for seed in range(3))
    losses = {
        "a": lambda: (x * y).sum() + x.square().sum(),
        "b": lambda: z.square().sum(),
        "goal": lambda: (y * z).square().sum(),
    }
    found = measure([x, y, z], losses, alignment=alignment)
    flat = {name: oracles.flat_gradient(loss(), [x, y, z]) for name, loss in losses.items()}
    inner = torch.stack([flat["goal"] @ flat[name] for name in "ab"])
    norms = torch.stack([flat[name].norm() for name in "ab"])
    cosines = inner / norms / flat["goal"].norm()
    expected = cosines if isinstance(alignment, Cosine) else 3 * inner
    torch.testing.assert_close(found.alignments, expected)
    assert found.norms == pytest.approx(dict(zip("ab", norms.tolist(), strict=True)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_task_that_reaches_nothing_is_measured_on_a_gpu_too():
    x = torch.ones(3, device="cuda", requires_grad=True)
    apart = torch.ones(2, device="cuda", requires_grad=True)
    losses = {"a": x.sum, "apart": apart.sum, "goal": lambda: torch.sum(2 * x)}
    found = measure([x], losses, alignment=Cosine())
    assert found.alignments.tolist() == pytest.approx([1.0, 0.0])


def test_add_scaled_is_a_linear_combination():
    first, second = [normal(3), None, None], [normal(3, seed=1), normal(2), None]
    kept = [None if entry is None else entry.clone() for entry in first]
    total = add_scaled(add_scaled(None, first, 0.3), second, 0.7)
    torch.testing.assert_close(total[0], 0.3 * first[0] + 0.7 * second[0])
    torch.testing.assert_close(total[1], 0.7 * second[1])
    assert total[2] is None
    torch.testing.assert_close(first[0], kept[0], rtol=0, atol=0)


def test_gradient_of_leaves_grad_alone_and_refuses_a_vector():
    x = normal(3).requires_grad_()
    x.grad = torch.full((3,), 7.0, **DOUBLE)
    gradient_of(x.square().sum(), [x])
    assert x.grad.tolist() == [7.0] * 3
    with pytest.raises(TrainingError, match=r"must be a scalar .* got shape \(3,\)"):
        gradient_of(x.square(), [x])


# Precision


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_long_sums_in_half_precision_do_not_stall(dtype):
    """Added up in its own precision, bfloat16 stalls at 256 and float16 at 2048."""
    ones = torch.ones(100_001, dtype=dtype)
    assert float(dot([ones], [ones])) == pytest.approx(100_001, rel=1e-6)
    assert float(squared_norm([ones])) == pytest.approx(100_001, rel=1e-6)


@pytest.mark.parametrize(
    ("dtype", "entry"),
    [(torch.float16, 300.0), (torch.float16, 1e-4), (torch.bfloat16, 1 / 3)],
    ids=["squares overflow", "squares underflow", "squares are rounded"],
)
def test_half_precision_products_are_taken_in_float32(dtype, entry):
    values = (entry * (1 + 0.1 * normal(4097))).to(dtype)
    exact = float(values.double() @ values.double())
    assert float(dot([values], [values])) == pytest.approx(exact, rel=1e-5)
    assert float(squared_norm([values])) == pytest.approx(exact, rel=1e-5)


def test_sums_over_parameters_are_taken_in_float64():
    """1e8 + 1 is 1e8 in float32; a thousand small parameters must not vanish beside a large one."""
    gradient = [torch.tensor([1e4]), *(torch.ones(1) for _ in range(1000))]
    assert float(dot(gradient, gradient)) == pytest.approx(100_001_000, abs=0.5)
    assert float(squared_norm(gradient)) == pytest.approx(100_001_000, abs=0.5)


def test_parameters_of_mixed_precision_are_summed_together():
    parts = [normal(50).to(dtype) for dtype in (torch.bfloat16, torch.float32, torch.float64)]
    exact = float(sum(part.double().square().sum() for part in parts))
    assert float(squared_norm(parts)) == pytest.approx(exact, rel=1e-6)
    assert float(dot(parts, parts)) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    ("dtype", "size"), [(torch.bfloat16, 1.0), (torch.float16, 300.0), (torch.float16, 1e-4)]
)
def test_alignments_of_half_precision_parameters_are_exact(dtype, size):
    """Against float64 from the same half-precision gradients."""
    point = torch.zeros(5000, dtype=dtype, requires_grad=True)
    common = normal(5000)
    given = {
        "a": (size * (0.3 * common + normal(5000, seed=1))).to(dtype),
        "b": (size * normal(5000, seed=2)).to(dtype),
        "goal": (size * common).to(dtype),
    }
    losses = {name: lambda name=name: (point * given[name]).sum() for name in given}
    found = measure([point], losses, alignment=Cosine())
    wide = {name: value.double() for name, value in given.items()}
    expected = [
        torch.nn.functional.cosine_similarity(wide["goal"], wide[name], dim=0) for name in "ab"
    ]
    torch.testing.assert_close(found.alignments, torch.stack(expected), rtol=1e-4, atol=1e-6)
    assert found.target_norm == pytest.approx(float(wide["goal"].norm()), rel=1e-5)


def test_a_scaled_identity_does_not_overflow_half_precision():
    point = torch.zeros(4, dtype=torch.float16, requires_grad=True)
    losses = {"a": point.sum, "goal": lambda: torch.sum(20_000 * point)}
    found = measure([point], losses, alignment=CurvatureWeighted(Identity(scale=5.0)))
    assert float(found.alignments[0]) == pytest.approx(4 * 5 * 20_000)


def test_targets_are_combined_in_float32_or_better():
    """In bfloat16, 0.3 · 7 − 0.7 · 2.984375 is 0 and not 0.0109: the alignment is ten times off."""
    point = torch.zeros(2, dtype=torch.bfloat16, requires_grad=True)
    given = {"a": [1000.0, 1.0], "t": [7.0, 1.0], "u": [-2.984375, 1.0]}
    given = {name: torch.tensor(entries, dtype=torch.bfloat16) for name, entries in given.items()}
    found = hypergradient(
        [point],
        targets={"t": 0.3, "u": 0.7},
        weights=SourceWeights.of({"a": 1.0}),
        loss_of=lambda task: (point * given[task]).sum(),
        alignment=Cosine(),
    )
    combined = 0.3 * given["t"].double() + 0.7 * given["u"].double()
    expected = torch.nn.functional.cosine_similarity(combined, given["a"].double(), dim=0)
    assert float(found.alignments[0]) == pytest.approx(float(expected), rel=1e-3)


# Gradients that share memory, as autograd may hand them out


SOLVES = {
    "identity": Identity(scale=5.0),
    "conjugate gradient": ConjugateGradient(damping=0.5, tolerance=1e-12),
    "dense": Dense(damping=0.5),
}


@pytest.mark.parametrize("name", SOLVES)
def test_parameters_that_are_added_are_still_two(name):
    """The gradients by x and y of a function of x + y are one tensor, given out twice."""
    x, y = normal(3).requires_grad_(), normal(3, seed=1).requires_grad_()
    centre = normal(3, seed=2)
    losses = {
        "a": lambda: 0.5 * (x.square().sum() + y.square().sum()) + x.sum(),
        "goal": lambda: (x + y - centre).square().sum(),
    }
    found = measure([x, y], losses, alignment=CurvatureWeighted(SOLVES[name]))
    factor = 5.0 if name == "identity" else 1 / 1.5
    flat = [oracles.flat_gradient(losses[task](), [x, y]) for task in ("goal", "a")]
    torch.testing.assert_close(found.alignments[0], factor * flat[0] @ flat[1])


@pytest.mark.parametrize("name", SOLVES)
def test_a_loss_that_is_a_plain_sum_is_measured(name):
    """The gradient of x.sum() is one number in memory, expanded."""
    x = normal(3).requires_grad_()
    losses = {"a": lambda: 0.5 * x.square().sum(), "goal": lambda: torch.sum(x)}
    found = measure([x], losses, alignment=CurvatureWeighted(SOLVES[name]))
    factor = 5.0 if name == "identity" else 1 / 1.5
    torch.testing.assert_close(found.alignments[0], factor * x.detach().sum())


# No trace


class Restless(nn.Module):
    """Everything that a forward pass may disturb."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.still = nn.BatchNorm1d(4)
        self.frozen = nn.Parameter(torch.ones(4), requires_grad=False)
        self.register_buffer("calls", torch.zeros(()))
        self.register_buffer("last", None)

    def forward(self, inputs):
        hidden = self.norm(self.layer(inputs))
        self.calls = self.calls + 1  # replaces the buffer
        self.last = hidden.detach().mean(0)
        return self.still(self.drop(hidden)) * self.frozen


class Scene:
    """A model and heads part way through training, and losses that disturb all they can."""

    def __init__(self):
        torch.manual_seed(0)
        self.model = Restless()
        self.heads = nn.ModuleDict(
            {name: nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2)) for name in ("a", "b", "goal")}
        )
        for module in (self.model, self.heads):
            module.double()
        self.loss_of("a")  # statistics are no longer what they were born as
        for module in (self.model, self.heads):
            module.train()
        self.model.still.eval()
        self.heads["b"].eval()
        self.model.layer.weight.grad = torch.full_like(self.model.layer.weight, 3.0)
        self.heads["a"][0].bias.grad = torch.full_like(self.heads["a"][0].bias, 4.0)

    def loss_of(self, task):
        random.random()
        np.random.rand()  # noqa: NPY002 - the global stream is what is tested
        loss = self.heads[task](self.model(torch.randn(8, 3, **DOUBLE))).square().mean()
        self.model.train(not self.model.training)
        self.heads[task][1].train(not self.heads[task][1].training)
        return loss

    def look(self):
        """All that an update must leave as it was, to the bit and to the object."""
        name, keys, *rest = np.random.get_state()  # noqa: NPY002
        seen = {
            "torch": torch.get_rng_state().numpy().tobytes(),
            "python": random.getstate(),
            "numpy": (name, keys.tobytes(), *rest),
        }
        for path, module in nn.ModuleList([self.model, self.heads]).named_modules():
            if path:
                seen[path, "training"] = module.training
            for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
                seen[path, name] = bits(tensor)
                seen[path, name, "grad"] = None if tensor is None else bits(tensor.grad)
        return seen


def bits(tensor):
    if tensor is None:
        return None
    plain = tensor.detach().flatten().contiguous().view(torch.uint8)
    return id(tensor), tensor.dtype, tensor.requires_grad, plain.numpy().tobytes()


ALIGNMENTS = {
    "cosine": Cosine(),
    "identity": CurvatureWeighted(Identity(scale=5.0)),
    "conjugate gradient": CurvatureWeighted(ConjugateGradient(damping=1.0, iterations=3)),
}


def test_the_scene_does_disturb_everything():
    """Or the tests below would prove nothing."""
    scene = Scene()
    before = scene.look()
    scene.loss_of("a")
    after = scene.look()
    changed = {key for key in before if before[key] != after[key]}
    assert {"torch", "python", "numpy"} <= changed
    assert {("0.norm", "running_mean"), ("0.norm", "num_batches_tracked")} <= changed
    assert {("1.a.1", "running_var"), ("1.a.1", "num_batches_tracked")} <= changed
    assert {("0", "calls"), ("0", "last"), ("0.norm", "training"), ("1.a.1", "training")} <= changed


@pytest.mark.parametrize("as_module", [True, False])
@pytest.mark.parametrize("target_share", [None, "learned"])
@pytest.mark.parametrize("name", ALIGNMENTS)
def test_an_update_leaves_no_trace(name, target_share, as_module):
    scene = Scene()
    rule = UpdateRule(alignment=ALIGNMENTS[name], own_alignment="held-out")
    weighting = TargetAware(sources=["a", "b"], target="goal", target_share=target_share, rule=rule)
    before, start = scene.look(), weighting.weights.logs
    if as_module:
        weighting.update(scene.model, loss_of=scene.loss_of, touching=[scene.heads])
    else:
        modules = (module for module in (scene.model, scene.heads))
        weighting.update(scene.model.parameters(), loss_of=scene.loss_of, touching=modules)
    assert scene.look() == before
    assert not torch.equal(weighting.weights.logs, start)


@pytest.mark.parametrize("name", ALIGNMENTS)
@pytest.mark.parametrize("failing", ["goal", "b"])
def test_a_loss_that_raises_leaves_no_trace(name, failing):
    scene = Scene()
    weighting = TargetAware(
        sources=["a", "b"],
        target="goal",
        target_share=None,
        rule=UpdateRule(alignment=ALIGNMENTS[name]),
    )

    def loss_of(task):
        loss = scene.loss_of(task)
        if task == failing:
            raise OSError("the disk of this task is gone")
        return loss

    before, start = scene.look(), weighting.weights.logs
    with pytest.raises(OSError, match="disk"):
        weighting.update(scene.model, loss_of=loss_of, touching=[scene.heads])
    assert scene.look() == before
    assert torch.equal(weighting.weights.logs, start)
    assert weighting.history == []


@pytest.mark.parametrize("name", ALIGNMENTS)
def test_the_hypergradient_writes_neither_parameters_nor_grad(name):
    scene = Scene()
    before = scene.look()
    with untouched([scene.model, scene.heads]):
        hypergradient(
            trainable(scene.model),
            targets={"goal": 1.0},
            weights=SourceWeights.uniform(["a", "b"]),
            loss_of=scene.loss_of,
            alignment=ALIGNMENTS[name],
        )
    assert scene.look() == before


def test_a_head_that_is_not_named_is_not_restored():
    """`touching` is what restores it: without it the head's statistics move."""
    scene = Scene()
    before = scene.look()
    TargetAware(sources=["a"], target="goal", target_share=None).update(
        scene.model, loss_of=scene.loss_of
    )
    after = scene.look()
    assert after["1.a.1", "running_mean"] != before["1.a.1", "running_mean"]
    assert after["0.norm", "running_mean"] == before["0.norm", "running_mean"]


def test_dropout_draws_the_same_numbers_with_and_without_an_update():
    def next_draw(*, with_update):
        scene = Scene()
        if with_update:
            weighting = TargetAware(sources=["a", "b"], target="goal", target_share=None)
            weighting.update(scene.model, loss_of=scene.loss_of, touching=[scene.heads])
        return scene.model(torch.randn(8, 3, **DOUBLE))

    assert torch.equal(next_draw(with_update=True), next_draw(with_update=False))


@pytest.mark.parametrize("training", [True, False])
def test_a_graph_made_before_an_update_can_still_be_walked(training):
    """`loss = …; weights.update(…); loss.backward()` is a legal order."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).double().train(training)
    inputs, other = normal(8, 3), normal(8, 3, seed=1)
    (expected,) = torch.autograd.grad(model(inputs).square()[:4].mean(), [model[0].weight])
    pending = model(inputs).square()[:4].mean()
    weighting = TargetAware(sources=["a"], target="goal", target_share=None)
    weighting.update(model, loss_of=lambda task: model(other).square()[:4].mean())
    pending.backward()
    torch.testing.assert_close(model[0].weight.grad, expected)


def test_modules_seen_twice_are_restored_once():
    norm = nn.BatchNorm1d(2).double()
    with untouched([norm, nn.Sequential(norm)]):
        norm(normal(4, 2))
        norm.eval()
    assert norm.running_mean.tolist() == [0.0, 0.0]
    assert int(norm.num_batches_tracked) == 0
    assert norm.training
