"""Every curvature against closed forms, in float64."""

import pytest
import torch

from tawt.curvature import ConjugateGradient, Dense, Identity, WeightedHessian
from tawt.errors import ConfigError

torch_double = {"dtype": torch.float64}


def quadratic_problem(seed=0, size=12, sources=3):
    """L_t = ½ (x − c_t)ᵀ A_t (x − c_t): H = Σ ω_t A_t whatever x is."""
    generator = torch.Generator().manual_seed(seed)
    roots = torch.randn(sources, size, size, generator=generator, **torch_double)
    matrices = roots @ roots.mT / size + 0.5 * torch.eye(size, **torch_double)
    centres = torch.randn(sources, size, generator=generator, **torch_double)
    weights = torch.rand(sources, generator=generator, **torch_double)
    weights = {f"s{t}": float(w) for t, w in enumerate(weights / weights.sum())}
    point = torch.randn(size, generator=generator, **torch_double).requires_grad_()

    def loss_of(task):
        t = int(task[1:])
        return 0.5 * (point - centres[t]) @ matrices[t] @ (point - centres[t])

    exact = sum(weights[f"s{t}"] * matrices[t] for t in range(sources))
    vector = torch.randn(size, generator=generator, **torch_double)
    return WeightedHessian([point], weights, loss_of), exact, vector


CONTRACT = {
    "dense": (lambda damping: Dense(damping=damping), 1e-8),
    "conjugate gradient": (
        lambda damping: ConjugateGradient(damping=damping, iterations=50, tolerance=1e-10),
        1e-6,
    ),
}


@pytest.mark.parametrize("damping", [0.0, 0.3])
@pytest.mark.parametrize("name", CONTRACT)
def test_solves_the_damped_system(name, damping):
    make, tolerance = CONTRACT[name]
    hessian, exact, vector = quadratic_problem()
    (ours,) = make(damping).solve([vector.clone()], hessian)
    expected = torch.linalg.solve(exact + damping * torch.eye(len(vector), **torch_double), vector)
    torch.testing.assert_close(ours, expected, rtol=tolerance, atol=tolerance)


def test_hessian_products_are_exact():
    hessian, exact, vector = quadratic_problem()
    torch.testing.assert_close(hessian.product([vector])[0], exact @ vector)


@pytest.mark.parametrize("damping", [0.0, 0.3])
def test_each_iteration_of_conjugate_gradient_is_the_best_of_its_krylov_space(damping):
    """After k of them, x minimises ½ xᵀ(H + λI)x − vᵀx over v, Hv, …, Hᵏ⁻¹v."""
    hessian, exact, vector = quadratic_problem()
    damped = exact + damping * torch.eye(len(vector), **torch_double)
    powers = [vector]
    for iterations in range(1, 7):
        space, _ = torch.linalg.qr(torch.stack(powers, dim=1))
        best = space @ torch.linalg.solve(space.T @ damped @ space, space.T @ vector)
        curvature = ConjugateGradient(damping=damping, iterations=iterations, tolerance=0.0)
        (found,) = curvature.solve([vector.clone()], hessian)
        torch.testing.assert_close(found, best, rtol=1e-7, atol=1e-9)
        powers.append(damped @ powers[-1])


def test_unreached_parameters_have_no_direction():
    x = torch.randn(3, requires_grad=True, **torch_double)
    y = torch.randn(2, requires_grad=True, **torch_double)
    hessian = WeightedHessian([x, y], {"a": 1.0}, lambda task: (x**2).sum())
    first, second = ConjugateGradient(damping=0.5).solve(
        [torch.ones(3, **torch_double), None], hessian
    )
    torch.testing.assert_close(first, torch.full((3,), 1 / 2.5, **torch_double))
    torch.testing.assert_close(second, torch.zeros(2, **torch_double))


def test_a_linear_loss_has_no_curvature():
    x = torch.randn(3, requires_grad=True)
    hessian = WeightedHessian([x], {"a": 1.0}, lambda task: x.sum())
    torch.testing.assert_close(hessian.product([torch.ones(3)])[0], torch.zeros(3))


def test_fused_attention_has_products_too():
    """Of the same numbers as attention written out."""
    generator = torch.Generator().manual_seed(0)
    x, vector = (torch.randn(2, 1, 5, 4, generator=generator, **torch_double) for _ in range(2))
    x.requires_grad_()

    def product(attention):
        hessian = WeightedHessian([x], {"a": 1.0}, lambda task: attention(x).square().sum())
        return hessian.product([vector])

    def written_out(x):
        return (x @ x.mT / x.shape[-1] ** 0.5).softmax(-1) @ x

    fused = torch.nn.functional.scaled_dot_product_attention
    torch.testing.assert_close(product(lambda x: fused(x, x, x)), product(written_out))


def test_sources_without_weight_are_not_evaluated():
    x = torch.randn(3, requires_grad=True)
    asked = []

    def loss_of(task):
        asked.append(task)
        return (x**2).sum()

    WeightedHessian([x], {"a": 1.0, "b": 0.0}, loss_of).product([torch.ones(3)])
    assert asked == ["a"]


def test_conjugate_gradient_stops_at_negative_curvature(caplog):
    x = torch.randn(2, requires_grad=True, **torch_double)
    hessian = WeightedHessian([x], {"a": 1.0}, lambda task: -(x**2).sum())
    vector = torch.tensor([1.0, 2.0], **torch_double)
    (kept,) = ConjugateGradient(damping=0.0).solve([vector.clone()], hessian)
    torch.testing.assert_close(kept, vector)
    assert "negative curvature" in caplog.text


def test_zero_gradient_gives_zero_direction():
    hessian, _, vector = quadratic_problem()
    for curvature in (ConjugateGradient(), Dense(), Identity(scale=2.0)):
        (direction,) = curvature.solve([torch.zeros_like(vector)], hessian)
        assert direction.abs().max() == 0


@pytest.mark.parametrize(
    "make",
    [
        lambda: Identity(scale=0.0),
        lambda: ConjugateGradient(damping=-1.0),
        lambda: ConjugateGradient(iterations=0),
    ],
)
def test_settings_out_of_range_are_refused(make):
    with pytest.raises(ConfigError, match=r"must be positive|needs"):
        make()


def test_dense_refuses_large_models():
    x = torch.zeros(20_001, requires_grad=True)
    hessian = WeightedHessian([x], {"a": 1.0}, lambda task: (x**2).sum())
    with pytest.raises(ConfigError, match="Use ConjugateGradient"):
        Dense().solve([torch.ones(20_001)], hessian)


@pytest.mark.parametrize("name", CONTRACT)
def test_half_precision_parameters_are_solved_for_in_float32(name):
    """The products are rounded to bf16 by the model itself; the solver must add nothing to that."""
    curvature = torch.tensor([1.0, 2.0, 4.0])
    x = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
    hessian = WeightedHessian([x], {"a": 1.0}, lambda task: (x**2 * curvature.bfloat16()).sum() / 2)
    vector = torch.tensor([1.0, 1.01, -3.0])
    (ours,) = CONTRACT[name][0](0.0).solve([vector.clone()], hessian)
    assert ours.dtype == torch.float32
    torch.testing.assert_close(ours, vector / curvature, rtol=0.01, atol=0.01)
