"""Losses through fitted heads, as the paper defines them.

L_t(φ) is the loss of the best head on φ, and its gradient is that of the loss through this head,
held as it is (the envelope theorem). A head in training is not the best one: while it learns what
most of its answers are, its task's gradient is about that and says nothing of the representation;
a task whose labels mean nothing then looks like one whose labels mean something. So every head is
fitted anew where a gradient is measured. Examples go through a head that was fitted on others: on
its own, a head has nothing left to ask for.

A head that was fitted on one label alone says the same of all vectors, and what is left of its
task's gradient is rounding. Of such tasks, the head in training is all there is to measure through.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from tawt.probes import Items, LinearHead, Probe, sureness
from tawt.tasks.heads import PartOfHead

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from torch import Tensor

    from tawt.tasks import MultiTaskModel, Task
    from tawt.tasks.examples import Examples

_RIDGE = 0.03  # decision 24
_STEPS = 25  # of L-BFGS; the ridge makes the problem easy
_ENOUGH = 48  # examples, half of which do to fit a head on
_APART = 1e-6  # beside their size: how far two numbers differ that are not one, rounded
_MOST_LOOKS = 10_000  # at labels; a task that has one alone among so many counts as one of one


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
    head = model.heads[task.name]
    if isinstance(head, PartOfHead):  # what is fitted is the task's own, whatever it shares
        return head.out_features
    layers = [m for m in head.modules() if list(m.parameters(recurse=False))]
    [layer] = layers if len(layers) == 1 else [None]
    return layer.out_features if isinstance(layer, nn.Linear) else None


def folds_of(examples: int) -> int:
    """Into how many folds so many examples are cut; of few, more is left to fit a head on.

    Example:
        >>> folds_of(64), folds_of(20), folds_of(3)
        (2, 5, 3)
    """
    return 2 if examples >= _ENOUGH else min(5, examples)


def can_fit(folds: Sequence[Items], beside: Items) -> bool:
    """Whether any head of `crossed_loss` would be fitted on two different labels.

    Example:
        >>> import torch
        >>> from tawt.probes import Items
        >>> folds = [Items(torch.randn(1, 4), torch.tensor([1])) for _ in range(3)]
        >>> nothing = Items.joined([])
        >>> can_fit(folds, nothing), can_fit(folds, Items(torch.randn(1, 4), torch.tensor([0])))
        (False, True)
    """
    return any(_has_two_labels(items) for items in _fitted_on(_with_items(folds), beside))


def is_enough(examples: Examples) -> bool:
    """Whether heads can be fitted on some of these for others of them.

    Example:
        >>> import numpy as np
        >>> from tawt.arrays import classification, regression
        >>> inputs = np.zeros((2, 3))
        >>> is_enough(classification("two", train=(inputs, np.array([0, 1]))).train)
        True
        >>> is_enough(regression("two", train=(inputs, np.array([0.0, 1.0]))).train)
        False
    """
    first = examples.label(0)
    if isinstance(first, float) and len(examples) < 3:  # numbers are fitted on others alone
        return False
    return place_of_other(examples, range(len(examples)), than=first) is not None


def place_of_other(examples: Examples, order: Iterable[int], *, than: Any) -> int | None:
    """Where in this order the first example is that has another label than a given one.

    None, if there is none, or none that can be found by looking at the first few thousand. What is
    not known of a label may be another.

    Args:
        examples: Labelled.
        order: Of their positions.
        than: A label, as the examples tell it; of several, the first.

    Example:
        >>> import numpy as np
        >>> from tawt.arrays import classification
        >>> train = classification("rare", train=(np.zeros((4, 3)), np.array([0, 0, 0, 1]))).train
        >>> usual = train.label(2)
        >>> place_of_other(train, [0, 3, 1], than=usual), place_of_other(train, [0, 1], than=usual)
        (1, None)
    """
    usual = _answers(than)[:1]
    for place, index in enumerate(islice(order, _MOST_LOOKS)):
        answers = _answers(examples.label(int(index)))
        if any(answer is None or [answer] != usual for answer in answers):
            return place
    return None


def _answers(label: Any) -> list[Any]:
    return list(label) if isinstance(label, list | tuple) else [label]


def crossed_loss(
    folds: Sequence[Items],
    own: Sequence[Items],
    *,
    classes: int,
    beside: Items | None = None,
) -> Tensor:
    """The sum of the items' losses, each through the head that was fitted on the other folds.

    Numbers are measured in one unit, the standard deviation of all of them: those of a few others
    would make some folds count many times as much as the rest.

    Args:
        folds: What heads are fitted on, without a graph; one alone, if there is one example. Some
            may have no items, but not all.
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
    losses = [
        head.losses(items.vectors, items.labels).sum()
        for head, items in _crossed(folds, own, classes=classes, beside=beside or Items.joined([]))
    ]
    if not losses:  # this process has no part in it
        return torch.zeros((), device=folds[0].vectors.device)
    return torch.stack(losses).sum()


