"""Which task and examples a step takes: the objective is Σ ω_t L_t, whatever the sizes."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tawt.tasks import Batch, Examples
from tawt.training.batches import Loader
from tawt.training.parts import Parts
from tawt.training.schedule import Schedule

SIZES = {"one": 1, "ragged": 37, "many": 1000}
SHARES = {"one": 0.55, "ragged": 0.4, "many": 0.05}


def schedule(sizes=SIZES, *, batch_size=16, sampling="size", seed=0, phase="joint"):
    return Schedule(sizes, batch_size=batch_size, sampling=sampling, seed=seed, phase=phase)


def whole(plan, epoch=0, shares=SHARES):
    return plan.steps(epoch, 0, plan.length, shares=shares)


def same(ours, theirs):
    assert [step.task for step in ours] == [step.task for step in theirs]
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.indices, other.indices)


# The objective


def epoch_average(plan, losses, shares):
    """The mean over an epoch's steps of scale × mean batch loss, step by step."""
    terms = [
        plan.scale(step.task, len(step.indices), shares=shares)
        * math.fsum(losses[step.task][step.indices])
        / len(step.indices)
        for step in whole(plan, shares=shares)
    ]
    return math.fsum(terms) / len(terms)


def objective(losses, shares):
    return math.fsum(shares[name] * math.fsum(x) / len(x) for name, x in losses.items())


@pytest.mark.parametrize("batch_size", [1, 7, 16, 64, 5000])
def test_an_epoch_by_size_averages_to_the_weighted_objective(batch_size):
    draw = np.random.default_rng(0)
    losses = {name: draw.exponential(size=size) for name, size in SIZES.items()}
    losses["one"][:] = 1000.0  # a task of one example that counts for more than half
    plan = schedule(batch_size=batch_size)
    assert epoch_average(plan, losses, SHARES) == pytest.approx(
        objective(losses, SHARES), rel=1e-14
    )


@settings(max_examples=60, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=5),
    batch_size=st.integers(1, 20),
    seed=st.integers(0, 5),
)
def test_any_sizes_average_to_the_weighted_objective(sizes, batch_size, seed):
    draw = np.random.default_rng(seed)
    names = [f"t{position}" for position in range(len(sizes))]
    losses = {name: draw.normal(size=n) ** 2 for name, n in zip(names, sizes, strict=True)}
    shares = dict(zip(names, draw.dirichlet(np.ones(len(sizes))).tolist(), strict=True))
    plan = schedule(dict(zip(names, sizes, strict=True)), batch_size=batch_size, seed=seed)
    expected = objective(losses, shares)
    assert epoch_average(plan, losses, shares) == pytest.approx(expected, rel=1e-13)


def test_steps_by_weight_are_not_scaled():
    plan = schedule(sampling="weight")
    assert {plan.scale(name, 16, shares=SHARES) for name in SIZES} == {1.0}


def test_draws_by_weight_follow_the_weights():
    plan = schedule(sampling="weight", batch_size=4)
    drawn = [step.task for step in plan.steps(0, 0, 4000, shares=SHARES)]
    counts = [drawn.count(name) for name in SIZES]
    expected = [4000 * SHARES[name] for name in SIZES]
    assert stats.chisquare(counts, expected).pvalue > 0.01
    uniform = [4000 / 3] * 3
    assert stats.chisquare(counts, uniform).pvalue < 1e-6


def test_draws_by_weight_reach_every_example_alike():
    plan = schedule({"only": 20}, sampling="weight", batch_size=5)
    steps = plan.steps(0, 0, 800, shares={"only": 1.0})
    counts = np.bincount(np.concatenate([step.indices for step in steps]), minlength=20)
    assert stats.chisquare(counts).pvalue > 0.01
    assert all(len(set(step.indices.tolist())) == 5 for step in steps)


def test_a_task_without_weight_is_never_drawn():
    shares = {"one": 0.0, "ragged": 1.0, "many": 0.0}
    steps = schedule(sampling="weight").steps(0, 0, 200, shares=shares)
    assert {step.task for step in steps} == {"ragged"}


# What an epoch sees


@pytest.mark.parametrize("epoch", [0, 3])
def test_every_example_is_seen_once_an_epoch(epoch):
    plan = schedule()
    steps = whole(plan, epoch)
    assert len(steps) == plan.length
    assert max(len(step.indices) for step in steps) == 16
    for name, size in SIZES.items():
        seen = np.concatenate([step.indices for step in steps if step.task == name])
        np.testing.assert_array_equal(np.sort(seen), np.arange(size))


def test_tasks_are_mixed_not_one_after_the_other():
    tasks = [step.task for step in whole(schedule({"a": 160, "b": 160}, batch_size=4))]
    changes = sum(one != other for one, other in itertools.pairwise(tasks))
    assert changes > 20


@pytest.mark.parametrize("sampling", ["size", "weight"])
@pytest.mark.parametrize("first", [0, 1, 30, 66])
def test_the_rest_of_an_epoch_is_the_tail_of_the_whole(sampling, first):
    plan = schedule(sampling=sampling)
    assert plan.length == 67
    same(plan.steps(2, first, plan.length, shares=SHARES), whole(plan, 2)[first:])
    middle = plan.steps(2, first, first + 1, shares=SHARES)
    same(middle, whole(plan, 2)[first : first + 1])


@pytest.mark.parametrize("sampling", ["size", "weight"])
@pytest.mark.parametrize("other", [{"epoch": 1}, {"seed": 1}, {"phase": "sources"}])
def test_epochs_seeds_and_phases_have_orders_of_their_own(sampling, other):
    def order(*, epoch=0, **changes):
        steps = whole(schedule(sampling=sampling, **changes), epoch)
        return [(step.task, step.indices.tolist()) for step in steps]

    assert order() == order()
    assert order() != order(**other)


