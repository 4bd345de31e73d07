"""LEEP and NCE: how well the target's labels follow from a source model's predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tawt.distance.transferability.inputs import as_classes, as_matrix, target_classes
from tawt.errors import DataError

if TYPE_CHECKING:
    from tawt.distance.transferability.inputs import Values

_SUM = 1e-2  # how far probabilities may be from a sum of one: what bfloat16 leaves of a softmax


def leep(source_probabilities: Values, labels: Values) -> float:
    """The log expected empirical prediction: a source model's predictions, read as labels.

    With θ_i(z) the source model's probability of its class z for the target's example i,

        P(y, z) = 1/n Σ θ_i(z) over the i labelled y,    P(y | z) = P(y, z) / Σ_y P(y, z)
        LEEP    = 1/n Σ_i log Σ_z P(y_i | z) θ_i(z)

    C. Nguyen, T. Hassner, M. Seeger, C. Archambeau: LEEP: A New Measure to Evaluate
    Transferability of Learned Representations, ICML 2020. A source class of which no example has
    any probability adds nothing; github.com/thuml/LogME divides by its zero. Rows are made to sum
    to one in float64, so that a softmax in half precision does not show in the score.

    Args:
        source_probabilities: θ, shape `(examples, source classes)`; each row sums to one.
        labels: The target's labels y, any whole numbers or names, shape `(examples,)`.

    Returns:
        At most 0, where every label follows for sure.

    Example:
        >>> sure = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
        >>> leep(sure, ["cat", "cat", "dog"]), round(leep(sure, ["cat", "dog", "dog"]), 4)
        (0.0, -0.4621)
    """
    given = as_matrix(source_probabilities, name="source_probabilities")
    classes = target_classes(labels, examples=given)
    sums = given.sum(dim=1, keepdim=True)
    if bool((given < 0).any()) or bool(((sums - 1).abs() > _SUM).any()):
        raise DataError(
            "`source_probabilities` must be a distribution for each example, not negative and "
            "summing to one; got something else: apply a softmax to logits first."
        )
    probabilities = given / sums
    joint = classes.sums(probabilities)
    marginal = joint.sum(dim=0)
    conditional = torch.where(marginal > 0, joint / marginal, 0.0)
    expected = (conditional[classes.codes] * probabilities).sum(dim=1)
    return float(expected.clamp(max=1).log().mean())


def nce(source_labels: Values, labels: Values) -> float:
    """Minus the conditional entropy of the target's labels given the source's.

        NCE = −H(Y | Z) = 1/n Σ_i log(n_zy / n_z)  at each example's z and y,

    in nats, with n_zy the number of examples that the source labels z and the target y.

    A. Tran, C. Nguyen, T. Hassner: Transferability and Hardness of Supervised Classification
    Tasks, ICCV 2019. There the examples have labels of both tasks; where they have not, the
    classes that a source model predicts are taken, as github.com/thuml/LogME does, whose sum is
    not a number where a pair does not occur. It is LEEP of a source model that is always certain.

    Args:
        source_labels: The source's labels z of the same examples, shape `(examples,)`.
        labels: The target's labels y, any whole numbers or names, shape `(examples,)`.

    Returns:
        Between −log of the number of the target's classes, and 0.

    Example:
        >>> nce(["x", "x", "y", "y"], [1, 1, 2, 2]), round(nce(["x"] * 4, [1, 1, 2, 2]), 4)
        (0.0, -0.6931)
    """
    sources = as_classes(source_labels, name="source_labels")
    classes = target_classes(labels, examples=sources.codes)
    pairs = as_classes(sources.codes * len(classes.counts) + classes.codes, name="pairs")
    shares = pairs.counts[pairs.codes] / sources.counts[sources.codes]
    return float(shares.log().mean())
