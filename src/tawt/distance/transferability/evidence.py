"""LogME: how probable the labels are under a linear model of the features.

    LogME = max over α, β of  1/n log p(y | F, α, β),   y ~ N(0, I/β + F Fᵀ/α)

the mean over the targets y. `linear_model` says how it is found.

K. You, Y. Liu, J. Wang, M. Long: LogME: Practical Assessment of Pre-trained Models for Transfer
Learning, ICML 2021; the singular value decomposition is of their Ranking and Tuning Pre-trained
Models: A New Paradigm for Exploiting Model Hubs, JMLR 2022.

Where this differs from github.com/thuml/LogME:
- They stop after 11 steps, or once t moves by less than 0.1%, and evaluate the evidence with the
  residual of the step before; here it is the maximum, to rounding.
- With fewer examples than the width, their fixed point counts log α once for every column but
  subtracts log(α + β s²) only for the singular values (their pull request 24); here, as in their
  first version, the other columns cancel.
- The evidence has no maximum where features give the labels exactly. They add 1e-5 to both
  denominators; here the noise is at least `NOISE` of the target's mean square.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from tawt.distance.transferability.directions import directions, scaled
from tawt.distance.transferability.inputs import as_float64, as_matrix, target_classes
from tawt.distance.transferability.linear_model import Targets, largest_evidence
from tawt.errors import ConfigError, DataError

if TYPE_CHECKING:
    from tawt.distance.transferability.inputs import Values


def logme(features: Values, labels: Values) -> float:
    """The largest mean log evidence of the labels, given the features.

    Labels that are whole numbers or names are classes: each is a target of ones and zeros, and the
    score is their mean. Floating-point labels are the targets of a regression themselves; dividing
    those by c adds log c. There is no intercept, as in the paper; append a column of ones for one.
    Unchanged by rotating or scaling the features.

    Args:
        features: Shape `(examples, width)`.
        labels: Classes, shape `(examples,)`; or numbers in floating point, shape `(examples,)` or
            `(examples, targets)`.

    Returns:
        The logarithm of a density per example: higher is better, and it may be positive.

    Example:
        >>> features = torch.tensor([[1.0, 0.1], [0.9, -0.1], [0.1, 1.0], [-0.1, 0.9]])
        >>> good, bad = logme(features, [0, 0, 1, 1]), logme(features, [0, 1, 0, 1])
        >>> round(good, 3), round(bad, 3)
        (-0.34, -1.059)
        >>> round(logme(features, [1.0, 1.2, 0.1, -0.1]), 3)
        -0.541
    """
    matrix = as_matrix(features, name="features")
    if _is_floating(labels):
        return float(largest_evidence(_regression(matrix, labels)).mean())
    classes = target_classes(labels, examples=matrix)
    vectors, spectrum = _spectrum(matrix)
    sizes = (classes.counts / len(matrix)).sqrt()
    reached = (classes.sums(vectors) / sizes[:, None]) ** 2
    return float(largest_evidence(Targets(len(matrix), spectrum, reached, sizes)).mean())


def log_evidence(features: Values, targets: Values, *, alpha: float, beta: float) -> float:
    """1/n log p(y | F, α, β), the mean over targets: what LogME is the largest value of.

    Args:
        features: Shape `(examples, width)`.
        targets: Shape `(examples,)`, or `(examples, targets)`.
        alpha: α, the precision of the weights.
        beta: β, the precision of the noise.

    Example:
        >>> round(log_evidence([[0.0], [0.0]], [1.0, -1.0], alpha=1.0, beta=1.0), 4)  # N(0, 1)
        -1.4189
    """
    for name, value in {"alpha": alpha, "beta": beta}.items():
        if not 0 < value < math.inf:
            raise ConfigError(f"`{name}` must be positive and finite; got {value}.")
    matrix = as_matrix(features, name="features")
    scaled_targets = _regression(matrix, targets)
    largest = float(matrix.abs().max()) or 1.0  # by which features are divided before they are used
    precision = beta * scaled_targets.sizes**2
    ratio = torch.full_like(precision, alpha / beta / largest**2)
    return float(scaled_targets.evidence(ratio, precision).mean())


def _spectrum(matrix: Tensor) -> tuple[Tensor, Tensor]:
    features = scaled(matrix)
    vectors, values = directions(features, size=float(features.norm()))
    return vectors, values**2


def _regression(matrix: Tensor, targets: Values) -> Targets:
    columns = _columns(targets, examples=len(matrix)).to(matrix.device)
    vectors, spectrum = _spectrum(matrix)
    largest = columns.abs().amax(dim=0)
    sizes = largest * (columns / largest).square().mean(dim=0).sqrt()
    reached = (vectors.T @ (columns / sizes)).T ** 2
    return Targets(len(matrix), spectrum, reached, sizes)


def _columns(targets: Values, *, examples: int) -> Tensor:
    numbers = as_float64(targets, name="targets")
    columns = as_matrix(numbers[:, None] if numbers.ndim == 1 else numbers, name="targets")
    if len(columns) != examples:
        raise DataError(
            f"`targets` must have one row for each of the {examples} examples; got {len(columns)}."
        )
    if bool((columns == columns[0]).all(dim=0).any()):
        raise DataError("`targets` must vary, or there is nothing to predict; got a constant.")
    return columns


def _is_floating(labels: Values) -> bool:
    if isinstance(labels, Tensor):
        return labels.is_floating_point()
    return np.asarray(labels).dtype.kind == "f"
