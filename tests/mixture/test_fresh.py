"""Fresh batches for an update: never training's last, and others at a second call."""

import itertools

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.utils.data import IterableDataset, TensorDataset

from tawt import Mixture, TargetAware
from tawt.errors import ConfigError, WeightsError
from tawt.weights import WeightUpdate


def examples(fresh, task):
    return set(fresh.batch(task)[0].tolist())


def test_batches_are_not_those_that_training_took_and_differ_in_an_update():
    """For as long as the task has the examples for it: two batches, and training's."""
    data = {"a": list(range(24)), "b": list(range(100, 200))}
    mixture = Mixture(data, {"a": 0.5, "b": 0.5}, batch_size=8, steps=200)
    last = {"a": set(), "b": set()}
    seen = {"a": set(), "b": set()}
    for task, batch in mixture:
        last[task] = set(batch.tolist())
        fresh = mixture.fresh(lambda task, batch: batch)
        for name in data:
            first, second = examples(fresh, name), examples(fresh, name)
            assert len(first) == len(second) == 8
            assert not first & second
            assert not (first | second) & last[name]
            seen[name] |= first
    assert seen == {name: set(found) for name, found in data.items()}


@pytest.mark.parametrize(("size", "each"), [(1, 1), (2, 1), (7, 3), (15, 7), (16, 8), (17, 8)])
def test_small_tasks_give_half_of_their_examples(size, each):
    mixture = Mixture({"a": list(range(size))}, {"a": 1}, batch_size=8, steps=30)
    for _ in mixture:
        fresh = mixture.fresh(lambda task, batch: batch)
        first, second = examples(fresh, "a"), examples(fresh, "a")
        assert len(first) == len(second) == each
        assert size == 1 or not first & second


def test_training_draws_the_same_whether_or_not_weights_are_measured():
    def trained(measured):
        mixture = Mixture(
            {"a": list(range(9)), "b": list(range(20))}, {"a": 1, "b": 1}, batch_size=2, steps=40
        )
        for task, batch in mixture:
            yield task, batch.tolist()
            if measured:
                mixture.fresh(lambda task, batch: batch).batch("b")

    assert list(trained(True)) == list(trained(False))


def test_fresh_batches_go_on_after_a_resume():
    def made():
        return Mixture({"a": list(range(50))}, {"a": 1}, batch_size=4, steps=100)

    def measured(mixture, steps):
        for _ in itertools.islice(mixture, steps):
            fresh = mixture.fresh(lambda task, batch: batch)
            yield examples(fresh, "a"), examples(fresh, "a")

    whole = list(measured(made(), 30))
    first = made()
    assert list(measured(first, 11)) == whole[:11]
    again = made()
    again.load_state_dict(first.state_dict())
    assert list(measured(again, 19)) == whole[11:]


def test_processes_measure_parts_of_one_batch_and_count_their_examples():
    data = {"a": list(range(10)), "b": list(range(100, 200))}
    one = Mixture(data, {"a": 1, "b": 1}, batch_size=6, processes=1)
    parts = [
        Mixture(data, {"a": 1, "b": 1}, batch_size=2, process=process, processes=3)
        for process in range(3)
    ]
    for task in ("a", "b", "a"):
        whole = one.fresh(lambda task, batch: batch.float().sum())(task)
        pairs = [part.fresh(lambda task, batch: batch.float().sum())(task) for part in parts]
        assert sum(loss for loss, _ in pairs) == whole
        assert [examples for _, examples in pairs] == ([2, 2, 1] if task == "a" else [2, 2, 2])


def test_every_process_has_an_example_to_measure():
    parts = [
        Mixture({"a": [7, 8]}, {"a": 1}, batch_size=1, process=p, processes=4) for p in range(4)
    ]
    found = [part.fresh(lambda task, batch: batch).batch("a") for part in parts]
    assert [examples for _, examples in found] == [1, 1, 1, 1]


def test_an_unknown_task_is_named():
    mixture = Mixture({"chunk": [1]}, {"chunk": 1}, batch_size=1)
    with pytest.raises(WeightsError, match=r"no dataset 'chnk'.*did you mean 'chunk'"):
        mixture.fresh(lambda task, batch: batch)("chnk")


def test_mixed_batches_are_measured_with_the_same_function():
    mixture = Mixture({"a": [1.0, 2.0]}, {"a": 1}, batch_size=2, batches="mixed")
    seen = [tasks for tasks, _ in mixture]
    mixture.fresh(lambda tasks, batch: seen.append(tasks) or batch.sum())("a")
    assert seen == [["a", "a"], ["a"]]


