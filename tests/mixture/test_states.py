"""A state that is refused changes nothing."""

import copy
import itertools

import pytest

from tawt import Mixture, MixtureSampler
from tawt.errors import TrainingError

DATA = {"a": list(range(13)), "b": list(range(100, 140))}
WEIGHTS = {"a": 0.5, "b": 0.5}


class Stream:
    """Can be iterated again, and has no places."""

    def __init__(self, examples):
        self.examples = examples

    def __iter__(self):
        return iter(self.examples)


def mixture():
    data = {"a": DATA["a"], "b": Stream(DATA["b"])}
    return Mixture(data, WEIGHTS, batch_size=4, steps=20, seed=3)


def sampler():
    sizes = {name: len(part) for name, part in DATA.items()}
    return MixtureSampler(sizes, WEIGHTS, batch_size=4, steps=20, seed=3)


def changed(state, place, value):
    """A copy, with another value at a place; without the place, if the value is `...`."""
    found = copy.deepcopy(state)
    *way, last = place
    part = found
    for key in way:
        part = part[key]
    if value is ...:
        del part[last]
    else:
        part[last] = value
    return found


BOTH = [
    (("step",), -1, "'step' is -1, not a whole number"),
    (("step",), "7", "'step' is '7', not a whole number"),
    (("begun",), 99, "its `begun` is 99, not a step up to 7"),
    (("begun",), None, "its `begun` is None"),
    (("hold",), 2, "its `hold` is 2, here it is 1"),
]
MIXTURES = [
    (("feeds",), ..., "has no 'feeds'"),
    (("feeds",), [], "`feeds` is of type list, not a dictionary"),
    (("feeds", "b"), ..., "`feeds` has no 'b'"),
    (("feeds", "b"), None, "the place in 'b' is of type NoneType"),
    (("feeds", "b", "within"), 1.5, "'within' is 1.5, not a whole number"),
    (("feeds", "a", "taken"), -4, "'taken' is -4, not a whole number"),
    (("feeds", "a", "measured"), ..., "the place in 'a' has no 'measured'"),
]
SAMPLERS = [
    (("taken",), ..., "has no 'taken'"),
    (("taken", "b"), True, "'b' is True, not a whole number"),
    (("ahead",), {}, "`ahead` is of type dict, not a list"),
    (("ahead", 1), "a", "`ahead` is of type str, not a dictionary"),
    (("ahead", 1, "tasks"), [], "`tasks` of `ahead` is \\[\\], not a list of names"),
    (("ahead", 1, "tasks"), ["c"], "names 'c', which is not a task"),
    (("ahead", 1, "factors", "a"), None, "the factor of 'a' in `ahead` is None"),
]
CASES = [
    *((make, *case) for make in (mixture, sampler) for case in BOTH),
    *((mixture, *case) for case in MIXTURES),
    *((sampler, *case) for case in SAMPLERS),
]


def refused(made, state, said):
    before = made.state_dict()
    with pytest.raises(TrainingError, match=said) as error:
        made.load_state_dict(state)
    assert "\n" not in str(error.value)
    assert made.state_dict() == before


@pytest.mark.parametrize(("make", "place", "value", "said"), CASES)
def test_a_damaged_state_is_refused_whole(make, place, value, said):
    first = make()
    list(itertools.islice(first, 10))
    state = first.state_dict(step=7) if make is sampler else first.state_dict()
    again = make()
    if make is mixture:
        state["step"] = 7
    list(itertools.islice(again, 2))
    refused(again, changed(state, place, value), said)
    again.load_state_dict(state)
    assert again.step == 7


@pytest.mark.parametrize("given", [None, [], "state", 3])
@pytest.mark.parametrize("make", [mixture, sampler])
def test_what_is_no_dictionary_is_refused(make, given):
    refused(make(), given, f"it is of type {type(given).__name__}, not a dictionary")
