"""The hypergradient against closed forms and against really solving again, in float64."""

import pytest
import torch
from torch import nn

from tawt.curvature import ConjugateGradient, Dense, Identity
from tawt.errors import ConfigError, TrainingError
from tawt.gradients import trainable
from tawt.hypergradient import Cosine, CurvatureWeighted, hypergradient
from tawt.simplex import mirror_step
from tawt.weights import SourceWeights
from tests import oracles

DOUBLE = {"dtype": torch.float64}


class QuadraticBilevel:
    """φ(ω) minimises Σ ω_t ½(φ − c_t)ᵀA_t(φ − c_t); the target is ½(φ − b)ᵀB(φ − b)."""

    def __init__(self, *, seed=0, size=8, sources=4):
        generator = torch.Generator().manual_seed(seed)

        def positive(*shape):
            roots = torch.randn(*shape, size, size, generator=generator, **DOUBLE)
            return roots @ roots.mT / size + 0.3 * torch.eye(size, **DOUBLE)

        self.inner, self.outer = positive(sources), positive()
        self.centres = torch.randn(sources, size, generator=generator, **DOUBLE)
        self.goal = torch.randn(size, generator=generator, **DOUBLE)
        self.weights = torch.rand(sources, generator=generator, **DOUBLE)
        self.weights /= self.weights.sum()
        self.names = [f"s{t}" for t in range(sources)]
        self.point = self.solution(self.weights).detach().requires_grad_()

    def solution(self, weights):
        matrix = (weights[:, None, None] * self.inner).sum(0)
        pull = (weights[:, None] * (self.inner @ self.centres[:, :, None]).squeeze(-1)).sum(0)
        return torch.linalg.solve(matrix, pull)

    def target_loss(self, point):
        return 0.5 * (point - self.goal) @ self.outer @ (point - self.goal)

    def loss_of(self, task):
        if task == "target":
            return self.target_loss(self.point)
        t = self.names.index(task)
        away = self.point - self.centres[t]
        return 0.5 * away @ self.inner[t] @ away

    def analytic(self):
        """The derivative of the target's loss through the closed form of φ(ω)."""
        weights = self.weights.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(self.target_loss(self.solution(weights)), weights)
        return gradient

    def ours(self, curvature):
        return hypergradient(
            [self.point],
            targets={"target": 1.0},
            weights=SourceWeights.of(dict(zip(self.names, self.weights.tolist(), strict=True))),
            loss_of=self.loss_of,
            alignment=CurvatureWeighted(curvature),
        ).values


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("curvature", "tolerance"),
    [
        (Dense(), 1e-8),
        (ConjugateGradient(damping=0.0, iterations=50, tolerance=1e-12), 1e-6),
    ],
    ids=["dense", "conjugate gradient"],
)
def test_quadratic_bilevel_matches_the_closed_form(seed, curvature, tolerance):
    problem = QuadraticBilevel(seed=seed)
    exact, ours = problem.analytic(), problem.ours(curvature)
    torch.testing.assert_close(ours, exact, rtol=tolerance, atol=tolerance)
    logs = problem.weights.log()
    torch.testing.assert_close(
        mirror_step(logs, ours, step_size=0.5), mirror_step(logs, exact, step_size=0.5)
    )


