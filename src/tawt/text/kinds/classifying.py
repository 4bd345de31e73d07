"""A label for a text, or for a pair of texts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch.nn.functional as F  # noqa: N812 - the name everyone uses

from tawt.errors import DataError
from tawt.tasks.label_scores import LabelScore, label_scores
from tawt.text.kinds.making import (
    Cutting,
    TaskOptions,
    chosen_labels,
    chosen_metric,
    last_layer,
    whole_task,
)
from tawt.text.kinds.text_kind import ProblemType, TextAnswers, TextKind
from tawt.text.metrics import METRICS, positive_f1
from tawt.text.predicting.asking import Texts, labelled
from tawt.text.reading import labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn

    from tawt.tasks import Task
    from tawt.text.reading import Splits

_SHOWN = ("accuracy", "macro_f1", "matthews")


@dataclass(frozen=True)
class TextClassification(TextAnswers):
    """One of several labels for a whole text.

    Args:
        labels: The labels, in the order of the head's outputs.
        metric: "accuracy", "macro_f1", "matthews" or "positive_f1".
        positive: The label that "positive_f1" is about.
        unseen: Labels that only held-out examples have: never predicted, so always wrong.

    Example:
        >>> TextClassification(("no", "yes")).scores(["no", "yes"], ["no", "no"])["accuracy"]
        0.5
    """

    labels: tuple[str, ...]
    metric: str = "accuracy"
    positive: str | None = None
    unseen: tuple[str, ...] = ()
    has_usual_loss: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.labels:
            raise DataError("A classification task needs at least one label; got none.")

    @property
    def problem_type(self) -> ProblemType | None:
        """What the library calls it; of one label it wants no name."""
        return "single_label_classification" if len(self.labels) > 1 else None

    def head(self, width: int) -> nn.Module:
        """A linear layer with one output per label."""
        return last_layer(width, len(self.labels))

    def losses(self, outputs: Tensor, labels: Tensor) -> Tensor:
        """Cross-entropy of each text."""
        return F.cross_entropy(outputs, labels, reduction="none")

    def answers(self, outputs: Tensor, labels: Tensor) -> tuple[list[str], list[str]]:
        """Gold and most probable label of each text."""
        names = (*self.labels, *self.unseen)
        gold = [names[index] for index in labels.tolist()]
        return gold, [names[index] for index in outputs.argmax(dim=-1).tolist()]

    def scores(self, gold: Sequence[str], predicted: Sequence[str]) -> dict[str, float]:
        """Accuracy, macro F1, Matthews; F1 of the positive label if that is what counts."""
        found = {name: METRICS["classification"][name].score(gold, predicted) for name in _SHOWN}
        if self.positive is not None:
            found["positive_f1"] = positive_f1(gold, predicted, self.positive)
        return found

    def example_scores(self, gold: Sequence[str], predicted: Sequence[str]) -> list[float]:
        """One where the label is right, zero where it is not."""
        return [float(g == p) for g, p in zip(gold, predicted, strict=True)]

    def label_scores(self, gold: Sequence[str], predicted: Sequence[str]) -> dict[str, LabelScore]:
        """Of each label that occurs."""
        return label_scores(gold, predicted)


def classification_task(name: str, splits: Splits, cutting: Cutting, wanted: TaskOptions) -> Task:
    """A classification task from texts, or from pairs of them.

    Args:
        name: Of the task.
        splits: Its texts.
        cutting: How they become pieces.
        wanted: What is said about it.
    """
    labels = chosen_labels(wanted, labels_of(splits.train), task=name)
    parts = {"train": splits.train, "dev": splits.dev, "test": splits.test}
    found = {split: labels_of(part) for split, part in parts.items() if part}
    unseen = tuple(sorted({label for part in found.values() for label in part} - set(labels)))
    metric = chosen_metric(wanted.metric or "accuracy", kind="classification", task=name)
    positive = wanted.positive if wanted.positive is not None or metric != "positive_f1" else "1"
    if positive is not None and positive not in labels:
        raise DataError(
            f"Task {name!r} has no label {positive!r} to be the positive one; set `positive` to "
            f"one of {', '.join(labels[:20])}."
        )
    for split in ("dev", "test"):
        if positive is not None and positive not in found.get(split, labels):
            raise DataError(
                f"Task {name!r} has no {split} example of the positive label {positive!r}, so its "
                "F1 means nothing there; give some, or leave `positive` out and take macro_f1."
            )
    kind = TextClassification(labels, metric, positive, unseen)
    positions = {label: index for index, label in enumerate((*labels, *unseen))}
    return whole_task(
        name, kind, splits, cutting, answer=lambda text: positions[str(text.label)], dtype=np.int64
    )


CLASSIFICATION = TextKind(
    name="classification",
    reads="classification",
    level="text",
    make=classification_task,
    asking=partial(Texts, says=labelled),
)
PAIR = TextKind(
    name="pair",
    reads="pair",
    level="text",
    make=classification_task,
    asking=partial(Texts, says=labelled),
)
