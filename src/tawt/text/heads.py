"""Tasks whose labels mean the same learn one last layer together.

The layer has an output for every label that one of them has, in the order of their names. A task
sees the outputs of its own labels alone: its loss and its answers are over these, and a label that
only another task has is never predicted for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from tawt.errors import ConfigError
from tawt.tasks.heads import PartOfHead
from tawt.text.kinds.making import last_layer
from tawt.text.kinds.text_kind import TextAnswers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.tasks import Task

_OUTSIDE = "O"  # which all tags of spans have; alone it is nothing to share


def check_heads(tasks: Sequence[Task]) -> None:
    """Refuse a head that is shared by tasks whose labels have nothing in common.

    Args:
        tasks: Of one run.

    Raises:
        ConfigError: A task has no label of the other tasks that name the same head.
    """
    for head, sharing in _sharing(tasks).items():
        for task in sharing:
            own = _labels(task)
            others = {
                label for other in sharing if other is not task for label in _labels(other)
            } - {_OUTSIDE}
            if own and not others & set(own):
                raise ConfigError(
                    f"Task {task.name!r} names the head {head!r}, but has no label of the other "
                    f"tasks that do ({_shown(others)}); its own are {_shown(own)}. Give labels "
                    "that mean the same one name with `rename`, or leave `head` out.",
                    place=("data", "tasks", task.name, "head"),
                )


def have_the_same_labels(one: Task, other: Task) -> bool:
    """Whether two tasks label with the same names; a small one may not show all of them.

    Args:
        one: A task.
        other: Another, of the same kind.
    """
    ours, theirs = (set(_labels(task)) - {_OUTSIDE} for task in (one, other))
    return bool(ours & theirs) and (ours <= theirs or theirs <= ours)


def shared_heads(tasks: Sequence[Task], heads: Mapping[str, nn.Module]) -> dict[str, nn.Module]:
    """The heads of the tasks that share one.

    Tasks with the same labels in the same order have the same module; others have parts of a
    layer for the labels of all.

    Args:
        tasks: Of one run.
        heads: That each would have alone.

    Raises:
        ConfigError: Labels differ, and a head is not a linear layer with an output for each.
    """
    found: dict[str, nn.Module] = {}
    for sharing in _sharing(tasks).values():
        labels = {task.name: _labels(task) for task in sharing}
        if len(set(labels.values())) == 1:
            found |= dict.fromkeys(labels, heads[sharing[0].name])
        else:
            widths = [_width(task, heads[task.name]) for task in sharing]
            found |= _parts(labels, width=widths[0])
    return found


def _parts(labels: Mapping[str, Sequence[str]], *, width: int) -> dict[str, nn.Module]:
    """Of a layer that has an output for each label of any task."""
    union = sorted({label for each in labels.values() for label in each})
    layer = last_layer(width, len(union))
    return {
        name: PartOfHead(layer, [union.index(label) for label in own])
        for name, own in labels.items()
    }


def _sharing(tasks: Sequence[Task]) -> dict[str, list[Task]]:
    """By the name of the head, the tasks that share it, if there are several."""
    found: dict[str, list[Task]] = {}
    for task in tasks:
        if task.head is not None:
            found.setdefault(task.head, []).append(task)
    return {head: sharing for head, sharing in found.items() if len(sharing) > 1}


def _labels(task: Task) -> tuple[str, ...]:
    return task.kind.labels if isinstance(task.kind, TextAnswers) else ()


def _width(task: Task, head: nn.Module) -> int:
    if not isinstance(head, nn.Linear) or head.out_features != len(_labels(task)):
        raise ConfigError(
            f"The head of task {task.name!r} cannot be shared with a task that has other labels: "
            "only a linear layer with an output for each label can. Leave `head` out.",
            place=("data", "tasks", task.name, "head"),
        )
    return head.in_features


def _shown(labels: Sequence[str] | set[str]) -> str:
    names = sorted(set(labels) - {_OUTSIDE})
    return ", ".join(names[:5]) + (", …" if len(names) > 5 else "") or "none but O"
