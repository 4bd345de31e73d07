"""The speed of a step is that of the runs."""

import pytest

from tawt.config import load
from tawt.errors import Interrupted
from tawt.mix.speed import Speed, _Clock, measured_speed
from tawt.mix.study import examined
from tawt.sweeps import Sweep, in_this_process


def test_a_run_is_its_steps_its_updates_and_what_is_around_them():
    speed = Speed(step=0.1, update=2.0, around=3.0, start=100.0)
    assert speed.of_run(50, updates=4) == pytest.approx(5 + 8 + 3)
    assert speed.of_run(50, updates=0) == pytest.approx(8)


def test_the_clock_leaves_out_the_first_steps_and_ends_after_whole_rounds(monkeypatch):
    monkeypatch.setattr("tawt.mix.speed._SECONDS", 2.0)
    # The first takes nine seconds, the others half a second each.
    times = iter([0.0, *(9.0 + 0.5 * step for step in range(30))])
    monkeypatch.setattr("tawt.mix.speed.time.perf_counter", lambda: next(times))
    clock = _Clock(lambda: False)
    steps = 1
    while not clock():
        steps += 1
    assert steps == 10
    assert clock.timed().step == pytest.approx(0.5)
    assert clock.timed().spent == pytest.approx(9.0 + 0.5 * 9)


def test_the_speed_is_measured_where_runs_are_made_and_leaves_nothing(corpora, listing):
    study = examined(load(corpora.path), seed=0)
    before = listing(corpora.folder)
    speed = measured_speed(
        study, device="cpu", sweep=Sweep(workers=2), executor=in_this_process, runs=9
    )
    assert 0 < speed.step < 1
    assert speed.update > 0
    assert 0 < speed.around < 30
    assert listing(corpora.folder) == before


def test_a_stop_while_it_is_measured_stops(corpora):
    study = examined(load(corpora.path), seed=0)
    stopped = Sweep(should_stop=lambda: True)
    with pytest.raises(Interrupted):
        measured_speed(study, device="cpu", sweep=stopped, executor=in_this_process, runs=9)
