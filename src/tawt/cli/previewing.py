"""The first examples of a run, shown as they were read before it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from tawt.cli import console
from tawt.text.reading import preview

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tawt.tasks import Task

_OF_TARGET = 3


def show_first(tasks: Sequence[Task], targets: Collection[str]) -> None:
    """Three training examples of each target and one of each source, on standard error.

    Args:
        tasks: Those of the run; arrays are not shown.
        targets: Names of the targets.
    """
    for task in tasks:
        train: Any = task.train
        examples = getattr(train, "sentences", None) or getattr(train, "texts", None) or []
        is_target = task.name in targets
        for example in examples[: _OF_TARGET if is_target else 1]:
            line = console.plain(f"{task.name}: {preview(example)}")
            console.err.print(Text(line), soft_wrap=True)
