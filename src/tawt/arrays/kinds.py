"""Kinds of task whose examples are rows of an array with one answer each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from sklearn import metrics
from torch import Tensor, nn

from tawt.errors import DataError
from tawt.modality.scoring import mae, mse, r2
from tawt.tasks.kind import Kind
from tawt.tasks.label_scores import LabelScore, label_scores

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Classification(Kind):
    """One of several labels.

    Args:
        labels: The labels, in the order of the head's outputs.

    Example:
        >>> import torch
        >>> kind = Classification(("no", "yes"))
        >>> kind.losses(torch.zeros(2, 2), torch.tensor([0, 1])).round(decimals=4)
        tensor([0.6931, 0.6931])
        >>> kind.scores(["no", "yes"], ["no", "no"])["accuracy"]
        0.5
    """

    labels: tuple[str, ...]
    metric = "accuracy"
    has_usual_loss = True

    def __post_init__(self) -> None:
        if not self.labels:
            raise DataError("A classification task needs at least one label; got none.")

    def head(self, width: int) -> nn.Module:
        """A linear layer with one output per label."""
        return nn.Linear(width, len(self.labels))

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy of each example."""
        return F.cross_entropy(outputs, labels, reduction="none")

    def answers(self, outputs: Tensor, labels: Tensor) -> tuple[list[str], list[str]]:
        """Gold and most probable label of each example."""
        gold = [self.labels[index] for index in labels.tolist()]
        predicted = [self.labels[index] for index in outputs.argmax(dim=-1).tolist()]
        return gold, predicted

    def scores(self, gold: Sequence[str], predicted: Sequence[str]) -> dict[str, float]:
        """Accuracy, and F1 averaged over the labels that occur."""
        return {
            "accuracy": float(metrics.accuracy_score(gold, predicted)),
            "macro_f1": float(metrics.f1_score(gold, predicted, average="macro")),
        }

    def example_scores(self, gold: Sequence[str], predicted: Sequence[str]) -> list[float]:
        """One where the answer is right, zero where it is not."""
        return [float(g == p) for g, p in zip(gold, predicted, strict=True)]

    def label_scores(self, gold: Sequence[str], predicted: Sequence[str]) -> dict[str, LabelScore]:
        """Of each label that occurs."""
        return label_scores(gold, predicted)


@dataclass(frozen=True)
class Regression(Kind):
    """One number.

    Example:
        >>> Regression().scores([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])["mse"].__round__(4)
        0.3333
    """

    metric = "r2"
    has_usual_loss = True

    def head(self, width: int) -> nn.Module:
        """A linear layer with one output."""
        return nn.Linear(width, 1)

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """Squared error of each example."""
        return F.mse_loss(outputs.squeeze(-1), labels, reduction="none")

    def answers(self, outputs: Tensor, labels: Tensor) -> tuple[list[float], list[float]]:
        """Gold and predicted number of each example."""
        return labels.tolist(), outputs.squeeze(-1).float().tolist()

    def scores(self, gold: Sequence[float], predicted: Sequence[float]) -> dict[str, float]:
        """Explained variance r², mean squared and mean absolute error."""
        return {score.__name__: score(gold, predicted) for score in (r2, mse, mae)}

    def example_scores(self, gold: Sequence[float], predicted: Sequence[float]) -> list[float]:
        """Minus the squared error."""
        return [-((g - p) ** 2) for g, p in zip(gold, predicted, strict=True)]
