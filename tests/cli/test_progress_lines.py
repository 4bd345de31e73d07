"""Progress that is no bar: lines in a log, few of them, with the time left."""

import io
import itertools

import pytest
from rich.console import Console

from tawt.cli import console
from tawt.cli.time_left import measured_progress, runs_progress
from tawt.sweeps import Progress


class Log:
    """What a file gets, and the time that is taken for the time."""

    def __init__(self, *, terminal=False):
        self.now, self.file = 0.0, io.StringIO()
        self.console = Console(file=self.file, force_terminal=terminal, get_time=lambda: self.now)

    @property
    def lines(self):
        return self.file.getvalue().splitlines()


@pytest.fixture
def log(monkeypatch):
    made = Log()
    monkeypatch.setattr(console, "err", made.console)
    return made


def stepped(log, *, seconds, steps=1000, quiet=False):
    """A run of so many steps, each of which takes as long."""
    with console.progress(quiet=quiet) as bar:
        shown = bar.add_task("training", total=None)
        for step in range(1, steps + 1):
            log.now += seconds
            bar.update(shown, completed=step, total=steps, description="joint")
    return log.lines


def test_a_line_for_each_tenth_of_a_run_of_minutes(log):
    lines = stepped(log, seconds=0.4)  # a tenth takes 40 seconds
    assert lines[0] == "joint: 100 of 1,000 (10%), 0:06:00 left"
    assert lines[1] == "joint: 200 of 1,000 (20%), 0:05:20 left"
    assert len(lines) == 10


def test_ten_seconds_at_least_are_between_two_lines(log):
    assert len(stepped(log, seconds=0.03)) == 2  # half a minute


def test_a_run_of_seconds_needs_none(log):
    assert stepped(log, seconds=0.009) == []


def test_a_long_run_is_heard_of_every_minute(log):
    lines = stepped(log, seconds=3.6)  # an hour
    assert 60 <= len(lines) <= 70
    assert lines[0].startswith("joint: 18 of 1,000 (2%), 0:5")


def test_a_quiet_run_says_nothing(log):
    assert stepped(log, seconds=1, quiet=True) == []


def test_a_terminal_has_a_bar_and_no_lines(monkeypatch):
    log = Log(terminal=True)
    monkeypatch.setattr(console, "err", log.console)
    stepped(log, seconds=1)
    assert not any(line.startswith("joint: ") for line in log.lines)


def test_what_was_there_when_it_began_took_no_time(log):
    with console.progress(quiet=False) as bar:
        shown = bar.add_task("training", total=100, completed=50)
        bar.update(shown, completed=50)
        log.now = 20.0
        bar.update(shown, completed=60)
    assert log.lines == ["training: 60 of 100 (60%), 0:01:20 left"]


def test_runs_are_counted(log):
    with runs_progress(quiet=False) as tell:
        for done in range(2, 6):
            tell(Progress(done, 6, 2))
            log.now += 30.0
    assert log.lines[-1] == "runs: 5 of 6 (83%), 0:00:30 left"


def test_a_count_without_an_end_is_told_now_and_then(log):
    with console.progress(quiet=False) as bar:
        shown = bar.add_task("answered", total=None)
        for _ in itertools.repeat(None, 130):
            log.now += 1.0
            bar.advance(shown)
    assert log.lines == ["answered: 61 done", "answered: 121 done"]


def test_a_clock_that_is_set_back_is_followed(log):
    with runs_progress(quiet=False) as tell:
        log.now = 40.0
        tell(Progress(0, 4, 0))
        tell.expect(100)
        log.now = 60.0
        tell(Progress(2, 4, 0))
        log.now = 80.0
        tell(Progress(3, 4, 0))
    assert log.lines == ["runs: 3 of 4 (75%), 0:00:20 left"]


def test_names_are_safe_in_a_log(log):
    with measured_progress(quiet=False) as bar:
        shown = bar.add_task("", total=2)
        bar.update(shown, completed=0)
        log.now = 30.0
        bar.update(shown, completed=1, description="to a\x1b[31m")
    assert log.lines == ["to a\\u001b[31m: 1 of 2 (50%), 0:00:30 left"]
