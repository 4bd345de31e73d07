"""What every kind of task is made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import nn

from tawt.errors import ConfigError
from tawt.text.metrics import metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedTokenizerFast

    from tawt.text.metrics import TaskKind
    from tawt.text.tokens import Long

_DEVIATION = 0.02  # what BERT and its descendants draw their last layer with


@dataclass(frozen=True, kw_only=True)
class Cutting:
    """How texts become pieces."""

    tokenizer: PreTrainedTokenizerFast
    """The encoder's."""
    max_length: int = 128
    """Most pieces to a row."""
    long: Long = "window"
    """What becomes of longer sentences: several rows that overlap, or their beginning."""
    overlap: int | None = None
    """Pieces that neighbouring rows share; a quarter of a row by default."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the user says about a task beside its examples; all has defaults."""

    labels: Sequence[str] | None = None
    """In the order of the outputs; those of the training examples, sorted, by default."""
    metric: str | None = None
    """The score that counts."""
    positive: str | None = None
    """The label that `positive_f1` is about."""


def last_layer(width: int, outputs: int) -> nn.Module:
    """f_t, drawn as Hugging Face models draw theirs.

    Example:
        >>> last_layer(4, 2).bias.tolist()
        [0.0, 0.0]
    """
    layer = nn.Linear(width, outputs)
    nn.init.normal_(layer.weight, std=_DEVIATION)
    nn.init.zeros_(layer.bias)
    return layer


def chosen_metric(name: str, *, kind: TaskKind, task: str) -> str:
    """The name, if it is a score of that kind of task and more of it is better.

    Example:
        >>> chosen_metric("mse", kind="regression", task="age")
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: Task 'age': the metric 'mse' is an error, better when smaller; \
choose by r2.
    """
    try:
        found = metric(name, kind=kind)
    except ConfigError as error:
        raise ConfigError(f"Task {task!r}: {error}") from error
    if found.best == "smallest":
        raise ConfigError(
            f"Task {task!r}: the metric {name!r} is an error, better when smaller; choose by r2."
        )
    return name
