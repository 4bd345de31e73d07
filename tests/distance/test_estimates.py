"""Estimates without training: against slow gradients, and where the answer is known."""

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from tawt.arrays import Classification, Regression, regression
from tawt.distance import ESTIMATES, Estimator, SampleSizes
from tawt.distance.pieces import passes, pieces
from tawt.distance.tangent import Sample, gradient_of_samples
from tawt.errors import DataError, Interrupted
from tawt.probes import Items, LinearHead, Probe
from tawt.tasks import Batch
from tests.distance.made import task
from tests.oracles import flat_gradient

ALL = SampleSizes(head=10_000, step=10_000, target=10_000, held_out=10_000)


def encoder(*, seed=0, dtype=torch.float32):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(20, 16), nn.Tanh(), nn.Linear(16, 4)).to(dtype)


def found_for(sources, target, *, body=None, seed=0, sizes=None, **given):
    estimator = Estimator(body or encoder(), sizes=sizes, seed=seed)
    return estimator.estimates(sources, [target], **given).values[target.name]


def numbers(name, seed, *, size=60):
    """A regression on the first feature."""
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(2 * size, 20)).astype(np.float32)
    labels = np.sin(inputs[:, 0]) + 0.1 * draw.normal(size=2 * size)
    return regression(
        name, train=(inputs[:size], labels[:size]), test=(inputs[size:], labels[size:])
    )


# Against autograd


def sample(body, seed, kind, *, classes=3):
    """Two batches of unlike size, in float64, and a head that fits them somewhat."""
    draw = torch.Generator().manual_seed(seed)
    inputs = torch.randn(10, 20, generator=draw, dtype=torch.float64)
    labels = torch.randint(0, classes, (10,), generator=draw)
    if isinstance(kind, Regression):
        labels = torch.randn(10, generator=draw, dtype=torch.float64)
    with torch.no_grad():
        probe = Probe.fitted(Items(body(inputs), labels), ridge=0.1)
    head = LinearHead.of(probe, like=inputs)
    return Sample(kind, [Batch(inputs[:7], labels[:7]), Batch(inputs[7:], labels[7:])], head)


def gradient_by_hand(body, one):
    """∇L of a sample's mean over batches of mean losses, as one vector."""
    losses = []
    for batch in one.batches:
        outputs = one.head.outputs(body(batch.inputs))
        if one.head.is_regression:
            errors = (outputs[:, 0] - batch.labels) ** 2 / (2 * one.head.variance)
        else:
            errors = nn.functional.cross_entropy(outputs, batch.labels, reduction="none")
        losses.append(errors.mean())
    return flat_gradient(torch.stack(losses).mean(), list(body.parameters()))


@pytest.mark.parametrize("kind", [Classification(("a", "b", "c")), Regression()])
def test_the_gradient_of_a_sample_is_autograd_s(kind):
    body = encoder(dtype=torch.float64).eval()
    one = sample(body, 1, kind)
    found = gradient_of_samples(body, [one])
    expected = gradient_by_hand(body, one)
    torch.testing.assert_close(torch.cat([entry.flatten() for entry in found]), expected)


def test_labels_that_a_head_was_never_shown_are_left_out_of_gradients():
    body = encoder(dtype=torch.float64).eval()
    one = sample(body, 1, Classification(("a", "b", "c")), classes=2)
    strange = [Batch(batch.inputs, batch.labels.clone()) for batch in one.batches]
    strange[0].labels[3] = 2
    kept = torch.arange(7) != 3
    shorter = [Batch(strange[0].inputs[kept], strange[0].labels[kept]), strange[1]]
    direction = gradient_of_samples(body, [replace(one, batches=strange)])
    expected = gradient_by_hand(body, replace(one, batches=shorter))
    torch.testing.assert_close(torch.cat([entry.flatten() for entry in direction]), expected)


