"""LEEP: how well the target's labels follow from a source model's predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch
from torch import Tensor

from tawt.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    Values: TypeAlias = Tensor | ArrayLike

_SUM = 1e-2  # how far probabilities may be from a sum of one: what bfloat16 leaves of a softmax


def leep(source_probabilities: Values, labels: Values) -> float:
    """The log expected empirical prediction: a source model's predictions, read as labels.

    With θ_i(z) the source model's probability of its class z for the target's example i,

        P(y, z) = 1/n Σ θ_i(z) over the i labelled y,    P(y | z) = P(y, z) / Σ_y P(y, z)
        LEEP    = 1/n Σ_i log Σ_z P(y_i | z) θ_i(z)

    C. Nguyen, T. Hassner, M. Seeger, C. Archambeau: LEEP: A New Measure to Evaluate
    Transferability of Learned Representations, ICML 2020. A source class of which no example has
    any probability adds nothing; github.com/thuml/LogME divides by its zero. Everything is computed
    in float64, and rows are made to sum to one there, so that a softmax in half precision does not
    show in the score.

    Higher is better, and only for comparing sources of the same target: the value also depends on
    the target's classes.

    Args:
        source_probabilities: θ, shape `(examples, source classes)`; each row sums to one.
        labels: The target's labels y, any whole numbers or names, shape `(examples,)`.

    Returns:
        At most 0, where every label follows for sure.

    Raises:
        DataError: If rows are no distributions, or labels are no classes, or only one.

    Example:
        >>> sure = [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
        >>> leep(sure, ["cat", "cat", "dog"]), round(leep(sure, ["cat", "dog", "dog"]), 4)
        (0.0, -0.4621)
    """
    probabilities = _distributions(source_probabilities)
    codes, count = _classes(labels, examples=len(probabilities))
    codes = codes.to(probabilities.device)
    joint = probabilities.new_zeros(count, probabilities.shape[1])
    joint.index_add_(0, codes, probabilities)
    marginal = joint.sum(dim=0)
    conditional = torch.where(marginal > 0, joint / marginal, 0.0)
    expected = (conditional[codes] * probabilities).sum(dim=1)
    return float(expected.clamp(max=1).log().mean())


def _distributions(values: Values) -> Tensor:
    """Rows that sum to one, in float64, on the device they came on unless it has no float64."""
    if isinstance(values, Tensor):
        values = values.detach()
        found = values.cpu().double() if values.device.type == "mps" else values.double()
    else:
        found = torch.from_numpy(np.array(values, dtype=np.float64))
    if found.ndim != 2 or 0 in found.shape or not bool(found.isfinite().all()):
        raise DataError(
            "`source_probabilities` must have a row of finite numbers for each example; got shape "
            f"{tuple(found.shape)}, or NaN or infinity among them."
        )
    sums = found.sum(dim=1, keepdim=True)
    if bool((found < 0).any()) or bool(((sums - 1).abs() > _SUM).any()):
        raise DataError(
            "`source_probabilities` must be a distribution for each example, not negative and "
            "summing to one; got something else: apply a softmax to logits first."
        )
    return found / sums


def _classes(labels: Values, *, examples: int) -> tuple[Tensor, int]:
    """The class of each example, numbered in the order of their names, and how many there are."""
    names = np.asarray(labels.detach().cpu() if isinstance(labels, Tensor) else labels)
    if names.shape != (examples,):
        raise DataError(
            f"`labels` must have one label for each of the {examples} examples; got shape "
            f"{names.shape}."
        )
    if names.dtype.kind == "f" and not (np.isfinite(names) & (names == np.trunc(names))).all():
        raise DataError("`labels` must be classes: whole numbers or names; got other numbers.")
    found, codes = np.unique(names, return_inverse=True)
    if len(found) < 2:
        raise DataError(
            "`labels` must have at least two classes, or there is nothing to tell apart; got one."
        )
    return torch.from_numpy(codes), len(found)
