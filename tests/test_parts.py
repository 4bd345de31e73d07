"""Batches in parts of like length: the cheapest way to take them apart, and the same steps."""

import copy
import itertools
from typing import ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tawt.arrays import Classification
from tawt.tasks import Batch, Examples, MultiTaskModel, Task
from tawt.tasks.examples import Subset
from tawt.training import Settings, SingleTask, train
from tawt.training.parts import Parts
from tawt.units import Coded

CPU, GPU = torch.device("cpu"), torch.device("cuda")


class Lengths(Examples):
    """Examples of which only this is asked."""

    def __init__(self, lengths, rows=None):
        self.lengths = np.array(lengths)
        if rows is not None:
            self.rows = np.array(rows)

    def __len__(self):
        return len(self.lengths)

    def batch(self, indices):
        raise NotImplementedError


def everything(examples):
    return np.arange(len(examples))


def cost(parts, lengths, rows, pass_cost):
    padded = sum(lengths[part].max() * rows[part].sum() for part in parts)
    return padded + pass_cost * len(parts)


def cheapest(lengths, rows, *, pass_cost, most_rows):
    """By trying every way to cut the examples, sorted by length."""
    order, size = np.argsort(lengths, kind="stable"), len(lengths)
    ways = (
        np.split(order, cuts)
        for count in range(size)
        for cuts in itertools.combinations(range(1, size), count)
    )
    return min(
        cost(parts, lengths, rows, pass_cost)
        for parts in ways
        if all(len(part) == 1 or rows[part].sum() <= most_rows for part in parts)
    )


@given(
    st.lists(st.tuples(st.integers(1, 120), st.integers(1, 5)), min_size=1, max_size=7),
    st.sampled_from([0, 10, 64, 1000]),
    st.integers(1, 12),
)
def test_parts_are_the_cheapest_there_are(examples, pass_cost, most_rows):
    lengths, rows = (np.array(column) for column in zip(*examples, strict=True))
    drawn = Lengths(lengths, rows)
    parts = Parts(pass_cost, most_rows).of(drawn, everything(drawn))
    expected = cheapest(lengths, rows, pass_cost=pass_cost, most_rows=most_rows)
    assert cost(parts, lengths, rows, pass_cost) == expected
    assert sorted(np.concatenate(parts)) == list(range(len(lengths)))
    assert all(len(part) == 1 or rows[part].sum() <= most_rows for part in parts)


def test_parts_are_places_among_the_examples_drawn():
    drawn, indices = Lengths([5, 500, 6, 7, 501, 8]), np.array([4, 0, 5, 1])
    parts = [indices[places].tolist() for places in Parts(64, 32).of(drawn, indices)]
    assert parts == [[0, 5], [1, 4]]


def test_examples_of_no_length_stay_together():
    [part] = Parts(0, 1).of(Sums(4, lengths=False), np.array([3, 1, 2]))
    assert part.tolist() == [0, 1, 2]


def test_a_part_of_no_examples():
    [part] = Parts(64, 32).of(Lengths([1, 2]), np.array([], dtype=int))
    assert len(part) == 0


@pytest.mark.parametrize(
    "norm",
    [torch.nn.BatchNorm1d(2), torch.nn.SyncBatchNorm(2), torch.nn.LazyBatchNorm1d()],
    ids=lambda norm: type(norm).__name__,
)
def test_a_batch_whose_statistics_count_is_in_one_part(norm):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), norm)
    drawn = Lengths([1, 900, 5, 8], rows=[1, 50, 1, 1])
    [part] = Parts.on(CPU, batch_size=2, model=model).of(drawn, everything(drawn))
    assert part.tolist() == [0, 1, 2, 3]


def test_on_a_gpu_a_batch_is_in_one_part_unless_it_has_too_many_rows():
    parts = Parts.on(GPU, batch_size=2, model=torch.nn.Linear(2, 2))
    short = Lengths([1, 900, 5, 8], rows=[1, 1, 1, 1])
    [part] = parts.of(short, everything(short))
    assert part.tolist() == [0, 1, 2, 3]
    long = Lengths([9, 9, 9, 9], rows=[3, 1, 2, 2])
    assert [part.tolist() for part in parts.of(long, everything(long))] == [[0, 1], [2, 3]]


def test_a_subset_knows_the_lengths_and_rows_of_its_examples():
    subset = Subset(Lengths([5, 6, 7], rows=[1, 2, 3]), np.array([2, 0]))
    assert subset.lengths.tolist() == [7, 5]
    assert subset.rows.tolist() == [3, 1]


