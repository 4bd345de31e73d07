"""Losses through fitted heads, as the paper defines them.

L_t(φ) is the loss of the best head on φ, and its gradient is that of the loss through this head,
held as it is (the envelope theorem). A head in training is not the best one: while it learns what
most of its answers are, its task's gradient is about that and says nothing of the representation;
a task whose labels mean nothing then looks like one whose labels mean something. So every head is
fitted anew where a gradient is measured. Examples go through a head that was fitted on others: on
its own, a head has nothing left to ask for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from tawt.probes import Items, LinearHead, Probe, sureness

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from tawt.tasks import MultiTaskModel, Task

_RIDGE = 0.03  # decision 24
_STEPS = 25  # of L-BFGS; the ridge makes the problem easy
_ENOUGH = 48  # examples, half of which do to fit a head on


def outputs_to_fit(model: MultiTaskModel, task: Task) -> int | None:
    """How many outputs the task's head has, if it is a linear layer with the usual loss.

    Of other tasks, none: they are measured through the head that is in training.

    Example:
        >>> import numpy as np
        >>> from tawt.arrays import classification
        >>> from tawt.tasks import MultiTaskModel
        >>> task = classification("digits", train=(np.zeros((2, 3)), np.array([0, 1])))
        >>> outputs_to_fit(MultiTaskModel(nn.Identity(), {"digits": nn.Linear(3, 2)}), task)
        2
        >>> deep = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
        >>> outputs_to_fit(MultiTaskModel(nn.Identity(), {"digits": deep}), task)
    """
    if not task.kind.has_usual_loss:
        return None
    layers = [m for m in model.heads[task.name].modules() if list(m.parameters(recurse=False))]
    [layer] = layers if len(layers) == 1 else [None]
    return layer.out_features if isinstance(layer, nn.Linear) else None


def folds_of(examples: int) -> int:
    """Into how many folds so many examples are cut; of few, more is left to fit a head on.

    Example:
        >>> folds_of(64), folds_of(20), folds_of(3)
        (2, 5, 3)
    """
    return 2 if examples >= _ENOUGH else min(5, examples)


def crossed_loss(
    folds: Sequence[Items],
    own: Sequence[Items],
    *,
    classes: int,
    beside: Items | None = None,
) -> Tensor:
    """The sum of the items' losses, each through the head that was fitted on the other folds.

    Args:
        folds: What heads are fitted on, without a graph; one alone, if there is one example.
        own: Of each fold, what the loss is of, with its graph: all of it, or a process's part.
        classes: Outputs of the head, at least.
        beside: What all heads are fitted on as well.

    Example:
        >>> import math
        >>> from tawt.probes import Items
        >>> points = torch.tensor([[-1.0], [1.0], [-1.0], [1.0]])
        >>> told = Items(points, torch.tensor([0, 1, 0, 1]))
        >>> contrary = Items(points, torch.tensor([1, 0, 1, 0]))
        >>> alike = crossed_loss([told, told], [told, told], classes=2)
        >>> bool(alike < 8 * math.log(2) < crossed_loss([contrary] * 2, [told] * 2, classes=2))
        True
    """
    fitted_on = _fitted_on(folds, beside or Items.joined([]))
    if not fitted_on[0].is_regression:  # labels that only held-out examples have come last
        classes = max(classes, *(items.classes for items in fitted_on))
    probes = [
        Probe.fitted(items, classes=classes, ridge=_RIDGE, steps=_STEPS) for items in fitted_on
    ]
    sure = sureness(list(zip(probes, folds, strict=True)))
    losses = []
    for probe, items in zip(probes, own, strict=True):
        if len(items):
            head = LinearHead.of(probe.scaled(sure), like=items.vectors)
            losses.append(head.losses(items.vectors, items.labels).sum())
    return torch.stack(losses).sum()


def _fitted_on(folds: Sequence[Items], beside: Items) -> list[Items]:
    """For each fold all others; where no label is in two of them, all of them."""
    whole = Items.joined(folds) + beside
    others = [Items.joined([*folds[:at], *folds[at + 1 :]]) + beside for at in range(len(folds))]
    if whole.is_regression and len(folds) > 1:
        return others
    pairs = zip(folds, others, strict=True)
    shared = any(torch.isin(fold.labels, rest.labels).any() for fold, rest in pairs if len(rest))
    return others if shared else [whole] * len(folds)
