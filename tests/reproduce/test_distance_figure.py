"""figure-task-distance: progress within a seed, and parts."""

import time
from dataclasses import replace

import pytest

from tawt.cli.time_left import time_left
from tawt.errors import Interrupted
from tawt.reproduce import EXPERIMENTS, Request, Store, is_made, make
from tawt.reproduce.teachers import Simulation
from tawt.sweeps import Sweep

FIGURE = EXPERIMENTS["figure-task-distance"]
SMALL = replace(
    Simulation.tiny(),
    source_size=500,
    target_sizes=(10, 100),
    test_size=100,
    flip_rates=(0.0, 1.0),
    epochs=2,
)
TWO = Request(seeds=(0, 1), tiny=True)


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr("tawt.reproduce.distance_figure._simulation", lambda request: SMALL)


def made(store, request=TWO, **sweep):
    return make(FIGURE, request, store, Sweep(**sweep), device="cpu")


def test_progress_is_told_within_a_seed(tmp_path):
    told = []
    assert made(Store(tmp_path), on_progress=lambda now: told.append((now.done, now.total)))
    done = [each for each, _ in told]
    assert {total for _, total in told} == {2}
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, 2)
    for seed in TWO.seeds:
        within = [each for each in done if seed < each < seed + 1]
        assert len(within) > 50
    assert {0, 1, 2} <= set(done)


def test_progress_goes_on_from_the_seeds_that_are_made(tmp_path):
    assert made(Store(tmp_path), Request(seeds=(0,), tiny=True))
    told = []
    assert made(Store(tmp_path), on_progress=lambda now: told.append((now.done, now.total)))
    assert told[0] == (1, 2)
    assert told[-1] == (2, 2)


def test_the_bar_has_time_left_within_the_first_seed(tmp_path):
    left = []
    began = time.monotonic()

    def tell(now):
        elapsed = time.monotonic() - began
        if 0.5 < now.done < 1:
            left.append(time_left(elapsed, done=now.done - now.before, total=now.total))

    assert made(Store(tmp_path), Request(seeds=(0,), tiny=True), on_progress=tell)
    assert left
    assert None not in left


def test_a_seed_that_is_stopped_leaves_no_record(tmp_path):
    asked = iter(range(1000))
    with pytest.raises(Interrupted):
        made(Store(tmp_path), should_stop=lambda: next(asked) >= 5)
    assert next(asked) == 6  # it is asked after every step
    assert not is_made(FIGURE, TWO, Store(tmp_path))
    assert not (tmp_path / "records").exists()