class TwoLayerBilevel:
    """A tanh layer shared by two sources and a target, each with a linear head of its own.

    A ridge term in every loss makes the inner minimum strict, so that φ(ω) is a function of ω.
    """

    inputs, hidden, ridge = 3, 2, 0.05

    def __init__(self, *, heads_follow):
        generator = torch.Generator().manual_seed(3)

        def normal(*shape):
            return torch.randn(*shape, generator=generator, **DOUBLE)

        self.heads_follow = heads_follow
        self.names = ["a", "b"]
        self.x = {name: normal(20, self.inputs) for name in ("a", "b", "target")}
        self.y = {name: normal(20) for name in ("a", "b", "target")}
        self.target_head, self.fixed_heads = normal(self.hidden), normal(2, self.hidden)
        self.weights = torch.tensor([0.35, 0.65], **DOUBLE)
        size = self.inputs * self.hidden + (2 * self.hidden if heads_follow else 0)
        self.start = oracles.newton(
            lambda flat: self.objective(flat, self.weights), self.descended(normal(size))
        )

    def descended(self, flat):
        """Near enough to a minimum (and not a saddle) for Newton's method."""
        flat = flat.clone().requires_grad_()
        optimiser = torch.optim.LBFGS([flat], max_iter=500, line_search_fn="strong_wolfe")

        def closure():
            optimiser.zero_grad()
            loss = self.objective(flat, self.weights)
            loss.backward()
            return loss

        optimiser.step(closure)
        return flat.detach()

    def split(self, flat):
        cut = self.inputs * self.hidden
        layer = flat[:cut].view(self.inputs, self.hidden)
        heads = flat[cut:].view(2, self.hidden) if self.heads_follow else self.fixed_heads
        return layer, heads

    def loss(self, name, layer, head):
        error = torch.tanh(self.x[name] @ layer) @ head - self.y[name]
        return error.square().mean() + self.ridge * (layer.square().sum() + head.square().sum())

    def objective(self, flat, weights):
        layer, heads = self.split(flat)
        losses = [self.loss(name, layer, heads[t]) for t, name in enumerate(self.names)]
        return (weights * torch.stack(losses)).sum()

    def outer(self, weights):
        """L_0(φ(ω), f_0) of OPT2, by solving the inner problem again from where we are."""
        flat = oracles.newton(lambda flat: self.objective(flat, weights), self.start)
        return float(self.loss("target", self.split(flat)[0], self.target_head))

    def finite_differences(self, width=1e-5):
        slopes = []
        for t in range(2):
            shift = torch.zeros(2, **DOUBLE)
            shift[t] = width
            rise = self.outer(self.weights + shift) - self.outer(self.weights - shift)
            slopes.append(rise / (2 * width))
        return torch.tensor(slopes, **DOUBLE)

    def ours(self, curvature):
        layer, heads = (part.detach().clone() for part in self.split(self.start))
        layer.requires_grad_()
        parameters = [layer]
        if self.heads_follow:
            heads.requires_grad_()
            parameters.append(heads)
        all_heads = {"a": heads[0], "b": heads[1], "target": self.target_head}
        return hypergradient(
            parameters,
            targets={"target": 1.0},
            weights=SourceWeights.of(dict(zip(self.names, self.weights.tolist(), strict=True))),
            loss_of=lambda task: self.loss(task, layer, all_heads[task]),
            alignment=CurvatureWeighted(curvature),
        ).values


@pytest.mark.parametrize("heads_follow", [False, True])
@pytest.mark.parametrize(
    "curvature", [Dense(), ConjugateGradient(damping=0.0, iterations=100, tolerance=1e-12)]
)
def test_two_layer_network_matches_solving_opt2_again(heads_follow, curvature):
    """Exact with the heads held, and with the heads among the parameters when they follow ω."""
    problem = TwoLayerBilevel(heads_follow=heads_follow)
    slopes = problem.finite_differences()
    assert slopes.abs().min() > 1e-3
    torch.testing.assert_close(problem.ours(curvature), slopes, rtol=1e-5, atol=1e-7)


def small_network(seed=0):
    torch.manual_seed(seed)
    encoder = nn.Sequential(nn.Linear(4, 6), nn.Tanh()).double()
    heads = {name: nn.Linear(6, 1).double() for name in ("a", "b", "t", "u")}
    data = {name: torch.randn(32, 4, **DOUBLE) for name in heads}

    def loss_of(task):
        return heads[task](encoder(data[task])).square().mean()

    return encoder, loss_of


def test_cosine_is_the_textbook_cosine():
    encoder, loss_of = small_network()
    parameters = trainable(encoder)
    target = oracles.flat_gradient(loss_of("t"), parameters)
    expected = [
        float(torch.nn.functional.cosine_similarity(target, g, dim=0))
        for g in (oracles.flat_gradient(loss_of(name), parameters) for name in ("a", "b"))
    ]
    found = hypergradient(
        parameters,
        targets={"t": 1.0},
        weights=SourceWeights.of({"a": 0.5, "b": 0.5}),
        loss_of=loss_of,
        alignment=Cosine(scale=30.0),
    )
    assert found.alignments.tolist() == pytest.approx(expected)
    assert found.values.tolist() == pytest.approx([-30 * value for value in expected])
    assert found.target_norm == pytest.approx(float(target.norm()))


