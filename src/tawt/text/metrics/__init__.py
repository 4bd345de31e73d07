"""How good predictions are: spans, tokens, labels and numbers."""

from tawt.modality.scoring import mae, mse, r2
from tawt.text.metrics.correlations import matthews, pearson, spearman
from tawt.text.metrics.registry import METRICS, Metric, metric
from tawt.text.metrics.spans import Reading, Span, sentence_span_f1, span_f1, spans
from tawt.text.metrics.tokens import (
    accuracy,
    macro_f1,
    positive_f1,
    token_accuracy,
    token_f1,
    token_macro_f1,
)

__all__ = [
    "METRICS",
    "Metric",
    "Reading",
    "Span",
    "accuracy",
    "macro_f1",
    "mae",
    "matthews",
    "metric",
    "mse",
    "pearson",
    "positive_f1",
    "r2",
    "sentence_span_f1",
    "span_f1",
    "spans",
    "spearman",
    "token_accuracy",
    "token_f1",
    "token_macro_f1",
]
