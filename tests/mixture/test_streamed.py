"""Datasets that are read from front to end, and loaders."""

import itertools
import json
import logging

import datasets
import pytest
import torch
from torch.utils.data import (
    DataLoader,
    DistributedSampler,
    IterableDataset,
    TensorDataset,
    WeightedRandomSampler,
)

from tawt import Mixture
from tawt.errors import ConfigError, DataError


class Counting(IterableDataset):
    """Numbers whose hundreds are the pass."""

    def __init__(self, size, start=0):
        self.size = size
        self.start = start
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        yield from (self.start + 100 * self.epoch + n for n in range(self.size))


def rows(size, start):
    for n in range(size):
        yield {"n": start + n}


def of_datasets(size, start=0, *, shuffled=False):
    found = datasets.IterableDataset.from_generator(rows, gen_kwargs={"size": size, "start": start})
    return found.shuffle(seed=0, buffer_size=5) if shuffled else found


def listed(steps):
    return [
        (task, batch["n"].tolist() if isinstance(batch, dict) else batch) for task, batch in steps
    ]


WEIGHTS = {"a": 0.6, "b": 0.4}


def from_torch():
    return {"a": Counting(11), "b": Counting(30, start=10_000)}


def from_datasets():
    return {"a": of_datasets(11), "b": of_datasets(30, 100)}


def from_shuffled_inside():
    a, b = of_datasets(11, shuffled=True), of_datasets(11, 50)
    return {"a": datasets.concatenate_datasets([a, b]), "b": of_datasets(30, 100)}


def from_shuffled():
    return {"a": of_datasets(11, shuffled=True), "b": of_datasets(30, 100, shuffled=True)}


def mixture(data, **settings):
    plain = list if isinstance(data["a"], Counting) else None
    given = {"batch_size": 2, "steps": 30, "collate": plain}
    return Mixture(data, WEIGHTS, **{**given, **settings})


def test_a_stream_is_read_again_and_told_which_pass_it_is():
    only = Mixture({"a": Counting(5)}, {"a": 1}, batch_size=3, steps=4, collate=list)
    read = [n for _, batch in only for n in batch]
    assert read == [0, 1, 2, 3, 4, 100, 101, 102, 103, 104, 200, 201]


@pytest.mark.parametrize("batches", ["one task", "mixed"])
@pytest.mark.parametrize("made", [from_torch, from_datasets])
def test_processes_together_take_what_one_with_the_whole_batch_takes(made, batches):
    whole = listed(mixture(made(), batch_size=4, batches=batches))
    parts = [listed(mixture(made(), batches=batches, process=p, processes=2)) for p in range(2)]
    for step, (_, batch) in enumerate(whole):
        assert parts[0][step][1] + parts[1][step][1] == batch


@pytest.mark.parametrize("stop", [1, 4, 17])
@pytest.mark.parametrize("made", [from_torch, from_datasets, from_shuffled, from_shuffled_inside])
def test_a_resume_goes_on_exactly(made, stop, caplog):
    """Also after an end was passed, and with another number of processes."""
    whole = listed(mixture(made(), batch_size=2))
    first = mixture(made(), batch_size=1, process=1, processes=2)
    list(itertools.islice(first, stop))
    state = json.loads(json.dumps(first.state_dict()))
    again = mixture(made())
    with caplog.at_level(logging.WARNING, logger="tawt"):
        again.load_state_dict(state)
    assert listed(again) == whole[stop:]
    said = [record for record in caplog.records if "read again" in record.message]
    assert bool(said) == (made is not from_datasets)  # which are set to a place


def test_a_fresh_batch_is_the_next_of_the_stream_and_training_does_not_see_it():
    only = Mixture({"a": Counting(50)}, {"a": 1}, batch_size=2, steps=3, collate=list)
    steps = iter(only)
    assert next(steps) == ("a", [0, 1])
    fresh = only.fresh(lambda task, batch: batch)
    assert [fresh.batch("a"), fresh.batch("a")] == [([2, 3], 2), ([4, 5], 2)]
    assert next(steps) == ("a", [6, 7])


def test_a_stream_needs_to_be_told_where_a_loop_ends():
    with pytest.raises(ConfigError, match=r"`steps` is missing.*'a'"):
        mixture(from_torch(), steps=None)


