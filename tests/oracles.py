"""Slow, obvious answers in float64 that the fast code is held to."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import scipy.optimize
import torch
from torch import Tensor


def mirror_step_by_hand(
    weights: list[float], gradient: list[float], step_size: float
) -> list[float]:
    """Eq. mirror_descent as printed, entry by entry."""
    grown = [w * np.exp(-step_size * g) for w, g in zip(weights, gradient, strict=True)]
    return [w / sum(grown) for w in grown]


def bootstrap_by_hand(
    ours: list[list[float]], theirs: list[list[float]], draws: list[list[int]]
) -> tuple[float, float, float]:
    """p-value and interval of a paired bootstrap, in exact fractions and one draw at a time."""
    seeds, size = len(ours), len(ours[0])
    gaps = [
        sum(Fraction(ours[s][k]) - Fraction(theirs[s][k]) for s in range(seeds)) / seeds
        for k in range(size)
    ]
    means = [sum(gaps[k] for k in draw) / size for draw in draws]
    below, above = sum(mean <= 0 for mean in means), sum(mean >= 0 for mean in means)
    p_value = min(1.0, 2 * (1 + min(below, above)) / (1 + len(draws)))
    low, high = np.quantile([float(mean) for mean in means], [0.025, 0.975])
    return max(p_value, 2.0 ** (1 - size)), float(low), float(high)


def nearest_within_ratio(weights: np.ndarray, beta: float) -> np.ndarray:
    """The relative-entropy projection onto W_β by a general constrained solver."""
    size = len(weights)
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    solved = scipy.optimize.minimize(
        lambda w: float((w * np.log(w / weights)).sum()),
        np.full(size, 1 / size),
        jac=lambda w: np.log(w / weights) + 1,
        method="SLSQP",
        bounds=[(1e-12, 1)] * size,
        constraints=[
            {"type": "eq", "fun": lambda w: w.sum() - 1},
            {"type": "ineq", "fun": lambda w: np.array([beta * w[j] - w[i] for i, j in pairs])},
        ],
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return solved.x


def flat_gradient(loss: Tensor, parameters: list[Tensor]) -> Tensor:
    """∇ loss as one float64 vector, zeros where it does not reach."""
    grads = torch.autograd.grad(loss, parameters, allow_unused=True)
    return torch.cat(
        [
            torch.zeros(p.numel(), dtype=torch.float64) if g is None else g.flatten().double()
            for g, p in zip(grads, parameters, strict=True)
        ]
    )


def dense_hessian(loss, point: Tensor) -> Tensor:
    """∇² of a function of one flat vector."""
    return torch.autograd.functional.hessian(loss, point)


def newton(loss, start: Tensor, *, iterations: int = 60) -> Tensor:
    """A stationary point of a smooth function of one flat vector, to machine precision."""
    point = start.clone()
    for _ in range(iterations):
        moving = point.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(loss(moving), moving)
        step = torch.linalg.solve(dense_hessian(loss, point), gradient)
        point = point - step
        if step.norm() < 1e-13:
            break
    return point


def best_valid_tags(scores: list[list[float]], labels: list[str]) -> tuple[float, set[tuple]]:
    """The best score of all valid sequences in IOB2, every one of them looked at, and which it is.

    Sums are exact, so that sequences of the same score are all found.
    """
    best, found = Fraction(-(10**400)), set()
    for tags in itertools.product(range(len(labels)), repeat=len(scores)):
        names = ["O", *(labels[tag] for tag in tags)]
        pairs = itertools.pairwise(names)
        if all(tag[:2] != "I-" or was in (f"B-{tag[2:]}", tag) for was, tag in pairs):
            score = sum(Fraction(row[tag]) for row, tag in zip(scores, tags, strict=True))
            if score > best:
                best, found = score, set()
            if score == best:
                found.add(tags)
    return best, found
