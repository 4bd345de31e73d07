"""Progress whose time left is measured from the work that was done since the command began."""

from __future__ import annotations

from contextlib import contextmanager
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress, Task

    from tawt import sweeps


class TimeLeft(ProgressColumn):
    """The time that the rest takes at the pace of all that was done so far.

    Rich's own column looks at the last steps alone, of which several may end at once where several
    processes work. What was there at the start, a field `before`, took no time now.
    """

    def render(self, task: Task) -> Text:
        """Nothing is told before something is done."""
        before = task.fields.get("before", 0)
        total = None if task.total is None else task.total - before
        left = time_left(task.elapsed, done=task.completed - before, total=total)
        told = "-:--:--" if left is None else str(timedelta(seconds=left))
        return Text(f"left {told}", style="progress.remaining")


def time_left(elapsed: float | None, *, done: float, total: float | None) -> int | None:
    """In seconds, if it can be told.

    Example:
        >>> time_left(30.0, done=10, total=40)
        90
        >>> time_left(5.0, done=0, total=40) is None
        True
    """
    if elapsed is None or total is None or done <= 0:
        return None
    return round(elapsed * max(0.0, total - done) / done)


@contextmanager
def measured_progress(*, quiet: bool) -> Iterator[Progress]:
    """A bar for work that is told in parts of a whole; silent elsewhere than on a terminal."""
    columns = TaskProgressColumn(), TimeElapsedColumn(), TimeLeft()
    with console.progress_bar(*columns, quiet=quiet) as bar:
        yield bar


@contextmanager
def runs_progress(*, quiet: bool) -> Iterator[Callable[[sweeps.Progress], None]]:
    """A bar of how many runs there are, told by a sweep; silent elsewhere than on a terminal."""
    columns = MofNCompleteColumn(), TimeElapsedColumn(), TimeLeft()
    with console.progress_bar(*columns, quiet=quiet) as bar:
        shown = bar.add_task("runs", total=None)

        def tell(now: sweeps.Progress) -> None:
            bar.update(shown, completed=now.done, total=now.total, before=now.before)

        yield tell
