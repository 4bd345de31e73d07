"""What every kind of task is made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from tawt.errors import ConfigError, DataError
from tawt.tasks import Task
from tawt.text.metrics import metric
from tawt.text.reading import LabelledText
from tawt.text.tokens import WholeTexts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from transformers import PreTrainedTokenizerFast

    from tawt.tasks import Kind
    from tawt.text.metrics import Metric
    from tawt.text.reading import Splits
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
class TaskOptions:
    """What the user says about a task beside its examples; all has defaults."""

    labels: Sequence[str] | None = None
    """In the order of the outputs; those of the training examples, sorted, by default."""
    metric: str | None = None
    """The score that counts."""
    positive: str | None = None
    """The label that `positive_f1` is about."""
    head: str | None = None
    """The name of the last layer that it shares with others."""


def last_layer(width: int, outputs: int) -> nn.Linear:
    """f_t, drawn as Hugging Face models draw theirs.

    Example:
        >>> last_layer(4, 2).bias.tolist()
        [0.0, 0.0]
    """
    layer = nn.Linear(width, outputs)
    nn.init.normal_(layer.weight, std=_DEVIATION)
    nn.init.zeros_(layer.bias)
    return layer


def chosen_labels(
    wanted: TaskOptions, found: Collection[str], *, task: str, called: str = "label"
) -> tuple[str, ...]:
    """The labels that are wanted, or by default those found, sorted.

    Args:
        wanted: What is said about the task.
        found: The labels of its training examples.
        task: Its name.
        called: What its labels are called.

    Raises:
        ConfigError: A label is wanted twice.
        DataError: One was found that is not wanted.

    Example:
        >>> chosen_labels(TaskOptions(labels=["yes", "no", "yes"]), ["no"], task="mood")
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: Task 'mood': `labels` names 'yes' twice; each label is one output.
    """
    labels = tuple(wanted.labels or sorted(found))
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ConfigError(
            f"Task {task!r}: `labels` names {twice!r} twice; each label is one output.",
            place=("data", "tasks", task, "labels"),
        )
    strange = sorted(set(found) - set(labels))
    if strange:
        raise DataError(
            f"Task {task!r} has the {called} {strange[0]!r}, which `labels` does not name."
        )
    return labels


def chosen_metric(
    name: str, *, kind: str, task: str, known: Mapping[str, Metric] | None = None
) -> str:
    """The name, if it is a score of that kind of task and more of it is better.

    Args:
        name: Of the metric.
        kind: The kind's name.
        task: The task's.
        known: The kind's metrics, where it brings its own.

    Example:
        >>> chosen_metric("mse", kind="regression", task="age")
        Traceback (most recent call last):
        ...
        tawt.errors.ConfigError: Task 'age': the metric 'mse' is an error, better when smaller; \
choose by r2.
    """
    try:
        found = metric(name, kind=kind, known=known)
    except ConfigError as error:
        raise error.inside("data", "tasks", task, saying=f"Task {task!r}: ") from error
    if found.best == "smallest":
        raise ConfigError(
            f"Task {task!r}: the metric {name!r} is an error, better when smaller; choose by r2.",
            place=("data", "tasks", task, "metric"),
        )
    return name


def whole_task(
    name: str,
    kind: Kind,
    splits: Splits,
    cutting: Cutting,
    *,
    answer: Callable[[LabelledText], float | Sequence[float]],
    dtype: type[np.number[Any]],
) -> Task:
    """A task whose texts, or pairs of them, have one answer each.

    Args:
        name: Of the task.
        kind: What kind of answer.
        splits: Its texts.
        cutting: How they become pieces.
        answer: A text's answer in numbers: the position of its label, or the number itself.
        dtype: Of the answers.
    """

    def build_examples(part: Sequence[object] | None) -> WholeTexts | None:
        if part is None:
            return None
        texts = [text for text in part if isinstance(text, LabelledText)]
        answers = np.array([answer(text) for text in texts], dtype)
        return WholeTexts(texts, answers, cutting.tokenizer, max_length=cutting.max_length)

    train = build_examples(splits.train)
    assert train is not None
    return Task(name, kind, train, build_examples(splits.dev), build_examples(splits.test))
