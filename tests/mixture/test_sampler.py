"""The batch sampler: alone, with workers, handed out by Accelerate, and after a resume."""

import itertools
import json
import pickle

import pytest
from accelerate.data_loader import prepare_data_loader, skip_first_batches
from torch.utils.data import ConcatDataset, DataLoader

from tawt import MixtureSampler, TaggedExamples
from tawt.errors import TrainingError

SIZES = {"a": 13, "b": 40, "c": 6}
WEIGHTS = {"a": 0.5, "b": 0.3, "c": 0.2}


def sampler(weights=WEIGHTS, **settings):
    return MixtureSampler(SIZES, weights, **{"batch_size": 4, "seed": 5, "steps": 20, **settings})


def loader(sampler, **settings):
    """Examples are their own positions."""
    return DataLoader(
        range(sum(SIZES.values())), batch_sampler=sampler, collate_fn=list, **settings
    )


def prepared(sampler, *, process=0, processes=1, **settings):
    """As the `Trainer` has it prepared on one of several processes."""
    return prepare_data_loader(
        loader(sampler), num_processes=processes, process_index=process, **settings
    )


def tasks(sampler, batches):
    """Of each batch, which must be one."""
    found = [{sampler.task_of(index) for index in batch} for batch in batches]
    assert all(len(names) == 1 for names in found)
    return [name for (name,) in found]


def test_positions_are_in_the_datasets_laid_end_to_end():
    lists = {name: [(name, n) for n in range(size)] for name, size in SIZES.items()}
    whole, tagged = ConcatDataset(list(lists.values())), TaggedExamples(lists)
    assert len(whole) == len(tagged)
    made = sampler()
    assert made.offsets == {"a": 0, "b": 13, "c": 53}
    for index in range(len(whole)):
        assert made.task_of(index) == whole[index][0]
        assert tagged[index] == (whole[index][0], whole[index])


def test_every_example_comes_once_in_each_pass():
    seen = {name: [] for name in SIZES}
    made = sampler(steps=200)
    for batch in made:
        seen[made.task_of(batch[0])] += batch
    for name, size in SIZES.items():
        first, second = seen[name][:size], seen[name][size : 2 * size]
        positions = range(made.offsets[name], made.offsets[name] + size)
        assert sorted(first) == sorted(second) == list(positions)
        assert first != second


def test_it_is_as_long_as_it_says():
    assert len(sampler()) == len(list(sampler())) == 20
    assert len(sampler(processes=2)) == len(list(sampler(processes=2))) == 40
    assert len(sampler(processes=2, process=1)) == len(list(sampler(processes=2, process=1))) == 20
    assert len(sampler(steps=None)) == 4 + 10 + 2
    assert len(sampler(steps=None, processes=2)) == 2 * (2 + 5 + 1)


@pytest.mark.parametrize("batches", ["one task", "mixed"])
@pytest.mark.parametrize("processes", [2, 4])
def test_accelerate_hands_out_the_batches_of_a_step(processes, batches):
    """One task on all processes, no example twice, together what one process would take."""
    whole = list(sampler(batch_size=4 * processes, batches=batches))
    parts = [
        list(
            prepared(sampler(processes=processes, batches=batches), process=p, processes=processes)
        )
        for p in range(processes)
    ]
    assert [len(part) for part in parts] == [20] * processes
    for step, batch in enumerate(whole):
        assert [index for part in parts for index in part[step]] == batch
    if batches == "one task":
        assert all(tasks(sampler(), part) == tasks(sampler(), whole) for part in parts)


@pytest.mark.parametrize("even", [True, False])
def test_accelerate_splits_batches(even):
    whole = list(sampler(batch_size=8, processes=1))
    parts = [
        list(
            prepared(
                sampler(batch_size=8, processes=1),
                process=p,
                processes=2,
                split_batches=True,
                even_batches=even,
            )
        )
        for p in range(2)
    ]
    assert [first + second for first, second in zip(*parts, strict=True)] == whole


def test_processes_without_accelerate_take_the_same():
    for process in range(2):
        handed = list(prepared(sampler(processes=2), process=process, processes=2))
        assert list(sampler(processes=2, process=process)) == handed


