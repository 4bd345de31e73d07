"""The model that text tasks share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.tasks import MultiTaskModel
from tawt.text.encoding import Level, TextRepresentation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.tasks import Task


def text_model(encoder: str, tasks: Sequence[Task]) -> MultiTaskModel:
    """An encoder, and a head for each task.

    Args:
        encoder: A hub name, a folder, or `package:NAME`.
        tasks: Sources and targets, of the kinds in `tawt.text.kinds`.

    Raises:
        ConfigError: The encoder cannot be had.
    """
    representation = TextRepresentation(encoder, levels={level_of(task) for task in tasks})
    heads = {task.name: task.kind.head(representation.widths[level_of(task)]) for task in tasks}
    return MultiTaskModel(representation, heads)


def level_of(task: Task) -> Level:
    """What the task's answers are about: words, or whole texts."""
    level: Level = getattr(task.kind, "level", "text")
    return level
