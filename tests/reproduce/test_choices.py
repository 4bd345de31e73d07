"""What a number needs: one run, the best of several, or a run with another's weights."""

from dataclasses import dataclass

import pytest

from tawt.reproduce.choices import BestOf, Held, Once, score
from tests.reproduce.made_up import open_runs


@dataclass(frozen=True)
class Named:
    """A run whose configuration is its name and its seed."""

    name: str

    def config(self, seed):
        return self.name, seed

    def holding(self, seed, weights):
        return self.name, seed, tuple(weights.items())


def record(dev=0.5, test=0.5, weights=None):
    scores = {"goal": {"dev": {"f1": dev, "other": 9.0}, "test": {"f1": test, "other": 9.0}}}
    return {"target": "goal", "metric": {"goal": "f1"}, "scores": scores, "weights": weights}


A, B, C = map(Named, "abc")


def test_one_run_is_open_until_it_is_made():
    records = {}
    assert open_runs(Once(A), 3, records) == [("a", 3)]
    assert Once(A).record(3, records) is None
    records["a", 3] = record()
    assert open_runs(Once(A), 3, records) == []
    assert Once(A).record(3, records) is records["a", 3]
    assert open_runs(Once(A), 4, records) == [("a", 4)]


def test_the_best_is_chosen_by_dev_and_not_by_test():
    records = {("a", 0): record(0.2, 0.9), ("b", 0): record(0.7, 0.1), ("c", 0): record(0.6, 1.0)}
    assert BestOf((A, B, C)).record(0, records) is records["b", 0]


def test_of_equals_the_first_is_chosen():
    records = {(name, 0): record(0.7, at) for at, name in enumerate("abc")}
    assert BestOf((A, B, C)).record(0, records) is records["a", 0]
    assert BestOf((C, B, A)).record(0, records) is records["c", 0]


def test_each_seed_chooses_for_itself():
    records = {("a", 0): record(1), ("b", 0): record(0), ("a", 1): record(0), ("b", 1): record(1)}
    choice = BestOf((A, B))
    assert [choice.record(seed, records) for seed in (0, 1)] == [records["a", 0], records["b", 1]]


def test_nothing_is_chosen_before_all_are_made():
    records = {("a", 0): record(1.0)}
    choice = BestOf((A, B, C))
    assert open_runs(choice, 0, records) == [("b", 0), ("c", 0)]
    assert choice.record(0, records) is None


def test_a_run_without_a_number_is_never_the_best():
    records = {("a", 0): record(None), ("b", 0): record(0.0)}
    assert BestOf((A, B)).record(0, records) is records["b", 0]
    assert score(record(None), "dev") == float("-inf")


@pytest.mark.parametrize("of", [Once(A), BestOf((A, B))])
def test_held_weights_wait_for_those_that_learn_them(of):
    records, choice = {}, Held(of, C)
    assert open_runs(choice, 0, records) == open_runs(of, 0, records)
    assert choice.record(0, records) is None
    assert choice.runs == of.runs
    for config in open_runs(of, 0, records):
        records[config] = record(0.1, weights={"near": 0.9, "far": 0.1})
    assert open_runs(choice, 0, records) == [("c", 0, (("near", 0.9), ("far", 0.1)))]
    assert choice.record(0, records) is None


def test_held_weights_are_those_of_the_best_run():
    records = {("a", 0): record(0.1, weights={"x": 1.0}), ("b", 0): record(0.2, weights={"y": 1.0})}
    choice = Held(BestOf((A, B)), C)
    assert open_runs(choice, 0, records) == [("c", 0, (("y", 1.0),))]
    records["c", 0, (("y", 1.0),)] = made = record()
    assert open_runs(choice, 0, records) == []
    assert choice.record(0, records) is made


def test_a_plain_run_is_not_mistaken_for_one_with_held_weights():
    records = {("a", 0): record(weights={"x": 1.0}), ("c", 0): record()}
    assert Held(Once(A), C).record(0, records) is None


def test_the_score_is_that_of_the_targets_metric():
    assert score(record(0.25, 0.75)) == 0.75
    assert score(record(0.25, 0.75), "dev") == 0.25
