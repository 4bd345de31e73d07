"""Labels drawn from a model's own predictions, in place of the true ones.

The mean of g gᵀ over such labels is the Fisher information, which for these losses is the
Gauss-Newton matrix, a Hessian without its negative part. Over the true labels it is the "empirical
Fisher", which shrinks with the residuals and is no second derivative of anything.
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
    """Exchanges the labels that known loss functions are called with.

    Args:
        seed: Of the draws; no other random stream is touched.

    Example:
        >>> sure = torch.tensor([[9.0, 0.0], [0.0, 9.0]], requires_grad=True)
        >>> wrong = torch.tensor([1, 0])
        >>> OwnLabels(seed=0).exchanged(F.cross_entropy, (sure, wrong), {})[1]
        tensor([0, 1])
    """

    def __init__(self, *, seed: int) -> None:
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def exchanged(
        self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        """The arguments, with other labels if `func` is a loss of predictions and labels."""
        draw = _DRAWS.get(func)
        if draw is None or len(args) < 2:
            return args
        predictions, labels = args[:2]
        if not predictions.requires_grad or labels.requires_grad:
            return args
        with torch.no_grad():
            drawn = draw(predictions, labels, self._generator(predictions.device))
            if not labels.is_floating_point():
                ignored = labels == kwargs.get("ignore_index", -100)
                drawn = torch.where(ignored, labels, drawn)
        return predictions, drawn, *args[2:]

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


_DRAWS: dict[Callable[..., Any], Callable[[Tensor, Tensor, torch.Generator], Tensor]] = {
    F.cross_entropy: _classes,
    F.nll_loss: _classes,
    F.mse_loss: _numbers,
    F.binary_cross_entropy_with_logits: _yes_or_no,
}