def test_an_empty_stream_is_named():
    empty = Mixture({"a": Counting(0)}, {"a": 1}, batch_size=1, steps=1)
    with pytest.raises(DataError, match="'a' gave no example"):
        list(empty)


def test_it_draws_as_interleave_datasets_does():
    """The same kind of draw, example by example; streams that end begin anew."""
    parts = [of_datasets(400, 0), of_datasets(400, 1000)]
    share = sum(
        row["n"] < 1000
        for row in datasets.interleave_datasets(parts, probabilities=[0.7, 0.3], seed=0)
    )
    ours = Mixture(
        dict(zip("ab", parts, strict=True)),
        {"a": 0.7, "b": 0.3},
        batch_size=10,
        steps=50,
        batches="mixed",
    )
    tasks = [task for names, _ in ours for task in names]
    assert tasks.count("a") / len(tasks) == pytest.approx(0.7, abs=0.1)
    assert share > 300


def table(size, start=0):
    return TensorDataset(torch.arange(start, start + size))


def numbers(steps):
    return [(task, batch[0].tolist()) for task, batch in steps]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_plain_loader_is_drawn_from_as_its_dataset_is(workers):
    """Its workers fetch ahead, and still a weight counts from the next step on."""
    settings = {"batch_size": 4, "shuffle": True, "num_workers": workers}
    weights = {"a": 1.0, "b": 0.0}

    def moved(mixture):
        for step, (task, (batch,)) in enumerate(mixture):
            yield task, batch.tolist()
            if step == 3:
                weights.update(a=0.0, b=1.0)

    loaders = {"a": DataLoader(table(13), **settings), "b": DataLoader(table(9, 100), **settings)}
    found = list(moved(Mixture(loaders, weights, steps=8)))
    weights.update(a=1.0, b=0.0)
    plain = Mixture({"a": table(13), "b": table(9, 100)}, weights, batch_size=4, steps=8)
    assert found == list(moved(plain))
    assert [task for task, _ in found] == ["a"] * 4 + ["b"] * 4


def test_a_loader_with_workers_resumes_exactly():
    def made():
        loader = DataLoader(table(13), batch_size=4, shuffle=True, num_workers=1)
        return Mixture({"a": loader}, {"a": 1}, steps=6)

    whole, first, again = numbers(made()), made(), made()
    list(itertools.islice(first, 2))
    again.load_state_dict(first.state_dict())
    assert numbers(again) == whole[2:]


def test_a_loader_that_does_not_shuffle_keeps_its_order():
    kept = Mixture({"a": DataLoader(table(5), batch_size=2)}, {"a": 1})
    assert numbers(kept) == [("a", [0, 1]), ("a", [2, 3]), ("a", [4, 0])]


def own_sampler():
    draw = torch.Generator().manual_seed(0)
    return DataLoader(
        table(6), batch_size=2, sampler=WeightedRandomSampler([1.0] * 6, 6, generator=draw)
    )


def test_a_loader_with_a_sampler_of_its_own_gives_its_batches():
    own = Mixture({"a": own_sampler()}, {"a": 1}, steps=3)
    expected = [("a", batch.tolist()) for (batch,) in own_sampler()]
    assert numbers(own) == expected
    _, examples = own.fresh(lambda task, batch: batch).batch("a")
    assert examples == 2
    with pytest.raises(ConfigError, match=r"sampler of its own, and 2 processes"):
        Mixture({"a": own_sampler()}, {"a": 1}, steps=3, process=0, processes=2)


def test_a_distributed_sampler_has_parted_the_examples_already():
    def loader(rank):
        parted = DistributedSampler(table(8), num_replicas=2, rank=rank, seed=1)
        return DataLoader(table(8), batch_size=2, sampler=parted)

    parts = [
        numbers(Mixture({"a": loader(rank)}, {"a": 1}, process=rank, processes=2))
        for rank in range(2)
    ]
    assert [len(part) for part in parts] == [2, 2]
    seen = [n for part in parts for _, batch in part for n in batch]
    assert sorted(seen) == list(range(8))


def test_a_loader_of_a_stream_gives_each_process_its_batches():
    def made(process):
        loader = DataLoader(Counting(8), batch_size=2)
        return Mixture({"a": loader}, {"a": 1}, steps=3, process=process, processes=2)

    found = [[batch.tolist() for _, batch in made(process)] for process in range(2)]
    assert found == [[[0, 1], [4, 5], [100, 101]], [[2, 3], [6, 7], [102, 103]]]