def crossed_gains(folds: Sequence[Items], *, classes: int) -> Tensor:
    """By how much each item's loss is lower for knowing its vector, through others' heads.

    Of the loss of who knows how often each label comes (or the mean of all numbers) and no more.

    Example:
        >>> from tawt.probes import Items
        >>> points = torch.tensor([[-1.0], [1.0], [-1.0], [1.0]])
        >>> labels = torch.tensor([0, 1, 0, 1])
        >>> told = Items(points, labels)
        >>> crossed_gains([told, told], classes=2).mean() > 0.5
        tensor(True)
        >>> contrary = Items(points, 1 - labels)
        >>> crossed_gains([told, contrary], classes=2).mean() < 0.1
        tensor(True)
    """
    labels = Items.joined(folds).labels
    gains = []
    for head, items in _crossed(folds, folds, classes=classes, beside=Items.joined([])):
        if head.is_regression:
            blind = (items.labels - labels.mean()).square() / (2 * head.variance)
        else:
            shares = torch.bincount(labels.long()) / len(labels)
            blind = -shares[items.labels.long()].log()
        gains.append(blind - head.losses(items.vectors, items.labels))
    return torch.cat(gains)


def _crossed(
    folds: Sequence[Items], own: Sequence[Items], *, classes: int, beside: Items
) -> list[tuple[LinearHead, Items]]:
    """What there is of each fold's own items, and the head that was fitted on other folds."""
    own = [items for items, fold in zip(own, folds, strict=True) if len(fold)]
    folds = _with_items(folds)
    fitted_on = _fitted_on(folds, beside)
    regresses = fitted_on[0].is_regression
    if not regresses:  # labels that only held-out examples have come last
        classes = max(classes, *(items.classes for items in fitted_on))
    probes = [
        Probe.fitted(items, classes=classes, ridge=_RIDGE, steps=_STEPS) for items in fitted_on
    ]
    if regresses:
        variance = (Items.joined(folds) + beside).variance
        probes = [probe.in_units_of(variance) for probe in probes]
    sure = sureness(list(zip(probes, folds, strict=True)))
    return [
        (LinearHead.of(probe.scaled(sure), like=items.vectors), items)
        for probe, items in zip(probes, own, strict=True)
        if len(items)
    ]


def _with_items(folds: Sequence[Items]) -> list[Items]:
    return [fold for fold in folds if len(fold)]


def _has_two_labels(items: Items) -> bool:
    low, high = items.labels.min(), items.labels.max()
    if not items.is_regression:
        return bool(high > low)
    return bool(high - low > _APART * torch.maximum(high.abs(), low.abs()))


def _fitted_on(folds: Sequence[Items], beside: Items) -> list[Items]:
    """For each fold all others; where no label is in two of them, all of them."""
    whole = Items.joined(folds) + beside
    others = [Items.joined([*folds[:at], *folds[at + 1 :]]) + beside for at in range(len(folds))]
    if whole.is_regression and all(map(len, others)):
        return others
    pairs = zip(folds, others, strict=True)
    shared = any(torch.isin(fold.labels, rest.labels).any() for fold, rest in pairs if len(rest))
    return others if shared else [whole] * len(folds)
