"""Progress where there is no terminal: a line now and then, for a log that somebody follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from tawt.cli.pace import time_left

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Task

_OFTEN = 10.0
"""Seconds that are between two lines at least, and before the first."""
_RARELY = 60.0
"""Seconds after which a line is due even where less than a tenth was done since the last."""


@dataclass
class ProgressLines:
    """Writes a line when another tenth is done, and now and then in between.

    Args:
        write: Takes a line.

    Example:
        >>> from rich.progress import Progress
        >>> clock = [0.0]
        >>> bar = Progress(get_time=lambda: clock[0], disable=True)
        >>> task, lines = bar.add_task("training", total=200), ProgressLines(print)
        >>> for clock[0], done in ((0.0, 0), (9.0, 45), (30.0, 50), (31.0, 90), (42.0, 92)):
        ...     bar.update(task, completed=done)
        ...     lines.tell(bar.tasks[task])
        training: 50 of 200 (25%), 0:01:30 left
        training: 92 of 200 (46%), 0:00:49 left
    """

    write: Callable[[str], None]
    _start: tuple[float, float] | None = field(default=None, init=False)
    """When it was told first, and what was done by then, which says nothing about the rest."""
    _last: float = field(default=0.0, init=False)
    _tenths: int = field(default=0, init=False)

    def tell(self, task: Task) -> None:
        """Write a line, if one is due.

        Args:
            task: How far it has come, and since when.
        """
        now = task.elapsed or 0.0
        if self._start is None or now < self._start[0]:  # or its clock was set back
            self._start, self._last = (now, task.completed), now
        since, tenths = now - self._last, int(task.percentage // 10)
        if since < _OFTEN or (since < _RARELY and tenths == self._tenths):
            return
        self._last, self._tenths = now, tenths
        self.write(self._line(task, now))

    def _line(self, task: Task, now: float) -> str:
        if task.total is None:
            return f"{task.description}: {task.completed:,.0f} done"
        began, before = self._start or (0.0, 0.0)
        left = time_left(now - began, done=task.completed - before, total=task.total - before)
        said = "" if left is None else f", {timedelta(seconds=left)} left"
        count = f"{task.completed:,.0f} of {task.total:,.0f}"
        return f"{task.description}: {count} ({task.percentage:.0f}%){said}"
