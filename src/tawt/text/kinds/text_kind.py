"""What reading, training and predicting ask of a kind of text task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tawt.tasks import Task
    from tawt.text.encoding import Level
    from tawt.text.kinds.making import Cutting, Wanted
    from tawt.text.predicting.asking import Asking, Trained
    from tawt.text.reading import Splits, TaskKind


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
    make: Callable[[str, Splits, Cutting, Wanted], Task]
    """A task from its name and examples, how they are cut, and what is said about it. The task's
    `kind` has the head, the loss and the scores."""
    asking: Callable[[Trained], Asking]
    """How a trained model is asked, and what its answers are."""
    has_probabilities: bool = True
    """Whether its answers have any, for `tawt predict --probabilities`."""
