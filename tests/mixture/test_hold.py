"""Steps in a row that keep their task, for the gradient that an optimiser accumulates."""

import itertools
import json

import pytest
from torch.utils.data import DataLoader

from tawt import Mixture, MixtureSampler
from tawt.errors import TrainingError

SIZES = {"a": 13, "b": 40, "c": 6}
DATA = {"a": list(range(13)), "b": list(range(13, 53)), "c": list(range(53, 59))}
WEIGHTS = {"a": 0.4, "b": 0.3, "c": 0.3}
HOLD = 3


class OfMixture:
    """Both are driven alike: steps are the positions of their examples."""

    def __init__(self, weights=WEIGHTS, **settings):
        given = {"batch_size": 2, "seed": 4, "steps": 60, "hold": HOLD, **settings}
        self.made = Mixture(DATA, weights, **given)

    def steps(self):
        return (batch.tolist() for _, batch in self.made)


class OfSampler:
    def __init__(self, weights=WEIGHTS, **settings):
        given = {"batch_size": 2, "seed": 4, "steps": 60, "hold": HOLD, **settings}
        self.made = MixtureSampler(SIZES, weights, **given)

    def steps(self):
        return iter(self.made)


both = pytest.mark.parametrize("kind", [OfMixture, OfSampler])


def tasks(steps):
    return [next(name for name in DATA if batch[0] in DATA[name]) for batch in steps]


@both
def test_a_group_has_the_task_of_its_number(kind):
    """That of the step with this number, where each step is drawn."""
    held = tasks(kind().steps())
    single = tasks(kind(hold=1).steps())
    assert held == [task for task in single[:20] for _ in range(HOLD)]
    assert set(held) == set(DATA)


@both
def test_processes_draw_the_same_groups(kind):
    whole = tasks(kind().steps())
    for process in range(2):
        assert tasks(kind(process=process, processes=2).steps()) == whole


class Turning:
    """Weights that turn around at a step within a group."""

    def __init__(self, kind, **settings):
        self.weights = {"a": 1.0, "b": 0.0, "c": 0.0}
        self.driven = kind(self.weights, **settings)
        self.step = 0

    def train(self, steps):
        found = []
        for batch in itertools.islice(self.driven.steps(), steps):
            self.step += 1
            found.append(batch)
            if self.step == 7:
                self.weights.update(a=0.0, b=0.5, c=0.5)
        return found


@both
def test_weights_that_move_within_a_group_count_from_the_next(kind):
    found = tasks(Turning(kind).train(60))
    assert found[:9] == ["a"] * 9
    assert "a" not in found[9:]


@both
@pytest.mark.parametrize("stop", [6, 7, 8, 9, 10])
def test_a_resume_within_a_group_keeps_its_task(kind, stop):
    whole = Turning(kind).train(60)
    first = Turning(kind)
    assert first.train(stop) == whole[:stop]
    state = json.loads(json.dumps(first.driven.made.state_dict()))
    again = Turning(kind)
    again.step = stop
    again.weights.update(first.weights)
    again.driven.made.load_state_dict(state)
    assert again.driven.made.state_dict() == state
    assert again.train(60) == whole[stop:]


@pytest.mark.parametrize("stop", [6, 7, 8, 9])
def test_a_resume_within_a_group_that_was_drawn_ahead(stop):
    def ahead(sampler):
        return DataLoader(
            range(59), batch_sampler=sampler, collate_fn=list, num_workers=1, prefetch_factor=4
        )

    first = Turning(OfSampler)
    whole = []
    for batch in ahead(first.driven.made):
        whole.append(batch)
        if len(whole) == stop:
            state = json.loads(json.dumps(first.driven.made.state_dict(step=stop)))
    again = MixtureSampler(SIZES, first.weights, batch_size=2, seed=4, steps=60, hold=HOLD)
    again.load_state_dict(state)
    assert list(ahead(again)) == whole[stop:]


@both
def test_a_state_with_another_hold_is_refused_and_an_old_one_loads(kind):
    held, single = kind().made, kind(hold=1).made
    assert not {"hold", "held"} & single.state_dict().keys()  # as states were before
    with pytest.raises(TrainingError, match="its `hold` is 3, here it is 1"):
        single.load_state_dict(held.state_dict())
    with pytest.raises(TrainingError, match="its `hold` is 1, here it is 3"):
        held.load_state_dict(single.state_dict())
    with pytest.raises(TrainingError, match="`held`"):
        held.load_state_dict({**held.state_dict(), "held": "d"})
