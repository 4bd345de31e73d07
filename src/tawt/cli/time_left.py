"""Progress whose time left is measured from the work that was done since the command began."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.progress import (
    MofNCompleteColumn,
    ProgressColumn,
    TaskProgressColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from tawt.cli import console
from tawt.cli.pace import time_left

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import Progress, Task, TaskID

    from tawt import sweeps


class TimeLeft(ProgressColumn):
    """The time that the rest takes at the pace of all that was done so far.

    Rich's own column looks at the last steps alone, of which several may end at once where several
    processes work. What was there at the start, a field `before`, took no time now. Until something
    is done, the field `expected` is gone by, if there is one: an estimate of all of it in seconds.
    """

    def render(self, task: Task) -> Text:
        """Nothing is told before something is done or expected."""
        before = task.fields.get("before", 0)
        total = None if task.total is None else task.total - before
        left = time_left(task.elapsed, done=task.completed - before, total=total)
        expected = task.fields.get("expected")
        if left is None and expected is not None and task.elapsed is not None:
            left = max(0, round(expected - task.elapsed))
        told = "-:--:--" if left is None else str(timedelta(seconds=left))
        return Text(f"left {told}", style="progress.remaining")


@contextmanager
def measured_progress(*, quiet: bool) -> Iterator[Progress]:
    """A bar for work that is told in parts of a whole; lines elsewhere than on a terminal."""
    columns = TaskProgressColumn(), TimeElapsedColumn(), TimeLeft()
    with console.progress_bar(*columns, quiet=quiet) as bar:
        yield bar


@dataclass(frozen=True)
class RunsBar:
    """A bar of how many runs there are, told by a sweep."""

    bar: Progress
    task: TaskID

    def __call__(self, now: sweeps.Progress) -> None:
        """Show how many there are."""
        self.bar.update(self.task, completed=now.done, total=now.total, before=now.before)

    def expect(self, seconds: float) -> None:
        """Begin to count, with an estimate of how long all of it takes."""
        self.bar.reset(self.task, description="runs", expected=seconds)

    def describe(self, doing: str) -> None:
        """Say what is done before the runs."""
        self.bar.update(self.task, description=doing)


@contextmanager
def runs_progress(*, quiet: bool) -> Iterator[RunsBar]:
    """A bar of how many runs there are; lines elsewhere than on a terminal."""
    columns = MofNCompleteColumn(), TimeElapsedColumn(), TimeLeft()
    with console.progress_bar(*columns, quiet=quiet) as bar:
        yield RunsBar(bar, bar.add_task("runs", total=None))
