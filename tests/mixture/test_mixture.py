"""Batches by weight: ranks, resuming, mixed batches, and weights that move."""

import itertools
import json
import pickle

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from tawt import Fixed, Mixture, TargetAware
from tawt.errors import TrainingError, WeightsError

WEIGHTS = {"a": 0.5, "b": 0.3, "c": 0.2}


def numbered(size, start):
    return list(range(start, start + size))


def data():
    return {"a": numbered(13, 0), "b": numbered(40, 100), "c": numbered(6, 1000)}


def mixture(**settings):
    given = {"batch_size": 4, "seed": 5, "steps": 40}
    return Mixture(data(), WEIGHTS, **{**given, **settings})


def listed(steps):
    return [(task, batch.tolist()) for task, batch in steps]


def taken(mixture, steps):
    return listed(itertools.islice(mixture, steps))


@pytest.mark.parametrize("batches", ["one task", "mixed"])
@pytest.mark.parametrize("processes", [2, 4])
def test_processes_together_take_what_one_with_the_whole_batch_takes(processes, batches):
    whole = listed(mixture(batch_size=4 * processes, batches=batches))
    parts = [
        listed(mixture(batches=batches, process=process, processes=processes))
        for process in range(processes)
    ]
    for step, (task, batch) in enumerate(whole):
        assert [example for part in parts for example in part[step][1]] == batch
        tasks = [part[step][0] for part in parts]
        if batches == "mixed":
            assert [name for part in tasks for name in part] == task
        else:
            assert tasks == [task] * processes


def test_every_example_comes_once_in_each_pass():
    seen = {name: [] for name in WEIGHTS}
    for task, batch in mixture(steps=200):
        seen[task] += batch.tolist()
    for name, examples in data().items():
        passes = [
            seen[name][start : start + len(examples)] for start in range(0, 400, len(examples))
        ]
        whole = [found for found in passes if len(found) == len(examples)]
        assert len(whole) > 1
        assert all(sorted(found) == examples for found in whole)
        assert whole[0] != whole[1]


@pytest.mark.parametrize("batches", ["one task", "mixed"])
def test_a_resume_at_every_step_goes_on_exactly(batches):
    whole = listed(mixture(batches=batches))
    first = mixture(batches=batches)
    for step, _ in enumerate(first, start=1):
        again = mixture(batches=batches)
        again.load_state_dict(json.loads(json.dumps(first.state_dict())))
        assert again.step == step
        assert listed(again) == whole[step:]  # the steps that were left, in the end none
    assert len(listed(again)) == 40  # and then a whole loop


def test_a_resume_with_other_processes_takes_the_same_steps():
    """Two processes with batches of four, then four with batches of two, then one of eight."""
    whole = listed(mixture(batch_size=8))
    states, found = [], [[] for _ in range(40)]
    for process in range(2):
        part = mixture(batch_size=4, process=process, processes=2)
        for step, (_, batch) in enumerate(taken(part, 15)):
            found[step] += batch
        states.append(part.state_dict())
    assert states[0] == states[1]
    for process in range(4):
        part = mixture(batch_size=2, process=process, processes=4)
        part.load_state_dict(states[0])
        for step, (_, batch) in enumerate(taken(part, 10), start=15):
            found[step] += batch
        states.append(part.state_dict())
    last = mixture(batch_size=8)
    last.load_state_dict(states[-1])
    for step, (_, batch) in enumerate(last, start=25):
        found[step] += batch
    assert found == [batch for _, batch in whole]


def test_loops_go_on_where_the_last_one_ended():
    one, several = mixture(steps=30), mixture(steps=10)
    assert listed(one) == [step for _ in range(3) for step in listed(several)]
    assert several.step == 30


def test_a_loop_that_was_left_is_finished_by_the_next():
    left = mixture(steps=10)
    first = taken(left, 4)
    assert first + listed(left) == listed(mixture(steps=10))


def test_a_loop_is_a_pass_by_default():
    whole = mixture(steps=None)
    assert len(whole) == len(listed(whole)) == 4 + 10 + 2
    assert len(mixture(steps=None, process=0, processes=2)) == 2 + 5 + 1


