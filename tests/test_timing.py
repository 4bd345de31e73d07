"""The steps of a run are timed as they are."""

import pytest

from tawt.config import parsed
from tawt.errors import Interrupted
from tawt.runs.timing import Clock, time_steps


def test_the_clock_leaves_out_the_first_steps_and_ends_after_whole_rounds(monkeypatch):
    # The first takes nine seconds, the others half a second each.
    times = iter([0.0, *(9.0 + 0.5 * step for step in range(30))])
    monkeypatch.setattr("tawt.runs.timing.time.perf_counter", lambda: next(times))
    clock = Clock(seconds=2.0, rounds_of=5, should_stop=lambda: False)
    steps = 1
    while not clock():
        steps += 1
    assert steps == 10
    assert clock.timed().step == pytest.approx(0.5)
    assert clock.timed().spent == pytest.approx(9.0 + 0.5 * 9)


@pytest.fixture
def config():
    return parsed({"data": {"kind": "digits"}, "target": "digit", "epochs": 1000})


def test_steps_are_timed_until_the_clock_ends_them(config):
    found = time_steps(config, device="cpu", seconds=0.02, rounds_of=3, should_stop=lambda: False)
    assert 0 < found.step < found.spent


def test_a_stop_while_they_are_timed_stops(config):
    with pytest.raises(Interrupted):
        time_steps(config, device="cpu", seconds=60, rounds_of=3, should_stop=lambda: True)
