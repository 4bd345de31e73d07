"""The simulation with teachers: batched training against an oracle, and what it shows."""

import json
from dataclasses import replace

import pytest
import torch
from torch import nn

from tawt.errors import ConfigError, Interrupted, TrainingError
from tawt.reproduce.by_heart import flipped
from tawt.reproduce.networks_at_once import (
    fast_products,
    features,
    initial_layers,
    measured,
    outputs,
    predicted,
    training,
)
from tawt.reproduce.teachers import Simulation, simulated

CPU = torch.device("cpu")
SMALL = Simulation(
    inputs=30,
    classes=4,
    hidden=64,
    examples=100,
    source_size=1500,
    target_sizes=(10, 100, 1000),
    test_size=1000,
    flip_rates=(0.0, 0.5, 1.0),
    epochs=20,
    batch_size=50,
    learning_rate=1e-2,
)


@pytest.fixture(scope="module")
def records():
    return [simulated(SMALL, seed=seed, device="cpu") for seed in range(3)]


def _networks(sizes, count):
    generators = [torch.Generator().manual_seed(seed) for seed in range(count)]
    layers = initial_layers(sizes, generators, device=CPU)
    return [(weight.double(), bias.double()) for weight, bias in layers]


def _alone(layers, at):
    """One of the networks as plain modules."""
    modules = []
    for weight, bias in layers:
        linear = nn.Linear(*weight.shape[1:]).double()
        linear.weight.data.copy_(weight[at].T)
        linear.bias.data.copy_(bias[at, 0])
        modules += [linear, nn.ReLU()]
    return nn.Sequential(*modules[:-1])


