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
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


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

        In its graph, gradients are those of terms that count the root of what they do.
        """
        if func not in _DRAWS or len(args) < 2:
            return None
        predictions, labels = args[:2]
        if not predictions.requires_grad or labels.requires_grad:
            return None
        drawn = self.drawn(func, predictions, labels, kwargs)
        terms: Tensor = func(predictions, drawn, *args[2:], **{**kwargs, "reduction": "none"})
        terms.register_hook(lambda count: count.abs().sqrt())  # type: ignore[no-untyped-call]
        reduction = kwargs.get("reduction", "mean")
        if reduction == "none":
            return terms
        return terms.sum() if reduction == "sum" else terms.sum() / _divisor(terms, drawn, kwargs)

    def drawn(
        self,
        func: Callable[..., Any],
        predictions: Tensor,
        labels: Tensor,
        kwargs: Mapping[str, Any],
    ) -> Tensor:
        """Labels for a known loss, in place of these; places that are ignored stay so."""
        with torch.no_grad():
            found = _DRAWS[func](predictions, labels, self._generator(predictions.device))
            if labels.is_floating_point():
                return found
            return torch.where(labels == kwargs.get("ignore_index", -100), labels, found)

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


def _divisor(terms: Tensor, labels: Tensor, kwargs: Mapping[str, Any]) -> Tensor | int:
    """What a mean of these terms is divided by: their number, or the weights of their classes."""
    if labels.is_floating_point():
        return terms.numel()
    kept = labels[labels != kwargs.get("ignore_index", -100)]
    weight = kwargs.get("weight")
    return kept.numel() if weight is None else weight[kept].sum()


_DRAWS: dict[Callable[..., Any], Callable[[Tensor, Tensor, torch.Generator], Tensor]] = {
    F.cross_entropy: _classes,
    F.nll_loss: _classes,
    F.mse_loss: _numbers,
    F.binary_cross_entropy_with_logits: _yes_or_no,
}