@pytest.mark.parametrize("batches", ["one task", "mixed"])
def test_a_resume_at_every_step_goes_on_exactly(batches):
    whole = list(sampler(batches=batches))
    first = sampler(batches=batches)
    for step, _ in enumerate(first, start=1):
        again = sampler(batches=batches)
        again.load_state_dict(json.loads(json.dumps(first.state_dict())))
        if step < len(whole):
            assert list(again) == whole[step:]
        assert len(list(again)) == 20  # a whole epoch: the next


def test_a_resume_with_other_processes_goes_on_exactly():
    whole = list(sampler(batch_size=8))
    first = sampler(processes=2)
    list(itertools.islice(first, 2 * 7))
    again = sampler(batch_size=2, processes=4)
    again.load_state_dict(first.state_dict())
    left = list(again)
    steps = [list(itertools.chain(*left[start : start + 4])) for start in range(0, len(left), 4)]
    assert steps == whole[7:]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_resume_that_skips_batches_goes_on_exactly(processes):
    """The `Trainer` skips what it trained on: these must not be drawn a second time."""
    whole = list(prepared(sampler(processes=processes), processes=processes))
    first = sampler(processes=processes)
    list(itertools.islice(first, 7 * processes))
    again = sampler(processes=processes)
    again.load_state_dict(first.state_dict(), skipped=7)
    skipping = skip_first_batches(prepared(again, processes=processes), 7)
    assert list(skipping) == whole[7:]


class Moving:
    """A training loop that turns its weights around after some steps, and may be resumed."""

    def __init__(self, ahead):
        self.weights = {"a": 1.0, "b": 0.0, "c": 0.0}
        self.sampler = sampler(self.weights, steps=30)
        self.ahead = ahead
        self.step = 0

    def train(self, steps):
        found = []
        for batch in itertools.islice(self.ahead(self.sampler), steps):
            self.step += 1
            found.append(batch)
            if self.step == 10:
                self.weights.update(a=0.0, b=0.5, c=0.5)
        return found


def with_workers(sampler):
    return loader(sampler, num_workers=2, prefetch_factor=2)


@pytest.mark.parametrize(("ahead", "lag"), [(loader, 0), (prepared, 1), (with_workers, 4)])
def test_weights_count_after_what_was_drawn_ahead(ahead, lag):
    """Accelerate is one batch ahead, and two workers with two batches each are four."""
    run = Moving(ahead)
    found = tasks(run.sampler, run.train(30))
    assert found[: 10 + lag] == ["a"] * (10 + lag)
    assert "a" not in found[10 + lag :]


@pytest.mark.parametrize("stop", [8, 11, 13, 25])
@pytest.mark.parametrize("ahead", [loader, prepared, with_workers])
def test_a_resume_is_exact_in_the_middle_of_what_was_drawn_ahead(ahead, stop):
    whole = Moving(ahead).train(30)
    first = Moving(ahead)
    assert first.train(stop) == whole[:stop]
    state = json.loads(json.dumps(first.sampler.state_dict(step=stop)))
    again = Moving(ahead)
    again.weights.update(first.weights)
    again.step = stop
    again.sampler.load_state_dict(state)
    assert again.train(30) == whole[stop:]


def test_what_was_drawn_is_known_for_a_while():
    held = sampler({"a": 1.0, "b": 0.0, "c": 0.0}, floor=0.1, steps=1500)
    batches = list(held)
    draw = held.drawn(1499)
    assert draw.tasks == (held.task_of(batches[1499][0]),)
    assert draw.factors == pytest.approx({"a": 1 / 0.8, "b": 0, "c": 0})
    with pytest.raises(TrainingError, match="step 3 is not known"):
        held.drawn(3)
    with pytest.raises(TrainingError, match="between 0 and the 1500 steps"):
        held.state_dict(step=1501)


def test_two_loaders_at_once_are_refused():
    made = sampler()
    with pytest.raises(TrainingError, match="two loops at once"):
        list(zip(loader(made), loader(made), strict=True))


def test_it_can_be_pickled():
    made = sampler()
    list(itertools.islice(made, 5))
    assert list(pickle.loads(pickle.dumps(made))) == list(sampler())[5:]