def test_a_bottleneck_is_the_risk_on_what_a_source_s_head_says():
    """Over that on what the target's own head says."""
    body = encoder()
    source, target = task("near", 1, sizes=(30, 20)), task("goal", 2, sizes=(25, 20))
    found = found_for([source], target, body=body, sizes=ALL)["near"]["bottleneck"]
    with torch.no_grad():
        near, seen, unseen = (
            Items(body(part.inputs), part.labels)
            for part in (source.train, target.train, target.test)
        )
    risks = []
    for probe in (Probe.fitted(near), Probe.fitted(seen)):
        said, held = (Items(probe.outputs(each.vectors), each.labels) for each in (seen, unseen))
        risks.append(Probe.fitted(said).risk(held).clipped)
    assert found == pytest.approx(risks[0] - risks[1], abs=1e-5)


# Where the answer is known


def test_a_task_is_next_to_itself():
    goal = task("goal", 2, sizes=(30, 50))
    found = found_for([replace(goal, name="copy")], goal, sizes=ALL)["copy"]
    assert found["tangent"] == pytest.approx(0, abs=1e-4)
    assert found["bottleneck"] == pytest.approx(0, abs=1e-4)
    assert set(found) == set(ESTIMATES)


def test_a_task_is_no_source_of_its_own():
    near, goal = task("near", 1, sizes=(30, 30)), task("goal", 2, sizes=(30, 30))
    found = Estimator(encoder()).estimates([near, goal], [near, goal]).values
    assert {name: set(known) for name, known in found.items()} == {
        "near": {"goal"},
        "goal": {"near"},
    }
    mixed = Estimator(encoder()).estimates([near], [goal, near], mixtures={"all": {"near": 1.0}})
    assert set(mixed.values["near"]) == set()
    assert set(mixed.values["goal"]) == {"near", "all"}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_shuffled_labels_are_farther_than_those_that_help(seed):
    sources = [
        task("near", 10 * seed + 1, sizes=(300, 1)),
        task("shuffled", 10 * seed + 2, shuffled=True, sizes=(300, 1)),
    ]
    goal = task("goal", 10 * seed + 3, sizes=(200, 200))
    found = found_for(sources, goal, body=encoder(seed=seed), seed=seed, sizes=ALL)
    near, shuffled = found["near"], found["shuffled"]
    assert near["tangent"] < shuffled["tangent"] - 0.05


def test_all_weight_on_one_source_is_that_source():
    sources = [task("near", 1, sizes=(80, 1)), task("far", 2, shuffled=True, sizes=(80, 1))]
    goal = task("goal", 3, sizes=(40, 60))
    found = found_for(
        sources,
        goal,
        mixtures={
            "alone": {"far": 1.0},
            "rest": {"near": 0.0, "far": 1.0},
            "even": {"near": 0.5, "far": 0.5},
        },
    )
    far = {"tangent": found["far"]["tangent"]}
    assert found["alone"] == far
    assert found["rest"] == pytest.approx(far, abs=1e-5)
    assert found["even"]["tangent"] != pytest.approx(far["tangent"], abs=1e-5)


def test_of_numbers_what_can_be_told_is_told():
    """Labels that are numbers have no classes whose answers could be compared."""
    near, goal = task("near", 1, sizes=(60, 60)), task("goal", 2, sizes=(60, 60))
    slant, other = numbers("slant", 3), numbers("other", 4)
    body, any_target = encoder(), {"tangent", "bottleneck"}
    of_numbers = found_for([near, other], slant, body=body)
    assert set(of_numbers["near"]) == set(of_numbers["other"]) == any_target
    of_classes = found_for([near, slant], goal, body=body)
    assert set(of_classes["slant"]) == any_target
    assert set(of_classes["near"]) == set(ESTIMATES)
    for found in (*of_numbers.values(), *of_classes.values()):
        assert np.isfinite(list(found.values())).all()
    copy = found_for([replace(slant, name="copy")], slant, sizes=ALL)["copy"]
    assert copy["tangent"] == pytest.approx(0, abs=1e-3)


def test_a_target_without_held_out_examples_is_refused():
    bare = replace(task("bare", 1, sizes=(20, 1)), test=None)
    with pytest.raises(DataError, match="'bare' has neither"):
        found_for([task("near", 2, sizes=(20, 20))], bare)


# What is left behind


