"""min over f of the risk of f∘φ: a linear head on frozen vectors, fitted to the end.

The definition of the task distance has L*(φ), the least risk that any head reaches on φ. A linear
head's problem is convex, so it is solved, by L-BFGS in float64 (where the device has it), with a
small ridge that makes the solution unique where there are fewer items than dimensions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor

from tawt.errors import DataError
from tawt.probes.items import OnPass, uncounted, widest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.probes.items import Items

_RIDGE = 1e-3
_STEPS = 200
_NEWTON = 12  # steps to one number
_LEAST_SURE, _SUREST = 0.01, 4.0  # times what it was fitted to be


@dataclass(frozen=True)
class Risk:
    """Mean loss on held-out items, each loss bounded by one."""

    zero_one: float | None
    """Share of wrong answers; none for regression."""
    clipped: float
    """Log-loss cut at twice that of a uniform guess, over that; for regression, squared error in
    the training labels' variances, cut at 4, over 4."""


@dataclass(frozen=True)
class Probe:
    """A fitted linear head.

    Example:
        >>> from tawt.probes import Items
        >>> points = torch.tensor([[-1.0], [-2.0], [1.0], [2.0]])
        >>> items = Items(points, torch.tensor([0, 0, 1, 1]))
        >>> Probe.fitted(items).risk(items).zero_one
        0.0
    """

    weight: Tensor
    bias: Tensor
    centre: Tensor
    """Of the training vectors."""
    spread: Tensor
    """Root mean square of the centred training vectors' entries."""
    variance: float
    """Of the training labels, for regression; 1 for classes."""
    is_regression: bool
    seen: Tensor
    """Which outputs have items among those it was fitted on; boolean."""

    @classmethod
    def fitted(
        cls,
        items: Items,
        *,
        classes: int | None = None,
        ridge: float = _RIDGE,
        steps: int = _STEPS,
        on_pass: OnPass = uncounted,
    ) -> Probe:
        """The head with the least ridge-regularised risk on these items.

        Args:
            items: To fit on.
            classes: How many there are; as many as the items have by default.
            ridge: Half of it times the squared weights is added to the mean loss.
            steps: Of L-BFGS, at most.
            on_pass: Told, of no pass, at every step, so that it can stop what takes long.

        Raises:
            DataError: There is nothing to fit on.
        """
        if len(items) == 0:
            raise DataError("A head cannot be fitted on no items.")
        vectors = items.vectors.to(widest(items.vectors.device))
        centre = vectors.mean(0)
        spread = (vectors - centre).square().mean().sqrt().clamp(min=1e-12)
        points = (vectors - centre) / spread
        if items.is_regression:
            return cls._ridge(points, items, centre, spread, ridge)
        outputs = max(classes or 0, items.classes)
        weight, bias = _logistic(points, items.labels, outputs, ridge, steps, on_pass)
        seen = torch.bincount(items.labels.long(), minlength=outputs) > 0
        return cls(weight, bias, centre, spread, 1.0, False, seen)

    @classmethod
    def _ridge(
        cls, points: Tensor, items: Items, centre: Tensor, spread: Tensor, ridge: float
    ) -> Probe:
        labels = items.labels.to(points)
        mean = labels.mean()
        gram = points.T @ points / len(points)
        gram += ridge * torch.eye(len(gram), dtype=gram.dtype, device=gram.device)
        weight = torch.linalg.solve(gram, points.T @ (labels - mean) / len(points))
        seen = torch.ones(1, dtype=torch.bool, device=points.device)
        return cls(weight[None], mean[None], centre, spread, items.variance, True, seen)

    def scaled(self, scale: float) -> Probe:
        """The same head, so many times as sure of its answers."""
        return replace(self, weight=self.weight * scale)

    def in_units_of(self, variance: float) -> Probe:
        """The same head, whose squared errors are divided by this variance."""
        return replace(self, variance=variance)

    def slopes(self, items: Items) -> tuple[Tensor, Tensor]:
        """Outputs less the bias, and labels, of the items whose label it was fitted for."""
        points = (items.vectors.to(self.centre) - self.centre) / self.spread
        slopes, labels = points @ self.weight.T, items.labels
        if self.is_regression:
            return slopes, labels.to(slopes)
        known = labels < len(self.seen)
        known &= self.seen[labels.clamp(max=len(self.seen) - 1).long()]
        return slopes[known], labels[known].long()

    def outputs(self, vectors: Tensor) -> Tensor:
        """Logits, or predictions, shape `(items, outputs)`."""
        points = (vectors.to(self.centre) - self.centre) / self.spread
        return points @ self.weight.T + self.bias

    def risk(self, items: Items) -> Risk:
        """On held-out items; labels that training never showed are always wrong."""
        outputs = self.outputs(items.vectors)
        if self.is_regression:
            errors = (outputs[:, 0] - items.labels.to(outputs)).square() / self.variance
            return Risk(None, float(errors.clamp(max=4).mean() / 4))
        known = items.labels < outputs.shape[1]
        wrong = outputs.argmax(-1) != items.labels
        cap = 2 * math.log(max(2, outputs.shape[1]))
        logs = outputs.log_softmax(-1)
        picked = logs.gather(1, items.labels.clamp(max=outputs.shape[1] - 1)[:, None].long())[:, 0]
        losses = torch.where(known, -picked, torch.full_like(picked, cap)).clamp(max=cap)
        return Risk(float(wrong.to(outputs).mean()), float(losses.mean() / cap))