@pytest.mark.parametrize("alignment", [Cosine(), CurvatureWeighted(Identity(scale=5.0))])
def test_several_targets_are_one_convex_combination(alignment):
    encoder, loss_of = small_network()
    shared = {
        "weights": SourceWeights.of({"a": 0.5, "b": 0.5}),
        "alignment": alignment,
    }
    several = hypergradient(
        trainable(encoder), targets={"t": 0.3, "u": 0.7}, loss_of=loss_of, **shared
    )
    mixed = hypergradient(
        trainable(encoder),
        targets={"mixed": 1.0},
        loss_of=lambda task: (
            0.3 * loss_of("t") + 0.7 * loss_of("u") if task == "mixed" else loss_of(task)
        ),
        **shared,
    )
    torch.testing.assert_close(several.alignments, mixed.alignments)


def test_the_target_against_itself_and_held_out():
    encoder, loss_of = small_network()
    draws = iter(["t", "u"])

    def drawing(task):
        return loss_of(next(draws) if task == "goal" else task)

    shared = {
        "targets": {"goal": 1.0},
        "weights": SourceWeights.of({"a": 0.5, "goal": 0.5}),
        "alignment": Cosine(),
    }
    itself = hypergradient(
        trainable(encoder),
        loss_of=lambda task: loss_of("t" if task == "goal" else task),
        own_alignment="itself",
        **shared,
    )
    assert float(itself.alignments[1]) == pytest.approx(1.0)
    held_out = hypergradient(
        trainable(encoder), loss_of=drawing, own_alignment="held-out", **shared
    )
    parameters = trainable(encoder)
    expected = torch.nn.functional.cosine_similarity(
        oracles.flat_gradient(loss_of("t"), parameters),
        oracles.flat_gradient(loss_of("u"), parameters),
        dim=0,
    )
    torch.testing.assert_close(held_out.alignments[1], expected)


@pytest.mark.parametrize("curvature", [Identity(scale=5.0), ConjugateGradient(damping=1.0)])
def test_own_alignment_survives_a_solve_that_reuses_memory(curvature):
    """⟨v, ∇L_0⟩ for the target itself needs the gradient as it was before the solve."""
    encoder, loss_of = small_network()
    arguments = {
        "targets": {"t": 1.0},
        "weights": SourceWeights.of({"a": 0.5, "t": 0.5}),
        "loss_of": loss_of,
        "alignment": CurvatureWeighted(curvature),
    }
    itself = hypergradient(trainable(encoder), own_alignment="itself", **arguments)
    again = hypergradient(trainable(encoder), own_alignment="held-out", **arguments)
    torch.testing.assert_close(itself.alignments, again.alignments)


def test_a_task_that_does_not_reach_the_representation_aligns_with_nothing():
    encoder, loss_of = small_network()
    alone = nn.Linear(2, 1).double()
    found = hypergradient(
        trainable(encoder),
        targets={"t": 1.0},
        weights=SourceWeights.of({"a": 0.5, "apart": 0.5}),
        loss_of=lambda task: (
            alone(torch.ones(3, 2, **DOUBLE)).mean() if task == "apart" else loss_of(task)
        ),
        alignment=Cosine(),
    )
    assert float(found.alignments[1]) == 0
    assert found.is_finite


def test_each_loss_is_asked_for_once_and_the_solve_is_shared():
    encoder, loss_of = small_network()
    asked = []

    def counting(task):
        asked.append(task)
        return loss_of(task)

    hypergradient(
        trainable(encoder),
        targets={"t": 1.0},
        weights=SourceWeights.of({"a": 0.5, "b": 0.25, "u": 0.25}),
        loss_of=counting,
        alignment=CurvatureWeighted(ConjugateGradient(damping=1.0)),
    )
    # The target once; each source once for the Hessian's graph and once for its own gradient.
    assert asked == ["t", "a", "b", "u", "a", "b", "u"]


def test_a_loss_that_is_not_a_scalar_is_refused():
    encoder, _ = small_network()
    with pytest.raises(TrainingError, match="must be a scalar"):
        hypergradient(
            trainable(encoder),
            targets={"t": 1.0},
            weights=SourceWeights.of({"a": 1.0}),
            loss_of=lambda task: encoder(torch.ones(2, 4, **DOUBLE)).sum(1),
            alignment=Cosine(),
        )


@pytest.mark.parametrize("make", [Cosine, lambda scale: CurvatureWeighted(Identity(), scale=scale)])
def test_scale_must_be_positive(make):
    with pytest.raises(ConfigError, match="must be positive"):
        make(scale=-1.0)