class Noisy(nn.Module):
    """With statistics, dropout, a frozen layer, and parts in different modes."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(
            nn.Linear(20, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Tanh(), nn.Linear(8, 4)
        )
        self.inner[0].requires_grad_(False)
        self.inner[1].eval()

    def forward(self, inputs):
        return self.inner(inputs) + 0 * torch.rand(()) * random.random() * np.random.rand()  # noqa: NPY002


def test_nothing_of_the_model_or_of_random_streams_is_changed():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        body = Noisy()
    body.inner[4].weight.grad = torch.ones_like(body.inner[4].weight)
    before = {name: value.clone() for name, value in body.state_dict().items()}
    modes = [part.training for part in body.modules()]
    streams = torch.get_rng_state(), random.getstate(), np.random.get_state()  # noqa: NPY002
    tasks = [task("near", 1, sizes=(70, 1)), task("far", 2, sizes=(70, 1))]
    found_for(tasks, task("goal", 3, sizes=(40, 40)), body=body, mixtures={"all": {"near": 1.0}})
    for name, value in body.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert [part.training for part in body.modules()] == modes
    grads = {name: p.grad for name, p in body.named_parameters() if p.grad is not None}
    assert list(grads) == ["inner.4.weight"]
    assert torch.equal(grads["inner.4.weight"], torch.ones_like(body.inner[4].weight))
    assert [p.requires_grad for p in body.parameters()] == [False, False, True, True, True, True]
    assert torch.equal(torch.get_rng_state(), streams[0])
    assert random.getstate() == streams[1]
    assert all(
        np.array_equal(now, then)
        for now, then in zip(np.random.get_state(), streams[2], strict=True)  # noqa: NPY002
    )


def test_a_seed_draws_the_same_samples_and_another_draws_others():
    sizes = SampleSizes(head=40, step=20, target=30, held_out=30)
    sources, goal = [task("near", 1, sizes=(200, 1))], task("goal", 2, sizes=(200, 200))
    first, again, other = (found_for(sources, goal, seed=seed, sizes=sizes) for seed in (3, 3, 4))
    assert first == again
    assert first["near"]["tangent"] != other["near"]["tangent"]
    assert first["near"]["leep"] != other["near"]["leep"]


def test_estimates_of_a_source_do_not_depend_on_the_others():
    near, far = task("near", 1, sizes=(80, 1)), task("far", 2, shuffled=True, sizes=(80, 1))
    goal = task("goal", 3, sizes=(40, 60))
    both = found_for([far, near], goal)
    assert both["near"] == found_for([near], goal)["near"]


def test_times_are_told_and_steps_are_counted():
    steps = []
    estimator = Estimator(encoder())
    found = estimator.estimates(
        [task("near", 1, sizes=(40, 1)), task("far", 2, sizes=(40, 1))],
        [task("goal", 3, sizes=(40, 40))],
        mixtures={"even": {"near": 0.5, "far": 0.5}},
        on_done=lambda: steps.append(1),
    )
    assert len(steps) == 3
    assert set(found.seconds) == set(ESTIMATES)
    assert all(seconds > 0 for seconds in found.seconds.values())


def test_work_is_told_batch_by_batch_and_comes_to_what_was_planned():
    sources = {name: task(name, seed, sizes=(200, 1)) for seed, name in enumerate(("near", "far"))}
    targets = {"goal": task("goal", 3, sizes=(100, 100))}
    even = {"even": {"near": 0.5, "far": 0.5}}
    told = []
    Estimator(encoder()).estimates(
        list(sources.values()), list(targets.values()), mixtures=even, on_work=told.append
    )
    planned = sum(
        passes(piece, sources=sources, targets=targets, sizes=SampleSizes())
        for piece in pieces(list(sources), list(targets), even)
    )
    assert told[-1] == planned
    assert told == sorted(told)
    assert max(np.diff([0, *told])) <= 0.05 * planned


def test_a_stop_within_an_estimate_leaves_the_model_as_it_was():
    body, counted = encoder(), itertools.count()
    before = {name: value.clone() for name, value in body.state_dict().items()}

    def stop(done):
        if next(counted) == 150:
            raise Interrupted("now")

    with pytest.raises(Interrupted):
        Estimator(body).estimates(
            [task("near", 1, sizes=(200, 1))], [task("goal", 3, sizes=(90, 90))], on_work=stop
        )
    assert body.training
    for name, value in body.state_dict().items():
        assert torch.equal(value, before[name]), name
