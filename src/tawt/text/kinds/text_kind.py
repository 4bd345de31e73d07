"""What training, saving, reading and predicting ask of a kind of text task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from tawt.tasks import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import nn

    from tawt.tasks import Task
    from tawt.text.encoding import Level, TextRepresentation
    from tawt.text.kinds.making import Cutting, TaskOptions
    from tawt.text.predicting.asking import TaskPredictor, TextModelDetails
    from tawt.text.reading import Splits, TaskKind


ProblemType: TypeAlias = Literal[
    "regression", "single_label_classification", "multi_label_classification"
]
"""What transformers calls a model that answers for whole texts."""


class TextAnswers(Kind):
    """What kind of answer a text task wants: beside head, loss and score, what it is about."""

    labels: tuple[str, ...]
    """A name for each output of the head; none where the one output is a number."""
    unseen: tuple[str, ...] = ()
    """Labels that only held-out examples have: never predicted, so always wrong."""
    level: ClassVar[Level] = "text"
    """What the encoder gives a vector for: the whole text, or every one of its words."""

    @property
    def problem_type(self) -> ProblemType | None:
        """What transformers calls such a model, for those who load it without tawt."""
        return None

    def head_on(self, representation: TextRepresentation) -> nn.Module:
        """f_t on a representation: by default one that needs to know its width alone.

        Args:
            representation: Made for the kind's level.
        """
        return self.head(representation.widths[self.level])


@dataclass(frozen=True, kw_only=True)
class TextKind:
    """One kind of text task, from its files to its answers."""

    name: str
    """In a configuration."""
    reads: TaskKind
    """What its files hold, labelled or not: words with tags ("tagging"), a text with the name of a
    label ("classification"), two of them ("pair"), or one or two with a number ("regression")."""
    level: Level
    """What the encoder gives a vector for."""
    make: Callable[[str, Splits, Cutting, TaskOptions], Task]
    """A task from its name and examples, how they are cut, and what is said about it. The task's
    `kind` has the head, the loss and the scores."""
    asking: Callable[[TextModelDetails], TaskPredictor]
    """How a trained model is asked, and what its answers are."""
    has_probabilities: bool = True
    """Whether its answers have any, for `tawt predict --probabilities`."""
