"""A number for a text, or for a pair of texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from tawt.tasks import Regression
from tawt.text.kinds.making import Cutting, Wanted, chosen_metric, last_layer, whole_task
from tawt.text.kinds.text_kind import ProblemType, TextAnswers, TextKind
from tawt.text.metrics import METRICS
from tawt.text.predicting.asking import Texts, numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

    from tawt.tasks import Task
    from tawt.text.reading import Splits


@dataclass(frozen=True)
class TextRegression(Regression, TextAnswers):
    """One number for a whole text.

    Args:
        metric: "pearson", "spearman" or "r2".

    Example:
        >>> TextRegression().scores([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])["pearson"].__round__(6)
        1.0
    """

    metric: str = "pearson"
    labels: tuple[str, ...] = field(default=(), init=False, repr=False)

    @property
    def problem_type(self) -> ProblemType:
        """What the library calls it."""
        return "regression"

    def head(self, width: int) -> nn.Module:
        """A linear layer with one output."""
        return last_layer(width, 1)

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """Squared error of each text, in float32; answers keep the labels as they are given."""
        return super().losses(outputs, labels.float())

    def scores(self, gold: Sequence[float], predicted: Sequence[float]) -> dict[str, float]:
        """Correlations, explained variance and errors."""
        return {name: each.score(gold, predicted) for name, each in METRICS["regression"].items()}


def regression_task(name: str, splits: Splits, cutting: Cutting, wanted: Wanted) -> Task:
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
