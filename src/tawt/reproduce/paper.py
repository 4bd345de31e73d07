"""What the paper printed: every number of its tables, kept as data."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

TASKS = ("pos", "chunking", "predicate", "ner")
"""In the paper's order."""
METRICS = {
    "pos": "accuracy",
    "chunking": "span F1",
    "predicate": "token F1",
    "ner": "span F1",
}
SCALES = (0.3, 1.0, 10.0, 30.0, 100.0)
"""c, of which the paper takes the best for weighted pre-training."""
SETTINGS: dict[str, Any] = {
    "encoder": "bert-base-cased",
    "seeds": 1,
    "epochs": 4,
    "batch_size": 32,
    "max_length": 128,
    "learning_rate": 5e-5,
    "gradient_examples": 64,
    "step_size": 1.0,
    "precision": "fp32",
    "sampling": "size",
    "guard": False,
}
"""Of all its experiments with encoders."""


@cache
def paper() -> dict[str, Any]:
    """All that was printed, by experiment.

    Example:
        >>> paper()["table-main"]["rows"]["single-task"][:2]
        [34.37, 43.05]
    """
    text = resources.files("tawt.reproduce").joinpath("paper.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def printed(experiment: str, row: str) -> list[float | None]:
    """The numbers of a table's row, its average last.

    Example:
        >>> printed("table-source-ratio", "upper bound")[-2:]
        [None, None]
    """
    found: list[float | None] = paper()[experiment]["rows"][row]
    return found


def is_significant(experiment: str, row: str, column: str) -> bool:
    """Whether the paper marks the number: p of a paired t-test below 0.001.

    Example:
        >>> is_significant("table-main", "weighted pre-training", "ner")
        True
    """
    marked: dict[str, list[str]] = paper()[experiment].get("p_below_0.001", {})
    return column in marked.get(row, [])