class Tagged(Examples):
    """Three sentences with one, two and three tags."""

    notes: ClassVar = {"seen": 3}

    def __len__(self):
        return 3

    def batch(self, indices):
        raise NotImplementedError

    def groups(self):
        return ["a", "b", "c"]

    def names(self):
        return Coded.of(["x", "y", "z"])

    def all_names(self):
        return Coded.of(["x", "y", "z", "x", "y", "z"]), np.array([1, 2, 3], np.int32)

    def answered(self, index, gold, predicted):
        return [(str(index), gold, predicted)] * (index + 1)


def test_a_subset_has_the_groups_of_its_examples_as_they_are_given():
    class Numbered(Tagged):
        def groups(self):
            return Coded.of(["a", "b", "a"])

    subset = Subset(Numbered(), np.array([2, 1]))
    assert list(subset.groups()) == ["a", "b"]
    assert subset.groups().numbers.dtype == np.int32


def test_a_subset_shows_what_its_examples_show():
    subset = Subset(Tagged(), np.array([2, 0]))
    assert subset.notes == {"seen": 3}
    assert subset.groups() == ["c", "a"]
    names = subset.names()
    assert [names.names[number] for number in names.numbers] == ["z", "x"]
    tags, counts = subset.all_names()
    assert [tags.names[number] for number in tags.numbers] == ["x", "y", "z", "x"]
    assert counts.tolist() == [3, 1]
    assert subset.answered(0, "g", "p") == [("2", "g", "p")] * 3


class Sums(Examples):
    """Rows of numbers, padded with zeros; the label is whether they sum to more than nothing."""

    def __init__(self, size, *, lengths=True, seed=0):
        draw = np.random.default_rng(seed)
        long = draw.integers(1, 200, size)
        self._rows = [torch.tensor(draw.normal(size=n) / n**0.5).float() for n in long]
        if lengths:
            self.lengths = long

    def __len__(self):
        return len(self._rows)

    def batch(self, indices):
        rows = [self._rows[i] for i in indices]
        labels = torch.tensor([int(row.sum() > 0) for row in rows])
        return Batch(torch.nn.utils.rnn.pad_sequence(rows, batch_first=True), labels)


class Moments(torch.nn.Module):
    """Three sums over a row: padding adds nothing to them."""

    def __init__(self):
        super().__init__()
        self.scales = torch.nn.Parameter(torch.tensor([1.0, 0.5, -0.7]))

    def forward(self, rows):
        return torch.tanh(rows[:, :, None] * self.scales).sum(1)


@pytest.mark.parametrize("accumulation", [1, 3])
def test_steps_in_parts_are_the_same_steps(accumulation):
    """To rounding: gradients are added up in another order."""
    torch.manual_seed(0)
    kind = Classification(("no", "yes"))
    found = {}
    start = MultiTaskModel.for_tasks(Moments(), [Task("sign", kind, Sums(2))], width=3)
    for lengths in (True, False):
        task = Task("sign", kind, Sums(50, lengths=lengths), dev=Sums(20, seed=1))
        model = copy.deepcopy(start)
        settings = Settings(batch_size=16, learning_rate=0.05, accumulation=accumulation)
        result = train(
            model, tasks=[task], target="sign", paradigm=SingleTask(epochs=3), settings=settings
        )
        found[lengths] = [epoch["loss"] for epoch in result.epochs], model.cpu().state_dict()
    assert found[True][0] == pytest.approx(found[False][0], rel=1e-5)
    for name, value in found[True][1].items():
        torch.testing.assert_close(value, found[False][1][name], rtol=1e-4, atol=1e-5)
        assert not torch.equal(value, start.state_dict()[name])


def test_a_batch_with_a_number_that_is_not_finite_is_skipped_once_though_in_parts():
    examples = Sums(40)
    examples._rows[int(np.argmax(examples.lengths))].fill_(float("nan"))
    task = Task("sign", Classification(("no", "yes")), examples)
    torch.manual_seed(0)
    model = MultiTaskModel.for_tasks(Moments(), [task], width=3)
    result = train(
        model,
        tasks=[task],
        target="sign",
        paradigm=SingleTask(epochs=2),
        settings=Settings(batch_size=10),
    )
    assert result.skipped_steps == {"sign": 2}  # the batch that has it, in either epoch
    assert all(torch.isfinite(p).all() for p in model.parameters())
