"""Nyström against dense algebra, in float64."""

import pytest
import torch

from tawt.curvature import Nystrom, WeightedHessian
from tawt.errors import ConfigError

DOUBLE = {"dtype": torch.float64}


def matrix(seed, eigenvalues):
    """A symmetric matrix with these eigenvalues, along random directions."""
    generator = torch.Generator().manual_seed(seed)
    size = len(eigenvalues)
    basis, _ = torch.linalg.qr(torch.randn(size, size, generator=generator, **DOUBLE))
    return basis @ torch.diag(torch.as_tensor(eigenvalues, **DOUBLE)) @ basis.T


def solved(exact, vector, **settings):
    """Of the quadratic form, cut into two parameters."""
    point = [torch.zeros(n, requires_grad=True, **DOUBLE) for n in (5, len(vector) - 5)]

    def loss_of(task):
        x = torch.cat(point)
        return x @ exact @ x / 2

    hessian = WeightedHessian(point, {"a": 1.0}, loss_of)
    return torch.cat(
        Nystrom(**settings).solve(list(vector.clone().split([5, len(vector) - 5])), hessian)
    )


def damped(exact, vector, damping):
    return torch.linalg.solve(exact + damping * torch.eye(len(vector), **DOUBLE), vector)


def vector_of(size=12):
    return torch.randn(size, generator=torch.Generator().manual_seed(9), **DOUBLE)


SPECTRA = {
    "spread": torch.logspace(-3, 1, 12),
    "with a null space": [0.0, 0.0, 0.0, *torch.linspace(0.5, 4, 9).tolist()],
    "zero": [0.0] * 12,
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("damping", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_at_full_rank_it_is_the_damped_inverse(spectrum, damping, seed):
    exact, vector = matrix(seed, SPECTRA[spectrum]), vector_of()
    found = solved(exact, vector, rank=12, damping=damping)
    torch.testing.assert_close(found, damped(exact, vector, damping), rtol=1e-5, atol=1e-6)


def test_a_rank_beyond_the_parameters_is_full_rank():
    exact, vector = matrix(0, SPECTRA["spread"]), vector_of()
    found = solved(exact, vector, rank=50, damping=0.1)
    torch.testing.assert_close(found, damped(exact, vector, 0.1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_hessian_of_low_rank_needs_no_more(seed):
    exact, vector = matrix(seed, [0.0] * 36 + [1.0, 2.0, 5.0, 9.0]), vector_of(40)
    found = solved(exact, vector, rank=4, damping=0.1)
    torch.testing.assert_close(found, damped(exact, vector, 0.1), rtol=1e-6, atol=1e-8)


def test_what_is_missed_counts_as_the_mean_of_the_rest():
    """As if it were zero, directions that were missed would drown the others."""
    exact, vector = matrix(0, [1.0] * 196 + [1e3, 2e3, 3e3, 4e3]), vector_of(200)
    found = solved(exact, vector, rank=8, damping=1e-6)
    expected = damped(exact, vector, 1e-6)
    assert 0.5 < found.norm() / expected.norm() < 2  # else it would be a million
    assert torch.nn.functional.cosine_similarity(found, expected, dim=0) > 0.95


def test_more_rank_is_closer():
    exact, vector = matrix(1, torch.logspace(-2, 2, 60)), vector_of(60)
    expected = damped(exact, vector, 0.1)
    errors = [
        float((solved(exact, vector, rank=rank, damping=0.1) - expected).norm())
        for rank in (5, 30, 60)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-4 * errors[0]


@pytest.mark.parametrize("rank", [1, 5, 12])
@pytest.mark.parametrize("seed", range(5))
def test_negative_curvature_leaves_it_positive_and_bounded(seed, rank):
    exact = matrix(seed, torch.linspace(-3, 5, 12))
    vector = vector_of()
    found = solved(exact, vector, rank=rank, damping=0.1)
    assert vector @ found > 0
    assert found.norm() <= vector.norm() / 0.1 * (1 + 1e-6)


def test_only_negative_curvature_counts_as_flat():
    exact, vector = matrix(0, [-1.0] * 12), vector_of()
    torch.testing.assert_close(solved(exact, vector, rank=3, damping=0.5), vector / 0.5)


def test_another_seed_looks_elsewhere():
    exact, vector = matrix(0, SPECTRA["spread"]), vector_of()
    first, second = (solved(exact, vector, rank=3, seed=seed) for seed in (0, 1))
    assert not torch.allclose(first, second)


@pytest.mark.parametrize("settings", [{"rank": 0}, {"damping": 0.0}, {"damping": -1.0}])
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ConfigError, match="needs rank"):
        Nystrom(**settings)
