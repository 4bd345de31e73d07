"""What kind of answer a task wants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from torch import Tensor

from tawt.errors import DataError
from tawt.tasks.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from torch import nn

    from tawt.tasks.label_scores import LabelScore


class Kind(ABC):
    """What kind of answer a task wants: its head, its loss and its score."""

    metric: str
    """Which of `scores` is the one that counts."""
    measure: Measure = Measure()
    """How that score is read: in percent, higher being better, unless the kind says otherwise."""
    is_labelled: ClassVar[bool] = True
    """Whether examples have labels, by which a distance to the task can be measured."""
    has_usual_loss: ClassVar[bool] = False
    """Whether the loss is cross-entropy of a class, or squared error of a number, of a linear head:
    then an update may fit a head to measure through."""
    shares_head: ClassVar[bool] = False
    """Whether all tasks of the kind have the same head, so that a batch may be of several tasks."""

    @abstractmethod
    def head(self, width: int) -> nn.Module:
        """f_t: the last layer, from a representation of this width."""

    @abstractmethod
    def losses(self, outputs: Tensor, labels: Any) -> Tensor:
        """ℓ for each example, shape `(examples,)`; parts of it, where an example is in parts.

        Their sum over a batch is the sum over its examples either way.
        """

    @abstractmethod
    def answers(self, outputs: Tensor, labels: Any) -> tuple[list[Any], list[Any]]:
        """Gold and predicted answer of each example, as plain values."""

    @abstractmethod
    def scores(self, gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
        """All scores of a split, by name."""

    @abstractmethod
    def example_scores(self, gold: Sequence[Any], predicted: Sequence[Any]) -> list[float]:
        """One score per example, higher is better, for paired tests."""

    def label_scores(
        self, gold: Sequence[Any], predicted: Sequence[Any]
    ) -> Mapping[str, LabelScore]:
        """The scores of each label, by name; nothing where answers are no labels."""
        del gold, predicted
        return {}

    def items(self, vectors: Tensor, labels: Any) -> tuple[Tensor, Tensor]:
        """The vectors that have a label, and the labels: class numbers, or numbers to predict.

        A kind whose labels are no tensor with an entry per example says here which vector has
        which label; without that, the distance to its tasks cannot be measured.

        Args:
            vectors: What the representation makes of a batch.
            labels: Of that batch.

        Raises:
            DataError: The labels are no such tensor, and the kind does not say what they mean.
        """
        if not isinstance(labels, Tensor) or labels.shape != vectors.shape[:1]:
            raise DataError(
                f"A task of the kind {type(self).__name__} needs a method `items` that says which "
                "vector has which label, before its distance can be measured."
            )
        return vectors, labels
