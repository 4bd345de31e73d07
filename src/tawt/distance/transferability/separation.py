"""H-score: how much of the features' variance lies between the classes.

With F the centred features and E[F|Y] the mean of each example's class,

    H   = tr(cov(F)⁻¹ cov(E[F|Y]))
    H_a = tr(cov_a(F)⁻¹ (1 − a) cov(E[F|Y])),   cov_a(F) = (1 − a) cov(F) + a tr(cov(F))/d I

Y. Bao and others: An Information-Theoretic Approach to Transferability in Task Transfer Learning,
ICIP 2019. S. Ibrahim, N. Ponomareva, R. Mazumder: Newer is Not Always Better: Rethinking
Transferability Metrics, Their Peculiarities, Stability and Performance, ECML PKDD 2022; their a is
the shrinkage of O. Ledoit and M. Wolf: A Well-Conditioned Estimator for Large-Dimensional
Covariance Matrices, 2004.

With F = U S Vᵀ and h_i the share of direction u_i that lies between the classes, both are sums
over directions, of h_i and of h_i (1−a)s_i² / ((1−a)s_i² + a mean s²): no covariance is formed.

Where this differs from published code:
- The pseudo-inverse of cov(F) there keeps values down to 1e-15 of the largest, most of which are
  rounding and make H grow with the width; here directions that rounding could have made are left
  out.
- For H_a, the code of the Transfer Learning Library divides cov(E[F|Y]) by n − 1 but cov_a(F) by
  n; here both are divided by n, which is n/(n − 1) less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.distance.transferability.directions import directions, scaled
from tawt.distance.transferability.inputs import as_matrix, target_classes

if TYPE_CHECKING:
    from torch import Tensor

    from tawt.distance.transferability.inputs import Classes, Values


def h_score(features: Values, labels: Values) -> float:
    """The H-score with cov(F) shrunk towards a multiple of the identity, as Ledoit and Wolf do.

    Directions of little variance count for less, so that it says something with few examples too.

    Args:
        features: Shape `(examples, width)`.
        labels: Any whole numbers or names, shape `(examples,)`.

    Example:
        >>> features = [[1.0, 0.0], [0.0, 0.0], [5.0, 1.0], [4.0, 1.0]]
        >>> round(h_score(features, ["a", "a", "b", "b"]), 4)
        0.8983
        >>> round(h_score(features, ["a", "b", "a", "b"]), 4)
        0.0983
    """
    centred, size, classes = _centred(features, labels)
    vectors, values = directions(centred, size=size)
    if len(values) == 0:
        return 0.0
    examples, width = centred.shape
    variances = values**2 / examples
    shrinkage = _ledoit_wolf(centred, variances)
    kept = (1 - shrinkage) * variances
    weights = kept / (kept + shrinkage * variances.sum() / width)
    return float(weights @ _between(vectors, classes))


def plain_h_score(features: Values, labels: Values) -> float:
    """The H-score of the sample covariance, tr(cov(F)⁻¹ cov(E[F|Y])) with the pseudo-inverse.

    Between 0 and the smaller of the rank and the number of classes less one. With no more examples
    than the width it is at that bound whatever the labels: use `h_score` then.
    Unchanged by rotating, scaling or shifting the features.

    Args:
        features: Shape `(examples, width)`.
        labels: Any whole numbers or names, shape `(examples,)`.

    Example:
        >>> features = [[0.0], [1.0], [4.0], [5.0]]
        >>> round(plain_h_score(features, ["a", "a", "b", "b"]), 4)
        0.9412
        >>> round(plain_h_score(features, ["a", "b", "a", "b"]), 4)
        0.0588
    """
    centred, size, classes = _centred(features, labels)
    vectors, _ = directions(centred, size=size)
    return float(_between(vectors, classes).sum())


def _centred(features: Values, labels: Values) -> tuple[Tensor, float, Classes]:
    matrix = as_matrix(features, name="features")
    classes = target_classes(labels, examples=matrix)
    matrix = scaled(matrix)
    return matrix - matrix.mean(dim=0), float(matrix.norm()), classes


def _between(vectors: Tensor, classes: Classes) -> Tensor:
    """Share of each direction that lies between the classes, shape `(rank,)`."""
    return (classes.sums(vectors) ** 2 / classes.counts[:, None]).sum(dim=0)


def _ledoit_wolf(centred: Tensor, variances: Tensor) -> float:
    """The optimal share of the identity, from the eigenvalues of the covariance that are not 0."""
    examples, width = centred.shape
    mean = variances.sum() / width
    distance = ((variances - mean) ** 2).sum() + (width - len(variances)) * mean**2
    fourth = centred.square().sum(dim=1).square().mean()
    error = (fourth - (variances**2).sum()).clamp(min=0) / examples
    return float((error / distance).clamp(max=1)) if distance > 0 else 0.0