@pytest.mark.parametrize("sizes", [(6, 9, 3), (6, 3)], ids=["network", "head"])
@pytest.mark.parametrize("own_inputs", [False, True], ids=["shared", "own"])
def test_trained_at_once_as_alone(sizes, own_inputs):
    draw = torch.Generator().manual_seed(5)
    count, examples, batch_size = 4, 23, 5  # the last batch has three
    shape = (count, examples, 6) if own_inputs else (examples, 6)
    inputs = torch.rand(shape, generator=draw, dtype=torch.float64) - 0.5
    labels = torch.randint(3, (count, examples), generator=draw)
    orders = [
        torch.stack([torch.randperm(examples, generator=draw) for _ in range(count)])
        for _ in range(6)
    ]
    layers = _networks(sizes, count)
    oracles = [_alone(layers, at) for at in range(count)]

    done = list(
        training(layers, inputs, labels, orders=orders, batch_size=batch_size, learning_rate=0.01)
    )

    assert done == [1, 2, 3, 4, 5, 6]
    for at, oracle in enumerate(oracles):
        mine = inputs[at] if own_inputs else inputs
        optimiser = torch.optim.Adam(oracle.parameters(), lr=0.01)
        for order in orders:
            for picked in order[at].split(batch_size):
                loss = nn.functional.cross_entropy(oracle(mine[picked]), labels[at, picked])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        trained = _alone(layers, at)
        for ours, theirs in zip(trained.parameters(), oracle.parameters(), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def test_measures_are_those_of_each_network_alone():
    draw = torch.Generator().manual_seed(5)
    inputs = torch.rand(2500, 6, generator=draw, dtype=torch.float64) - 0.5  # in three parts
    labels = torch.randint(3, (2, 2500), generator=draw)
    layers = _networks((6, 9, 3), 2)

    accuracy, loss = measured(layers, inputs, labels)
    classes, first = predicted(layers, inputs), features(layers[0], inputs)

    torch.testing.assert_close(
        outputs(layers[1:], first), outputs(layers, inputs.expand(2, -1, -1))
    )
    for at in range(2):
        logits = _alone(layers, at)(inputs)
        assert classes[at].equal(logits.argmax(dim=1))
        assert accuracy[at] == (logits.argmax(dim=1) == labels[at]).double().mean()
        torch.testing.assert_close(loss[at], nn.functional.cross_entropy(logits, labels[at]))


def test_training_that_is_left_early_leaves_plain_tensors():
    layers = _networks((6, 9, 3), 2)
    inputs, labels = torch.rand(4, 6, dtype=torch.float64), torch.zeros(2, 4, dtype=torch.long)
    orders = [torch.arange(4).expand(2, -1)] * 3
    for _ in training(layers, inputs, labels, orders=orders, batch_size=2, learning_rate=0.01):
        break
    assert not any(tensor.requires_grad or tensor.grad is not None for tensor in sum(layers, ()))


def test_initial_values_are_those_of_linear_layers_and_each_network_s_own():
    (weight, bias), _ = _networks((400, 50, 3), 2)
    for values in (weight, bias):
        assert values.abs().max() <= 1 / 20
    assert weight.std().item() == pytest.approx(1 / 20 / 3**0.5, rel=0.02)
    assert not weight[0].equal(weight[1])
    alone = initial_layers((400, 50, 3), [torch.Generator().manual_seed(1)], device=CPU)
    assert alone[0][0][0].double().equal(weight[1])


def test_labels_are_flipped_by_the_share_and_nested():
    rates = [tenths / 10 for tenths in range(11)]
    labels = torch.randint(10, (5000,), generator=torch.Generator().manual_seed(0))
    many = flipped(labels, rates, classes=10, generator=torch.Generator().manual_seed(1))

    assert many[0].equal(labels)
    changed = many != labels
    for rate, these in zip(rates, changed, strict=True):  # one in ten stays what it was
        assert these.double().mean().item() == pytest.approx(0.9 * rate, abs=0.02)
    for less, more, before, after in zip(changed, changed[1:], many, many[1:], strict=False):
        assert not (less & ~more).any()
        assert after[less].equal(before[less])


def test_teachers_know_their_examples_by_heart(records):
    for record in records:
        assert list(record["teachers"]) == ["0.0", "0.5", "1.0"]
        for reached in record["teachers"].values():
            assert reached["accuracy"] == 1.0
            assert reached["loss"] <= SMALL.teacher_loss
            assert 1 <= reached["epochs"] <= SMALL.teacher_epochs


def test_a_teacher_does_not_depend_on_the_others(records):
    fewer = replace(SMALL, flip_rates=(0.0, 1.0), target_sizes=(10,))
    alone = simulated(fewer, seed=0, device="cpu")
    for rate in ("0.0", "1.0"):
        ours, theirs = alone["teachers"][rate], records[0]["teachers"][rate]
        assert abs(ours["epochs"] - theirs["epochs"]) <= 2  # products of other shapes round apart


def test_the_tasks_come_apart_as_labels_are_flipped(records):
    for record in records:
        agreement = record["agreement"]
        assert agreement["0.0"] == 1.0
        assert 1 > agreement["0.5"] > agreement["1.0"]


def test_a_source_helps_more_when_near_and_the_target_small(records):
    def mean(rate, size):
        return sum(record["learning_to_learn"][rate][size] for record in records) / len(records)

    def alone(size):
        return sum(record["single_task"][size] for record in records) / len(records)

    assert alone("10") + 0.05 < alone("100") < alone("1000") - 0.05
    assert mean("0.0", "100") > mean("0.5", "100") > mean("1.0", "100")
    assert mean("0.0", "100") > mean("1.0", "100") + 0.1
    assert mean("0.0", "100") - alone("100") > mean("0.0", "1000") - alone("1000")
    chance = 1 / SMALL.classes
    assert all(min(record["source_accuracy"].values()) > 2 * chance for record in records)


def test_the_same_seed_gives_the_same_record_and_leaves_random_states_alone(records):
    before = torch.random.get_rng_state()
    again = simulated(SMALL, seed=1, device=CPU)
    assert torch.random.get_rng_state().equal(before)
    again["seconds"] = records[1]["seconds"]
    assert again == records[1]
    assert json.loads(json.dumps(again)) == again
    assert records[0]["single_task"] != records[1]["single_task"]


def test_progress_is_told_after_every_step():
    seen = []
    small = replace(SMALL, target_sizes=(10, 100), epochs=2)
    record = simulated(small, seed=0, device="cpu", on_progress=seen.append)
    teachers = max(reached["epochs"] for reached in record["teachers"].values())
    sources, single_task, heads = 2 * 30, 2 * (1 + 2), 2 * (1 + 2)
    assert len(seen) == 2 * teachers + sources + single_task + heads
    assert seen == sorted(seen)
    assert 0 < seen[0] < 0.1
    assert seen[-1] == 1


def test_training_tells_the_epochs_done_after_each_step():
    layers, seen = _networks((6, 9, 3), 2), []
    inputs, labels = torch.rand(5, 6, dtype=torch.float64), torch.zeros(2, 5, dtype=torch.long)
    epochs = training(
        layers,
        inputs,
        labels,
        orders=[torch.arange(5).expand(2, -1)] * 2,
        batch_size=2,
        learning_rate=0.01,
        on_step=seen.append,
    )
    assert list(epochs) == [1, 2]
    assert seen == pytest.approx([1 / 3, 2 / 3, 1, 4 / 3, 5 / 3, 2])


def test_teachers_that_do_not_get_there():
    with pytest.raises(
        TrainingError, match=r"all 100 examples .* within 2 epochs.*0\.0, 0\.5, 1\.0"
    ):
        simulated(replace(SMALL, teacher_epochs=2), seed=0, device="cpu")


def test_it_stops_when_asked():
    asked = []

    def third_time():
        asked.append(True)
        return len(asked) == 3

    with pytest.raises(Interrupted, match="stopped as asked"):
        simulated(SMALL, seed=0, device="cpu", should_stop=third_time)
    assert len(asked) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"flip_rates": (0.1, 0.2)},
        {"flip_rates": ()},
        {"flip_rates": (0.0, 1.5)},
        {"flip_rates": (0.0, 0.5, 0.5)},
        {"target_sizes": (10, 10)},
        {"target_sizes": ()},
        {"target_sizes": (0,)},
        {"hidden": 0},
    ],
)
def test_settings_that_cannot_be(wrong):
    with pytest.raises(ConfigError, match="got"):
        replace(SMALL, **wrong)


def test_the_papers_settings():
    paper = Simulation()
    assert paper.flip_rates == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert (paper.inputs, paper.hidden, paper.classes) == (1000, 4096, 10)
    assert paper.target_sizes[0] == 10
    assert paper.target_sizes[-1] == paper.source_size == paper.examples == 10_000
    assert (paper.epochs, paper.batch_size, paper.learning_rate) == (100, 100, 3e-4)


def test_fast_products_are_put_back():
    products = torch.backends.cuda.matmul
    before = products.fp32_precision
    with fast_products(torch.device("cuda")):
        assert products.fp32_precision == "tf32"
    assert products.fp32_precision == before
    with fast_products(CPU):
        assert products.fp32_precision == before
