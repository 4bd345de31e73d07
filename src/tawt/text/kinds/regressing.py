"""A number for a text, or for a pair of texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch.nn.functional as F  # noqa: N812 - the name everyone uses

from tawt.text.kinds.making import Cutting, TaskOptions, chosen_metric, last_layer, whole_task
from tawt.text.kinds.text_kind import ProblemType, TextAnswers, TextKind
from tawt.text.metrics import METRICS
from tawt.text.predicting.asking import Texts, numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

    from tawt.tasks import Task
    from tawt.text.reading import Splits


@dataclass(frozen=True)
class TextRegression(TextAnswers):
    """One number for a whole text.

    Args:
        metric: "pearson", "spearman" or "r2".

    Example:
        >>> TextRegression().scores([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])["pearson"].__round__(6)
        1.0
    """

    metric: str = "pearson"
    labels: tuple[str, ...] = field(default=(), init=False, repr=False)
    has_usual_loss: ClassVar[bool] = True

    @property
    def problem_type(self) -> ProblemType:
        """What the library calls it."""
        return "regression"

    def head(self, width: int) -> nn.Module:
        """A linear layer with one output."""
        return last_layer(width, 1)

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """Squared error of each text, in float32; answers keep the labels as they are given."""
        return F.mse_loss(outputs.squeeze(-1), labels.float(), reduction="none")

    def answers(self, outputs: Tensor, labels: Tensor) -> tuple[list[float], list[float]]:
        """Gold and predicted number of each text."""
        return labels.tolist(), outputs.squeeze(-1).float().tolist()

    def scores(self, gold: Sequence[float], predicted: Sequence[float]) -> dict[str, float]:
        """Correlations, explained variance and errors."""
        return {name: each.score(gold, predicted) for name, each in METRICS["regression"].items()}

    def example_scores(self, gold: Sequence[float], predicted: Sequence[float]) -> list[float]:
        """Minus the squared error."""
        return [-((g - p) ** 2) for g, p in zip(gold, predicted, strict=True)]


def regression_task(name: str, splits: Splits, cutting: Cutting, wanted: TaskOptions) -> Task:
    """A regression task from texts, or from pairs of them.

    Args:
        name: Of the task.
        splits: Its texts.
        cutting: How they become pieces.
        wanted: What is said about it.
    """
    kind = TextRegression(chosen_metric(wanted.metric or "pearson", kind="regression", task=name))
    return whole_task(
        name, kind, splits, cutting, answer=lambda text: float(text.label), dtype=np.float64
    )


REGRESSION = TextKind(
    name="regression",
    reads="regression",
    level="text",
    make=regression_task,
    asking=partial(Texts, says=numbered),
    has_probabilities=False,
)
