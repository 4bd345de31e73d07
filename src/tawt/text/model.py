"""The model that text tasks share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.errors import DataError
from tawt.tasks import MultiTaskModel
from tawt.text.encoding import Level, TextRepresentation
from tawt.text.heads import shared_heads
from tawt.text.kinds.text_kind import TextAnswers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import nn

    from tawt.tasks import Task


def text_model(encoder: str, tasks: Sequence[Task]) -> MultiTaskModel:
    """An encoder, and a head for each task; one for all tasks of unlabelled text.

    Tasks that name the same head have parts of one.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.
        tasks: Sources and targets, of the kinds in `tawt.text.kinds`.

    Raises:
        ConfigError: The encoder cannot be had.
    """
    representation = TextRepresentation(encoder, levels={level_of(task) for task in tasks})
    heads: dict[str, nn.Module] = {}
    of_pieces: list[nn.Module] = []  # all predict the same vocabulary, from the same vectors
    for task in tasks:
        if level_of(task) == "pieces":
            of_pieces = of_pieces or [kind_of(task).head_on(representation)]
            heads[task.name] = of_pieces[0]
        else:
            heads[task.name] = kind_of(task).head_on(representation)
    heads |= shared_heads(tasks, heads)
    return MultiTaskModel(representation, heads)


def level_of(task: Task) -> Level:
    """What the task's answers are about: words, whole texts, or pieces."""
    return kind_of(task).level


def kind_of(task: Task) -> TextAnswers:
    """What kind of answer the task wants.

    Raises:
        DataError: It is no kind of text task.
    """
    if not isinstance(task.kind, TextAnswers):
        raise DataError(
            f"Task {task.name!r} is no task on text: its kind, {type(task.kind).__name__}, does "
            "not derive from `tawt.text.kinds.TextAnswers`."
        )
    return task.kind