def test_weights_that_move_count_from_the_next_step():
    weights = Fixed(["a", "b"], initial={"a": 1.0, "b": 0.0})
    moving = Mixture({"a": [0], "b": [1]}, weights, batch_size=1, steps=6)
    tasks = []
    for task, _ in moving:
        tasks.append(task)
        if len(tasks) == 3:
            weights.weights = Fixed(["a", "b"], initial={"a": 0.0, "b": 1.0}).weights
    assert tasks == ["a", "a", "a", "b", "b", "b"]
    assert moving.probabilities() == {"a": 0.0, "b": 1.0}


def test_weights_may_be_a_dictionary_of_ones_own():
    weights = {"a": 1, "b": 0}
    moving = Mixture({"a": [0], "b": [1]}, weights, batch_size=1, steps=100)
    assert taken(moving, 3) == [("a", [0])] * 3
    weights["b"] = 10**9
    assert taken(moving, 3) == [("b", [1])] * 3


def test_two_loops_at_once_are_refused():
    both = mixture()
    with pytest.raises(TrainingError, match="two loops at once"):
        list(zip(both, both, strict=True))


def test_a_loop_after_one_that_broke_off_is_not_refused():
    both = mixture()
    kept = iter(both)
    next(kept)
    assert len(listed(both)) == 39
    with pytest.raises(TrainingError, match="two loops at once"):
        next(kept)


def test_the_state_of_another_mixture_is_refused():
    state = mixture().state_dict()
    with pytest.raises(TrainingError, match=r"its `seed` is 5, here it is 6"):
        mixture(seed=6).load_state_dict(state)
    with pytest.raises(TrainingError, match="no 'step'"):
        mixture().load_state_dict({key: state[key] for key in state if key != "step"})
    other = Mixture({"a": [1]}, {"a": 1}, batch_size=4, seed=5)
    with pytest.raises(TrainingError, match="its `sizes` is"):
        other.load_state_dict(state)


def test_it_can_be_pickled_in_the_middle_of_a_loop():
    whole = listed(mixture())
    first = mixture()
    taken(first, 7)
    assert listed(pickle.loads(pickle.dumps(first))) == whole[7:]


def test_a_mixed_batch_names_the_task_of_each_example():
    starts = {"a": range(13), "b": range(100, 140), "c": range(1000, 1006)}
    seen = set()
    for tasks, batch in mixture(batches="mixed", batch_size=8):
        assert len(tasks) == len(batch) == 8
        assert all(n in starts[task] for task, n in zip(tasks, batch.tolist(), strict=True))
        seen |= set(tasks)
    assert seen == set(WEIGHTS)


def test_a_floor_and_its_factor():
    held = Mixture({"a": [0], "b": [1]}, {"a": 1.0, "b": 0.0}, batch_size=1, floor=0.25, steps=80)
    assert held.probabilities() == {"a": 0.75, "b": 0.25}
    assert held.factor("a") == pytest.approx(4 / 3)
    assert held.factor("b") == 0
    assert {task for task, _ in held} == {"a", "b"}
    with pytest.raises(WeightsError, match="'c' is not drawn here; known: a, b"):
        held.factor("c")


def test_a_target_without_a_weight_is_measured_and_not_trained_on():
    weights = TargetAware(sources=["a", "b"], target="c", target_share=None)
    trained = Mixture(data(), weights, batch_size=4, steps=60)
    assert {task for task, _ in trained} == {"a", "b"}
    batch, examples = trained.fresh(lambda task, batch: batch).batch("c")
    assert examples == len(batch) == 3
    assert set(batch.tolist()) <= set(data()["c"])


def test_examples_are_collated_as_they_are_by_a_loader():
    table = TensorDataset(torch.arange(12).reshape(6, 2), torch.arange(6))
    ((_, (inputs, labels)),) = Mixture({"a": table}, {"a": 1}, batch_size=6)
    assert torch.equal(inputs[:, 0], 2 * labels)
    own = Mixture({"a": table}, {"a": 1}, batch_size=6, collate=len)
    assert list(own) == [("a", 6)]
    expected = next(iter(DataLoader(table, batch_size=6)))
    assert [part.shape for part in expected] == [inputs.shape, labels.shape]