# Examples of different lengths

LENGTHS = {"only": np.random.default_rng(1).lognormal(2.8, 0.7, 1000).astype(int) + 3}


ONLY = {"only": 1.0}


def plain(size=1000, *, batch_size=32):
    return Schedule({"only": size}, batch_size=batch_size, sampling="size", seed=0, phase="x")


def by_length(size=1000, *, batch_size=32, seed=0):
    lengths = {"only": LENGTHS["only"][:size]}
    return Schedule(
        {"only": size},
        batch_size=batch_size,
        sampling="size",
        seed=seed,
        phase="x",
        lengths=lengths,
    )


@pytest.mark.parametrize("size", [1, 31, 300, 1000])
@pytest.mark.parametrize("batch_size", [1, 6, 32])
def test_with_lengths_every_example_is_seen_once_an_epoch(size, batch_size):
    steps = whole(by_length(size, batch_size=batch_size), 1, {"only": 1.0})
    assert [len(step.indices) for step in steps].count(batch_size) >= size // batch_size
    np.testing.assert_array_equal(
        np.sort(np.concatenate([step.indices for step in steps])), np.arange(size)
    )


def test_every_batch_is_of_all_lengths():
    """Their mean length strays little more than that of random batches; sorted, seven times."""
    for batch_size in (4, 8, 16, 32):
        plans = (by_length(batch_size=batch_size), plain(batch_size=batch_size))
        strays = [
            np.std([LENGTHS["only"][step.indices].mean() for step in whole(plan, 0, ONLY)])
            for plan in plans
        ]
        assert strays[0] < 2 * strays[1]


@pytest.mark.parametrize(("size", "batch_size"), [(960, 32), (256, 8)])
def test_examples_do_not_meet_again_and_again(size, batch_size):
    """Pairs of one batch are together in the next epoch not much oftener than by chance."""

    def pairs(plan, epoch):
        return {
            pair
            for step in whole(plan, epoch, ONLY)
            for pair in itertools.combinations(sorted(step.indices.tolist()), 2)
        }

    met = [
        len(pairs(plan, 0) & pairs(plan, 1))
        for plan in (by_length(size, batch_size=batch_size), plain(size, batch_size=batch_size))
    ]
    assert met[0] < 2 * met[1]


@pytest.mark.parametrize("first", [0, 1, 17, 31])
def test_with_lengths_the_rest_of_an_epoch_is_the_tail_of_the_whole(first):
    rest = by_length().steps(2, first, 32, shares=ONLY)
    same(rest, whole(by_length(), 2, ONLY)[first:])


def test_an_epoch_with_lengths_averages_to_the_objective():
    losses = {"only": LENGTHS["only"] / 10.0}
    assert epoch_average(by_length(), losses, ONLY) == pytest.approx(
        float(losses["only"].mean()), rel=1e-13
    )


def test_batches_of_all_lengths_are_padded_little():
    """In the parts that they are computed in."""

    known = Counting(0, len(LENGTHS["only"]))
    known.lengths = LENGTHS["only"]

    def places(batches):
        parts = [indices[at] for indices in batches for at in Parts(110, 32).of(known, indices)]
        return sum(LENGTHS["only"][part].max() * len(part) for part in parts) + 110 * len(parts)

    grouped = [step.indices for step in whole(by_length(992), 0, {"only": 1.0})]
    random = np.random.default_rng(0).permutation(992).reshape(-1, 32)
    assert places(grouped) < 0.95 * places(random)


def test_epochs_with_lengths_have_batches_of_their_own():
    plan = by_length()
    first, second = (
        {frozenset(step.indices.tolist()) for step in whole(plan, epoch, {"only": 1.0})}
        for epoch in (0, 1)
    )
    assert not first & second


# Fetching


class Counting(Examples):
    """Example i of task k is the number 1000 k + i."""

    def __init__(self, start, size):
        self.start, self.size = start, size

    def __len__(self):
        return self.size

    def batch(self, indices):
        rows = torch.as_tensor(indices) + self.start
        return Batch({"row": rows}, rows)


PARTS = Parts(pass_cost=64, most_rows=32)
EXAMPLES = {name: Counting(1000 * k, size) for k, (name, size) in enumerate(SIZES.items())}


def fetched(loader, plan):
    return [(step, only.labels.tolist()) for step, [only] in loader.fetch(plan)]


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_the_planned_ones_whatever_the_workers(workers):
    loader, plan = Loader(EXAMPLES, parts=PARTS, workers=workers), schedule(batch_size=100)
    for epoch in range(2):  # a second plan, through the same workers
        steps = whole(plan, epoch)
        found = fetched(loader, steps)
        assert [step for step, _ in found] == steps
        for step, labels in found:
            assert labels == (step.indices + EXAMPLES[step.task].start).tolist()


def test_several_processes_share_every_batch():
    steps = [step for step in whole(schedule()) if len(step.indices) > 1]
    parts = [
        fetched(Loader(EXAMPLES, parts=PARTS, process=k, processes=3), steps) for k in range(3)
    ]
    for position, step in enumerate(steps):
        together = [label for part in parts for label in part[position][1]]
        assert sorted(together) == sorted(step.indices + EXAMPLES[step.task].start)


@pytest.mark.parametrize("workers", [0, 2])
def test_fetching_leaves_the_callers_random_stream_alone(workers):
    before = torch.get_rng_state()
    fetched(Loader(EXAMPLES, parts=PARTS, workers=workers), whole(schedule(batch_size=500)))
    assert torch.equal(torch.get_rng_state(), before)
