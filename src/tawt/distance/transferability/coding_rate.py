"""TransRate: how much shorter a code for the features is once the classes are known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import torch

from tawt.distance.transferability.inputs import as_matrix, target_classes
from tawt.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

    from tawt.distance.transferability.inputs import Values


def transrate(
    features: Values,
    labels: Values,
    *,
    epsilon: float = 1e-4,
    centre: Literal["mean", "class means"] = "mean",
) -> float:
    """The coding rate of the features, less that within the classes.

    With Z the centred features, Z_c those of class c's n_c examples,

        R(Z) = 1/2 log det(I + ZᵀZ / (n ε))
        TrR  = R(Z) − Σ_c n_c/n R(Z_c),

    in nats: an estimate of the mutual information of features and labels.

    L.-K. Huang, J. Huang, Y. Rong, Q. Yang, Y. Wei: Frustratingly Easy Transferability
    Estimation, ICML 2022. Classes count by their examples, as in github.com/Long-Kai/TransRate,
    so that it is never negative; the ten lines printed with the paper take the plain mean of the
    classes, the same where they are equally large. That repository also divides every example by
    its norm, before and after centring, and the rate by the rank; those ten lines do neither, nor
    is it done here. Unchanged by rotating or shifting the features but not by scaling them:
    features to be compared should be on one scale.

    Args:
        features: Shape `(examples, width)`.
        labels: Any whole numbers or names, shape `(examples,)`.
        epsilon: ε, the variance of the error that the code may make.
        centre: What is subtracted from Z_c. "mean", as published, is that of all examples. It
            cannot see two equally large classes apart, whose means are opposite: ZᵀZ is the same.
            "class means" subtracts each class's own, as that repository does with projected
            features, and as the entropy that the rate stands for allows.

    Example:
        >>> features = [[1.0, 0.1], [1.0, -0.1], [-1.0, 0.1], [-1.0, -0.1], [0.0, 3.0]]
        >>> round(transrate(features, ["a", "a", "b", "b", "c"], epsilon=0.1), 4)
        0.9598
        >>> round(transrate(features, ["a", "b", "b", "a", "c"], epsilon=0.1), 4)
        0.4909
    """
    if not 0 < epsilon < math.inf:
        raise ConfigError(f"`epsilon` must be positive and finite; got {epsilon}.")
    if centre not in {"mean", "class means"}:
        raise ConfigError(f'`centre` must be "mean" or "class means"; got {centre!r}.')
    matrix = as_matrix(features, name="features")
    classes = target_classes(labels, examples=matrix)
    centred = matrix - matrix.mean(dim=0)
    ends = classes.counts.long().cumsum(dim=0)[:-1].tolist()
    parts = centred[classes.codes.argsort(stable=True)].tensor_split(ends)
    if centre == "class means":
        parts = tuple(part - part.mean(dim=0) for part in parts)
    within = sum(len(part) * _coding_rate(part, epsilon) for part in parts) / len(matrix)
    return max(0.0, _coding_rate(centred, epsilon) - within)


def _coding_rate(rows: Tensor, epsilon: float) -> float:
    """By singular values: as exact for fewer rows than columns, and for features of any size."""
    logs = 2 * torch.linalg.svdvals(rows).log() - math.log(len(rows) * epsilon)
    return float(torch.logaddexp(logs, logs.new_zeros(())).sum()) / 2
