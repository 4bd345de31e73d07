"""The weights ω on units, and the history of how they came about."""

from tawt.weights.findings import Finding, findings
from tawt.weights.history import WeightUpdate
from tawt.weights.kept import History
from tawt.weights.names import known_names
from tawt.weights.source_weights import Initial, SourceWeights

__all__ = [
    "Finding",
    "History",
    "Initial",
    "SourceWeights",
    "WeightUpdate",
    "findings",
    "known_names",
]
