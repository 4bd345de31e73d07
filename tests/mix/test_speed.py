"""The speed of a step is that of the runs."""

import pytest

from tawt.config import load
from tawt.errors import Interrupted
from tawt.mix.speed import Speed, measured_speed, timed_config
from tawt.mix.study import examined
from tawt.sweeps import Sweep, in_this_process
from tests.mix.cases import study


def test_a_run_is_its_steps_its_updates_and_what_is_around_them():
    speed = Speed(step=0.1, update=2.0, around=3.0, start=100.0)
    assert speed.of_run(50, updates=4) == pytest.approx(5 + 8 + 3)
    assert speed.of_run(50, updates=0) == pytest.approx(8)


def test_what_is_timed_has_updates_alike_far_apart_and_as_large_as_in_the_runs():
    timed = timed_config(study(update_growth=0.25, gradient_examples=3, target_examples=32).config)
    assert (timed.training.update_every, timed.training.update_growth) == (5, 0.0)
    assert (timed.training.gradient_examples, timed.training.target_examples) == (3, 32)
    assert timed.training.most_passes is None


def test_the_speed_is_measured_where_runs_are_made_and_leaves_nothing(corpora, listing):
    found = examined(load(corpora.path), seed=0)
    before = listing(corpora.folder)
    speed = measured_speed(
        found, device="cpu", sweep=Sweep(workers=2), executor=in_this_process, runs=9
    )
    assert 0 < speed.step < 1
    assert speed.update > 0
    assert 0 < speed.around < 30
    assert listing(corpora.folder) == before


def test_a_stop_while_it_is_measured_stops(corpora):
    found = examined(load(corpora.path), seed=0)
    stopped = Sweep(should_stop=lambda: True)
    with pytest.raises(Interrupted):
        measured_speed(found, device="cpu", sweep=stopped, executor=in_this_process, runs=9)
