"""The first examples of a run, shown as they were read before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tawt.cli import console
from tawt.cli.shortening import largest, more

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tawt.tasks import Task

_OF_TARGET = 3


def show_first(tasks: Sequence[Task], targets: Collection[str]) -> None:
    """Three training examples of each target and one of each source, on standard error.

    Args:
        tasks: Those of the run; arrays are not shown. Of many sources the largest are.
        targets: Names of the targets.
    """
    shown_tasks = largest({task.name: len(task.train) for task in tasks}, always=targets)
    for task in tasks:
        if task.name not in shown_tasks:
            continue
        for index in range(min(len(task.train), _OF_TARGET if task.name in targets else 1)):
            if shown := task.train.preview(index):
                line = console.plain(f"{task.name}: {shown}")
                console.err.print(Text(line), soft_wrap=True)
    if len(shown_tasks) < len(tasks) and any(task.train.preview(0) for task in tasks):
        console.note(more(len(tasks) - len(shown_tasks)))
