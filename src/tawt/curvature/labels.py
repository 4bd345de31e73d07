"""Labels drawn from a model's own predictions, in place of the true ones.

The mean of g gᵀ over such labels is the Fisher information, which for these losses is the
Gauss-Newton matrix, a Hessian without its negative part. Over the true labels it is the "empirical
Fisher", which shrinks with the residuals and is no second derivative of anything.

A loss Σ s_i ℓ_i has the Gauss-Newton matrix Σ s_i E[∇ℓ_i ∇ℓ_iᵀ], but squares of its gradients have
s_i². So s_i, which is what comes back to a term, is replaced by its root. Terms can then count
what they like (a word in its sentence, a sentence in its batch), and those of one example need not
be told apart: labels drawn independently leave no products between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    _Counts = tuple[Tensor | float, Tensor | int]


class OwnLabels:
    """Computes known losses with labels of the model's own.

    Args:
        seed: Of the draws; no other random stream is touched.

    Example:
        >>> sure = torch.tensor([[9.0, 0.0], [0.0, 9.0]], requires_grad=True)
        >>> wrong = torch.tensor([1, 0])
        >>> loss = OwnLabels(seed=0).loss(F.cross_entropy, (sure, wrong), {})
        >>> round(loss.item(), 4), round(F.cross_entropy(sure, wrong).item(), 4)
        (0.0001, 9.0001)
    """

    def __init__(self, *, seed: int) -> None:
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def loss(
        self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Tensor | None:
        """What `func` returns with other labels, if it is a loss of predictions and labels.

        In its graph, gradients are those of terms that count the root of what they do, or of its
        size. Weights of classes and the like are the given labels', and labels are not smoothed,
        which changes a loss by something linear in the scores.
        """
        known = _KNOWN.get(func)
        legacy = kwargs.get("size_average") is not None or kwargs.get("reduce") is not None
        if known is None or legacy or len(args) < 2 or not torch.is_grad_enabled():
            return None
        predictions, labels = args[:2]
        if not predictions.requires_grad or labels.requires_grad:
            return None
        options = {"ignore_index": kwargs["ignore_index"]} if "ignore_index" in kwargs else {}
        drawn = self.drawn(func, predictions, labels, kwargs)
        terms: Tensor = func(predictions, drawn, reduction="none", **options)
        terms.register_hook(lambda count: count.abs().sqrt())  # type: ignore[no-untyped-call]
        counts, divisor = known.counts(labels, kwargs)
        reduction = kwargs.get("reduction", "mean")
        if reduction == "none":
            return terms * counts
        total = (terms * counts).sum()
        return total if reduction == "sum" else total / divisor

    def drawn(
        self,
        func: Callable[..., Any],
        predictions: Tensor,
        labels: Tensor,
        kwargs: Mapping[str, Any],
    ) -> Tensor:
        """Labels for a known loss, in place of these; places that are ignored stay so."""
        with torch.no_grad():
            found = _KNOWN[func].draw(predictions, labels, self._generator(predictions.device))
            if labels.is_floating_point():
                return found
            return torch.where(_is_label(labels, kwargs), found, labels)

    def _generator(self, device: torch.device) -> torch.Generator:
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        return self._generators[device]


def _classes(scores: Tensor, labels: Tensor, generator: torch.Generator) -> Tensor:
    """A class of each softmax; of logits and of log-probabilities alike."""
    classes = min(1, scores.dim() - 1)
    # The first to arrive of exponential waiting times is class c with its probability.
    waiting = torch.empty_like(scores, dtype=torch.float32).exponential_(generator=generator)
    drawn = (scores.float().softmax(classes) / waiting).argmax(classes)
    if labels.is_floating_point():  # shares of each class, not its number
        return F.one_hot(drawn, scores.shape[classes]).movedim(-1, classes).to(labels.dtype)
    return drawn


def _numbers(means: Tensor, labels: Tensor, generator: torch.Generator) -> Tensor:
    """Around the predictions with variance ½, of which the squared error is the log-likelihood."""
    noise = torch.randn(means.shape, generator=generator, device=means.device, dtype=means.dtype)
    return means + noise * math.sqrt(0.5)


def _yes_or_no(logits: Tensor, labels: Tensor, generator: torch.Generator) -> Tensor:
    drawn = torch.rand(logits.shape, generator=generator, device=logits.device)
    return (drawn < logits.sigmoid()).to(labels.dtype)


def _is_label(labels: Tensor, kwargs: Mapping[str, Any]) -> Tensor:
    """Of numbers of classes, which are not to be ignored."""
    ignored: int = kwargs.get("ignore_index", -100)
    return labels != ignored


def _counts_of_classes(labels: Tensor, kwargs: Mapping[str, Any]) -> _Counts:
    weight = kwargs.get("weight")
    if labels.is_floating_point():  # shares of each class, which need not add up to one
        classes = min(1, labels.dim() - 1)
        shares = labels.movedim(classes, -1)
        counts = (shares if weight is None else shares * weight).sum(-1)
        return counts, counts.numel()
    is_label = _is_label(labels, kwargs)
    if weight is None:
        return is_label, is_label.sum()
    counts = torch.where(is_label, weight[labels.where(is_label, 0)], 0)
    return counts, counts.sum()


def _counts_of_numbers(labels: Tensor, kwargs: Mapping[str, Any]) -> _Counts:
    weight = kwargs.get("weight")
    return (1.0, labels.numel()) if weight is None else (weight, weight.sum())


def _counts_of_yes_or_no(labels: Tensor, kwargs: Mapping[str, Any]) -> _Counts:
    weight, of_yes = kwargs.get("weight"), kwargs.get("pos_weight")
    counts = 1.0 if of_yes is None else of_yes * labels + (1 - labels)
    return counts * (1.0 if weight is None else weight), labels.numel()


@dataclass(frozen=True)
class _Loss:
    """A loss of `torch.nn.functional`: how labels are drawn for it, and what its terms count."""

    draw: Callable[[Tensor, Tensor, torch.Generator], Tensor]
    counts: Callable[[Tensor, Mapping[str, Any]], _Counts]
    """Of the given labels; and what a mean of the terms is divided by."""


_KNOWN: dict[Callable[..., Any], _Loss] = {
    F.cross_entropy: _Loss(_classes, _counts_of_classes),
    F.nll_loss: _Loss(_classes, _counts_of_classes),
    F.mse_loss: _Loss(_numbers, _counts_of_numbers),
    F.binary_cross_entropy_with_logits: _Loss(_yes_or_no, _counts_of_yes_or_no),
}
