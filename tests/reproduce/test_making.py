"""Runs are made once, in waves, in parts, and shared between experiments."""

import pytest

from tawt.errors import ConfigError, TawtError
from tawt.reproduce import EXPERIMENTS, make
from tawt.reproduce.choices import Held
from tawt.reproduce.store import key
from tawt.sweeps import Sweep
from tests.reproduce.made_up import TABLES, MadeUpStore, made, open_runs, plan, request

DYNAMIC = "table-dynamic-weights"


class Told:
    """Progress as a bar hears of it."""

    def __init__(self):
        self.calls = []

    def __call__(self, now):
        self.calls.append((now.done, now.total))


def keys(configs):
    return [key(config) for config in configs]


@pytest.mark.parametrize("experiment", TABLES)
def test_every_run_is_made_once(tmp_path, made_up_runs, experiment):
    store, told, seeds = MadeUpStore(tmp_path), Told(), 2
    asked = request(seeds=seeds)
    assert make(EXPERIMENTS[experiment], asked, store, Sweep(on_progress=told))
    found = keys(made_up_runs.configs)
    assert len(found) == len(set(found))
    held = 8 if experiment == DYNAMIC else 0
    known = {key(run.config(s)) for run in plan(experiment).runs() for s in range(seeds)}
    assert len(found) == len(known) + held * seeds
    assert known <= set(found)
    assert told.calls[-1] == (len(found), len(found))


def test_runs_that_need_weights_of_others_come_after_them(tmp_path, made_up_runs):
    store = MadeUpStore(tmp_path)
    choices = plan(DYNAMIC).choices
    assert made(choices, [0, 1], store)
    first, second = made_up_runs.waves
    assert (len(first), len(second)) == (48, 16)
    assert all(isinstance(config.weighting.initial, str) for config in first)
    assert all(isinstance(config.weighting.initial, dict) for config in second)
    for choice in choices:
        if isinstance(choice, Held):
            for seed in (0, 1):
                learned = choice.of.record(seed, store)["weights"]
                assert choice.run.holding(seed, learned) in second


def test_the_longest_runs_come_first(tmp_path, made_up_runs):
    made(plan("table-target-size").choices, [0], MadeUpStore(tmp_path))
    [wave] = made_up_runs.waves
    work = [sum(task.limit for task in config.data.tasks.values()) for config in wave]
    assert work == sorted(work, reverse=True)


@pytest.mark.parametrize("experiment", [DYNAMIC, "table-source-ratio"])
@pytest.mark.parametrize("seeds", [1, 2])
def test_progress_rises_and_never_passes_the_total(tmp_path, made_up_runs, experiment, seeds):
    told = Told()
    made(plan(experiment).choices, range(seeds), MadeUpStore(tmp_path), on_progress=told)
    done, [total] = [call[0] for call in told.calls], {call[1] for call in told.calls}
    assert done == sorted(done)
    assert done[0] == 0
    assert done[-1] == total == len(made_up_runs.configs)


def test_progress_goes_on_where_it_was(tmp_path, made_up_runs):
    store, told = MadeUpStore(tmp_path), Told()
    choices = plan(DYNAMIC).choices
    for config in open_runs(choices[0], 0, store):
        store.keep(config)
    assert made(choices, [0], store, on_progress=told)
    assert told.calls[0] == (5, 32)
    assert told.calls[-1] == (32, 32)


def test_a_second_experiment_makes_only_what_the_first_has_not(tmp_path, made_up_runs):
    store = MadeUpStore(tmp_path)
    seen = set()
    for name in TABLES:
        made_up_runs.waves.clear()
        assert make(EXPERIMENTS[name], request(), store, Sweep())
        found = set(keys(made_up_runs.configs))
        assert not found & seen
        seen |= found
        if name == "table-final-weights":
            assert not found
        if name == DYNAMIC:
            assert len(found) == 8
    assert len(seen) == 129 + 8


def test_nothing_is_made_when_all_is_there(tmp_path, made_up_runs):
    store = MadeUpStore(tmp_path)
    assert made(plan(DYNAMIC).choices, [0], store)
    made_up_runs.waves.clear()
    told = Told()
    again = MadeUpStore(tmp_path)  # as another process finds it
    assert made(plan(DYNAMIC).choices, [0], again, on_progress=told)
    assert made_up_runs.waves == []
    assert told.calls == [(32, 32)]


def test_more_seeds_leave_the_others_alone(tmp_path, made_up_runs):
    store, choices = MadeUpStore(tmp_path), plan("table-fewer-sources").choices
    made(choices, [0], store)
    made_up_runs.waves.clear()
    made(choices, [0, 1, 2], store)
    assert {config.seed for config in made_up_runs.configs} == {1, 2}


@pytest.mark.parametrize("of", [2, 3, 7])
def test_parts_are_disjoint_and_complete(tmp_path, made_up_runs, of):
    choices, parts = plan("table-target-size").choices, []
    for number in range(1, of + 1):
        made_up_runs.waves.clear()
        made(choices, [0], MadeUpStore(tmp_path / str(number)), part=(number, of))
        parts.append(set(keys(made_up_runs.configs)))
    assert sum(map(len, parts)) == len(set().union(*parts)) == 33
    assert all(parts)


def test_a_part_says_whether_others_are_missing(tmp_path, made_up_runs):
    choices, told = plan(DYNAMIC).choices, Told()

    def part(number):
        return made(choices, [0], MadeUpStore(tmp_path), part=(number, 2), on_progress=told)

    assert not part(1)
    assert told.calls[-1][0] < told.calls[-1][1] == 32
    part(2)  # all that was open; perhaps also runs that waited for both
    for _ in range(3):
        whole = [part(1), part(2)]
    assert whole == [True, True]
    found = keys(made_up_runs.configs)
    assert len(found) == len(set(found)) == 32
    assert all(done <= total for done, total in told.calls)


def test_a_part_that_has_nothing_to_do_makes_nothing(tmp_path, made_up_runs):
    [choice, *_] = plan("table-fewer-sources").choices
    wanted = key(choice.run.config(0))
    other = next(n for n in (1, 2) if not Sweep(part=(n, 2)).is_mine(wanted))
    assert not made([choice], [0], MadeUpStore(tmp_path), part=(other, 2))
    assert made_up_runs.waves == []


@pytest.mark.parametrize("part", [(0, 2), (3, 2), (1, 0), (-1, 4)])
def test_a_part_that_is_none_is_refused(part):
    with pytest.raises(ConfigError, match="K from 1 to N"):
        Sweep(part=part)


def test_no_more_workers_than_runs(tmp_path, made_up_runs):
    [choice, *_] = plan("table-fewer-sources").choices
    assert made([choice], [0], MadeUpStore(tmp_path), workers=64)


def test_what_was_done_before_a_failure_is_kept(tmp_path, monkeypatch, made_up_runs):
    store, choices = MadeUpStore(tmp_path), plan("table-fewer-sources").choices

    def failing(wanted, *, on_end, **rest):
        made_up_runs(wanted[:3], on_end=on_end, **{**rest, "workers": 1})
        for work in wanted[3:]:
            on_end(work, TawtError("no luck"))

    monkeypatch.setattr("tawt.sweeps.workers.in_processes", failing)
    with pytest.raises(TawtError, match=r"5 of 8 runs failed; .*: no luck\. The others:"):
        made(choices, [0], store)
    made_up_runs.waves.clear()
    monkeypatch.setattr("tawt.sweeps.workers.in_processes", made_up_runs)
    assert made(choices, [0], MadeUpStore(tmp_path))
    assert len(made_up_runs.configs) == 5
