"""A setup, records and runs that are made up: nothing is trained."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tawt.reproduce import EXPERIMENTS, Request, Setup, Store
from tawt.reproduce.making import runs_of
from tawt.reproduce.paper import METRICS, TASKS
from tawt.reproduce.store import key
from tawt.runs import Options
from tawt.sweeps import Sweep

TABLES = [name for name in EXPERIMENTS if name.startswith("table-")]
FILES = {
    "pos": "ewt/pos",
    "chunking": "conll2000/chunk",
    "predicate": "ewt/predicate",
    "ner": "ewt/ner",
}
SIZES = {"pos": 40, "chunking": 30, "predicate": 20, "ner": 10}
"""The open layout's files, and how many training sentences tests give each."""


def metric(task):
    return METRICS[task].replace(" ", "_").lower()


def setup(**changes):
    """The paper's settings, and data with all the sentences that it wants."""
    tasks = {
        task: {
            **{split: f"/data/{task}.{split}.tsv" for split in ("train", "dev", "test")},
            "metric": metric(task),
        }
        for task in TASKS
    }
    usual = {
        "tasks": tasks,
        "about": "a corpus",
        "available": dict.fromkeys(TASKS, 200_000),
        "encoder": "bert-base-cased",
    }
    return Setup(**{**usual, **changes})


def request(*, seeds=1, **changes):
    return Request(seeds=tuple(range(seeds)), setup=setup(**changes))


def plan(experiment, **changes):
    return EXPERIMENTS[experiment].plan(setup(**changes))


def row(plan, name):
    [found] = [row for row in plan.rows if row.name == name]
    return found


def record(config, **changes):
    """What a run could have left, a function of its configuration alone."""
    draw = np.random.default_rng(int(key(config), 16))
    target, tasks = config.target, list(config.data.tasks)
    weighed = tasks if config.paradigm == "joint" else [t for t in tasks if t != target] or tasks
    shares = draw.dirichlet(np.ones(len(weighed)))
    scores = {split: {metric(target): float(draw.uniform())} for split in ("dev", "test")}
    return {
        "target": target,
        "metric": {target: metric(target)},
        "scores": {target: scores},
        "weights": dict(zip(weighed, shares.tolist(), strict=True)),
        "seed": config.seed,
        "seconds": 1.5,
        "versions": {"tawt": "0"},
        "machine": {"device": "cpu"},
        "commit": None,
        "data": {target: {"train": {"examples": 1, "sha256": "0"}}},
        "scale": config.weighting.scale,
        "updates": [],
        "examples": draw.uniform(size=40).round(5).tolist(),
        **changes,
    }


@dataclass
class MadeUpRuns:
    """Instead of worker processes: makes records up, and remembers what it was asked for."""

    waves: list

    def __call__(self, wanted, *, workers, wait, should_stop, on_end, on_share):
        if wait:
            raise AssertionError("nobody else makes runs")
        assert len({work.make.key for work in wanted}) == len(wanted)
        assert 1 <= workers <= len(wanted)
        self.waves.append([work.make.config for work in wanted])
        for work in wanted:
            assert work.make.options.resume
            MadeUpStore(work.make.folder).keep(work.make.config)
            on_end(work, None)

    @property
    def configs(self):
        return [config for wave in self.waves for config in wave]


class MadeUpStore(Store):
    """Records of runs that were never made; `changed` alters them, by configuration."""

    def __init__(self, folder, changed=lambda config: {}):
        super().__init__(folder)
        self._changed = changed

    def keep(self, config):
        self.write(key(config), record(config, **self._changed(config)))


class Remembered(MadeUpStore):
    """The same, and nothing is written."""

    def __init__(self, folder, changed):
        super().__init__(folder, changed)
        self._kept = {}

    def write(self, name, record):
        self._kept[name] = record

    def named(self, name):
        return self._kept.get(name)


def made(choices, seeds, store, **sweep):
    """Make the runs of choices."""
    options = Options(resume=True)
    return Sweep(**sweep).make(lambda: runs_of(choices, seeds, store, options), store.records)


def open_runs(choice, seed, records):
    """Runs that can be made now, and are not yet."""
    return [config for config in choice.known(seed, records) if records.get(config) is None]


def filled(choices, seeds, changed=lambda config: {}):
    """A store with every record that the choices need."""
    store = Remembered(Path("nowhere"), changed)
    while wanted := [c for each in choices for seed in seeds for c in open_runs(each, seed, store)]:
        for config in wanted:
            store.keep(config)
    return store


def result_of(experiment, seeds=1, changed=lambda config: {}, **changes):
    """What an experiment makes of made-up records."""
    asked = request(seeds=seeds, **changes)
    store = filled(plan(experiment, **changes).choices, asked.seeds, changed)
    return EXPERIMENTS[experiment].result(asked, store)