def sureness(fits: Sequence[tuple[Probe, Items]]) -> float:
    """How sure heads should be of their answers, all alike: times what they were fitted to be.

    Where labels have nothing to do with vectors it is all but zero: there is still a direction in
    which the loss changes.

    Args:
        fits: Heads, each with items that it was not fitted on.

    Example:
        >>> from tawt.probes.items import Items
        >>> points = torch.tensor([[-1.0], [1.0], [-1.0], [1.0]])
        >>> probe = Probe.fitted(Items(points, torch.tensor([0, 1, 0, 1])))
        >>> sureness([(probe, Items(points, torch.tensor([0, 0, 1, 1])))])
        0.01
    """
    known = [(probe, *probe.slopes(items)) for probe, items in fits if len(items)]
    if not any(len(labels) for _, _, labels in known):
        return 1.0
    if known[0][0].is_regression:
        off = torch.cat([answers - probe.bias for probe, _, answers in known])
        slope = torch.cat([found[:, 0] for _, found, _ in known])
        scale = (slope * off).sum() / slope.square().sum()
        return float(scale.nan_to_num().clamp(_LEAST_SURE, _SUREST))
    slopes = torch.cat([found for _, found, _ in known])
    answers = torch.cat([labels for _, _, labels in known])
    biases = torch.cat([probe.bias.expand_as(found) for probe, found, _ in known])
    scale = slopes.new_ones(())
    for _ in range(_NEWTON):
        chances = (biases + scale * slopes).softmax(-1)
        means = (chances * slopes).sum(-1)
        first = (means - slopes.gather(1, answers[:, None])[:, 0]).sum()
        second = (chances * slopes.square()).sum() - means.square().sum()
        scale = (scale - first / second.clamp(min=1e-12)).clamp(_LEAST_SURE, _SUREST)
    return float(scale)


def _logistic(
    points: Tensor, labels: Tensor, classes: int, ridge: float, steps: int, on_pass: OnPass
) -> tuple[Tensor, Tensor]:
    weight = points.new_zeros(classes, points.shape[1]).requires_grad_()
    bias = points.new_zeros(classes).requires_grad_()
    optimiser = torch.optim.LBFGS(
        [weight, bias],
        max_iter=steps,
        history_size=10,
        tolerance_grad=1e-7,
        tolerance_change=1e-10,
        line_search_fn="strong_wolfe",
    )
    targets = labels.long()

    def closure() -> Tensor:
        optimiser.zero_grad()
        loss = F.cross_entropy(points @ weight.T + bias, targets)
        loss = loss + ridge / 2 * weight.square().sum()
        loss.backward()  # type: ignore[no-untyped-call]
        on_pass(0)
        return loss

    with torch.enable_grad():
        optimiser.step(closure)  # type: ignore[no-untyped-call]
    return weight.detach(), bias.detach()
