"""The metrics by the names that configurations use.

A new metric is one function `(gold, predicted) -> float` over a whole split, and one entry here,
under the kinds of task that it is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from tawt.errors import ConfigError, suggestion
from tawt.modality.scoring import mae, mse, r2
from tawt.text.metrics.correlations import matthews, pearson, spearman
from tawt.text.metrics.spans import span_f1
from tawt.text.metrics.tokens import (
    accuracy,
    macro_f1,
    positive_f1,
    token_accuracy,
    token_f1,
    token_macro_f1,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Metric:
    """A score of a whole split.

    Example:
        >>> Metric(accuracy).score(["a", "b"], ["a", "a"])
        0.5
    """

    score: Callable[[Sequence[Any], Sequence[Any]], float]
    """Of gold and predicted answers: tags of each sentence, labels, or numbers."""
    best: Literal["largest", "smallest"] = "largest"
    """Which value to choose by: errors are better when smaller."""


def _strict_span_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    return span_f1(gold, predicted, reading="strict")["f1"]


def _conlleval_span_f1(gold: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    return span_f1(gold, predicted, reading="conlleval")["f1"]


METRICS: Mapping[str, Mapping[str, Metric]] = {
    "tagging": {
        "accuracy": Metric(token_accuracy),
        "span_f1": Metric(_strict_span_f1),
        "span_f1_conlleval": Metric(_conlleval_span_f1),
        "token_f1": Metric(token_f1),
        "macro_f1": Metric(token_macro_f1),
    },
    "classification": {
        "accuracy": Metric(accuracy),
        "macro_f1": Metric(macro_f1),
        "matthews": Metric(matthews),
        "positive_f1": Metric(positive_f1),
    },
    "regression": {
        "pearson": Metric(pearson),
        "spearman": Metric(spearman),
        "r2": Metric(r2),
        "mse": Metric(mse, best="smallest"),
        "mae": Metric(mae, best="smallest"),
    },
}
"""For each kind of task, its metrics by name."""


def metric(name: str, *, kind: str, known: Mapping[str, Metric] | None = None) -> Metric:
    """The metric of that name for that kind of task.

    Args:
        name: Of the metric.
        kind: The kind's name.
        known: The kind's metrics, where they are not in `METRICS`.

    Raises:
        ConfigError: The kind of task has no such metric.

    Example:
        >>> metric("matthews", kind="classification").score(["a", "b"], ["a", "b"])
        1.0
        >>> metric("span_f1", kind="regression")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        tawt.errors.ConfigError: No metric 'span_f1' for regression; known: pearson, ... mae.
    """
    known = METRICS.get(kind, {}) if known is None else known
    if name not in known:
        raise ConfigError(
            f"No metric {name!r} for {kind}; {suggestion(name, known)}", place=("metric",)
        )
    return known[name]
