"""Time left: measured as soon as it can be, expected until then."""

import io

import pytest
from rich.console import Console

from tawt.cli import console
from tawt.cli.time_left import TimeLeft, runs_progress
from tawt.sweeps import Progress


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """What the terminal takes for the time."""
    made = Clock()
    terminal = Console(file=io.StringIO(), force_terminal=True, get_time=made)
    monkeypatch.setattr(console, "err", terminal)
    return made


def shown(bar):
    [task] = bar.bar.tasks
    return str(TimeLeft().render(task))


def test_the_expected_time_is_gone_by_until_a_run_is_made(clock):
    with runs_progress(quiet=False) as bar:
        bar.describe("measuring speed")
        clock.now = 20.0
        assert shown(bar) == "left -:--:--"
        bar.expect(100)
        bar(Progress(0, 4, 0))
        assert [task.description for task in bar.bar.tasks] == ["runs"]
        clock.now = 50.0
        assert shown(bar) == "left 0:01:10"
        clock.now = 150.0
        assert shown(bar) == "left 0:00:00"
        bar(Progress(1, 4, 0))
        assert shown(bar) == "left 0:06:30"


def test_what_was_there_before_took_no_time(clock):
    with runs_progress(quiet=False) as bar:
        bar(Progress(2, 6, 2))
        clock.now = 10.0
        bar(Progress(4, 6, 2))
        assert shown(bar) == "left 0:00:10"