def test_the_loop_of_the_documentation_learns_which_source_helps():
    draw = torch.Generator().manual_seed(0)

    def table(size, *, related):
        inputs = torch.randn(size, 8, generator=draw)
        labels = (inputs[:, 0] > 0).long()
        noise = torch.randint(0, 2, (size,), generator=draw)
        return TensorDataset(inputs, labels if related else noise)

    data = {
        "near": table(400, related=True),
        "noise": table(400, related=False),
        "goal": table(64, related=True),
    }
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(8, 16), nn.ReLU())
    heads = nn.ModuleDict({name: nn.Linear(16, 2) for name in data})
    optimiser = torch.optim.SGD([*encoder.parameters(), *heads.parameters()], lr=0.1)

    def loss_of(task, batch):
        inputs, labels = batch
        return cross_entropy(heads[task](encoder(inputs)), labels)

    weights = TargetAware(sources=["near", "noise"], target="goal", target_share=0.3)
    batches = Mixture(data, weights, batch_size=32, steps=200)
    for step, (task, batch) in enumerate(batches, start=1):
        optimiser.zero_grad()
        loss_of(task, batch).backward()
        optimiser.step()
        if step % 10 == 0:
            weights.update(encoder, loss_of=batches.fresh(loss_of))
    assert weights["near"] > 2 * weights["noise"]
    assert weights.skipped == 0


def test_the_loss_of_a_task_is_made_from_the_loss_on_a_batch():
    mixture = Mixture({"a": [1.0, 2.0, 3.0, 4.0]}, {"a": 1}, batch_size=2)
    loss_of = mixture.fresh(loss_on=lambda task, batch: batch.sum())
    assert float(loss_of("a")) + float(loss_of("a")) == 10  # all examples, half of them each time


# Halves of the target


def halves_seen(mixture, weights, *, updates):
    """What updates draw of the target, each time in the order of its calls."""
    found = []
    for number in range(updates):
        fresh = mixture.fresh(lambda task, batch: batch, target_half=number % 2)
        calls = 1 + ("goal" in weights.asked_twice)
        found.append([fresh.batch("goal")[0].tolist() for _ in range(calls)])
        weights.history.append(WeightUpdate(number, {}, {}, target_half=number % 2))
    return found


@pytest.mark.parametrize(("examples", "size"), [(12, 4), (13, 32), (100, 16), (2, 4)])
def test_halves_of_a_cut_have_nothing_in_common_and_every_cut_is_another(examples, size):
    weights = TargetAware(sources=["near"], target="goal", target_share=None)
    data = {"near": list(range(50)), "goal": list(range(examples))}
    mixture = Mixture(data, weights, batch_size=size)
    found = halves_seen(mixture, weights, updates=12)
    seen = [set(batch) for [batch] in found]
    for first, second in zip(seen[::2], seen[1::2], strict=True):
        assert not first & second
        if examples > 2:
            assert len(first) == min(size, -(-examples // 2))
    if examples > 2:
        assert len({frozenset(batch) for batch in seen}) == 12
    if 2 * size >= examples:
        assert seen[0] | seen[1] == set(range(examples))


def test_a_second_call_in_a_half_has_other_examples_of_it():
    weights = TargetAware(sources=["near"], target="goal", target_share=(0.1, 0.5))
    data = {"near": list(range(50)), "goal": list(range(20))}
    mixture = Mixture(data, weights, batch_size=8)
    found = halves_seen(mixture, weights, updates=6)
    for (one, two), (three, four) in zip(found[::2], found[1::2], strict=True):
        assert len({*one, *two, *three, *four}) == 20
        assert len(one) == len(two) == 5


def test_processes_take_parts_of_the_same_half():
    parts = []
    for process in range(3):
        weights = TargetAware(sources=["near"], target="goal", target_share=None)
        data = {"near": list(range(50)), "goal": list(range(30))}
        mixture = Mixture(data, weights, batch_size=4, process=process, processes=3)
        parts.append(mixture.fresh(lambda task, batch: batch, target_half=1).batch("goal")[0])
    whole = Mixture(
        data, TargetAware(sources=["near"], target="goal", target_share=None), batch_size=12
    )
    one = whole.fresh(lambda task, batch: batch, target_half=1).batch("goal")[0]
    assert torch.cat(parts).tolist() == one.tolist()


def test_halves_that_cannot_be_taken_are_refused():
    weights = TargetAware(sources=["near"], target="goal", target_share=None)

    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(9))

    data = {"near": [1, 2], "goal": Stream()}
    mixture = Mixture(data, weights, batch_size=2, steps=1)
    with pytest.raises(ConfigError, match="'goal' cannot be halved"):
        mixture.fresh(lambda task, batch: batch, target_half=0)
    held = Mixture({"near": [1, 2]}, {"near": 1.0}, batch_size=2)
    with pytest.raises(ConfigError, match="not learned"):
        held.fresh(lambda task, batch: batch, target_half=0)
    with pytest.raises(WeightsError, match="must be 0 or 1"):
        mixture.fresh(lambda task, batch: batch, target_half=2)
