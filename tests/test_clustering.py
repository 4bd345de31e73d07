"""Clusters of examples, and that the runs of a comparison share them."""

import numpy as np
import pytest
import torch

from tawt.arrays import MLP, classification
from tawt.compare import compare
from tawt.config import load
from tawt.errors import ConfigError
from tawt.runs import Options, RunFolder, clustering, units
from tawt.runs.clustering import clustered
from tawt.runs.run import run
from tawt.sweeps import Sweep
from tawt.tasks import MultiTaskModel
from tawt.tasks.examples import Subset


@pytest.fixture
def made(monkeypatch):
    """How many examples were clustered, each time."""
    sizes = []

    class Counted(clustering.MiniBatchKMeans):
        def fit_predict(self, vectors):
            sizes.append(len(vectors))
            return super().fit_predict(vectors)

    monkeypatch.setattr(clustering, "MiniBatchKMeans", Counted)
    return sizes


def a_task(size=40, seed=0):
    inputs = np.random.default_rng(seed).normal(size=(size, 4))
    return classification("near", train=(inputs, inputs[:, :3].argmax(1)))


def a_model(task, seed=0):
    torch.manual_seed(seed)
    return MultiTaskModel.for_tasks(MLP((4,), widths=(8,)), [task], width=8)


def test_clusters_of_the_same_are_found_again(tmp_path, made):
    task, folder = a_task(), tmp_path / "shared"
    first = clustered(task, 3, a_model(task), seed=0, shared=folder)
    again = clustered(a_task(), 3, a_model(task), seed=0, shared=folder)
    alone = clustered(task, 3, a_model(task), seed=0, shared=None)
    assert first.names == ("cluster 1", "cluster 2", "cluster 3")
    assert np.array_equal(first.numbers, again.numbers)
    assert np.array_equal(first.numbers, alone.numbers)
    assert made == [40, 40]


@pytest.mark.parametrize("what", ["examples", "count", "model", "seed"])
def test_clusters_of_anything_else_are_not_taken_for_them(tmp_path, made, what):
    task = a_task()
    clustered(task, 3, a_model(task), seed=0, shared=tmp_path)
    clustered(
        a_task(seed=int(what == "examples")),
        4 if what == "count" else 3,
        a_model(task, seed=int(what == "model")),
        seed=int(what == "seed"),
        shared=tmp_path,
    )
    assert len(made) == len(list(tmp_path.iterdir())) == 2


def test_a_model_without_heads_of_its_own_has_no_vectors(tmp_path):
    task = a_task()
    model = a_model(task)
    model.heads.requires_grad_(False)
    with pytest.raises(ConfigError, match="are no vectors to cluster; group it by column"):
        clustered(task, 3, model, seed=0, shared=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_examples_that_have_clusters_of_their_own_need_no_vectors(tmp_path, made):
    task = a_task()
    model = a_model(task)
    model.heads.requires_grad_(False)
    calls = []

    def clusters(count, *, seed):
        calls.append((count, seed))
        return np.arange(len(task.train), dtype=np.int32) % count

    task.train.clusters = clusters
    first, again = (clustered(task, 3, model, seed=7, shared=tmp_path) for _ in range(2))
    assert first.numbers.tolist() == again.numbers.tolist() == [*range(3)] * 13 + [0]
    assert calls == [(3, 7)]  # kept for the second
    assert made == []
    of_some = Subset(task.train, np.array([5, 1])).clusters(3, seed=7)
    assert of_some.tolist() == [2, 1]


def unsafe(path):
    np.save(path, np.array([print] * 40, object), allow_pickle=True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-7]),
        lambda path: np.save(path, np.zeros(39, np.int32)),
        lambda path: np.save(path, np.full(40, 3, np.int32)),
        lambda path: np.save(path, np.zeros(40)),
        unsafe,
    ],
    ids=["empty", "cut", "other examples", "no such cluster", "other numbers", "pickled"],
)
def test_what_is_not_whole_is_made_again(tmp_path, made, damage):
    task = a_task()
    first = clustered(task, 3, a_model(task), seed=0, shared=tmp_path)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    damage(path)
    again = clustered(task, 3, a_model(task), seed=0, shared=tmp_path)
    assert np.array_equal(first.numbers, again.numbers)
    assert path.read_bytes() == whole
    assert len(made) == 2


@pytest.mark.usefixtures("in_process")
def test_runs_of_a_comparison_share_their_clusters(study, made, tmp_path):
    study.set("weighting", {"unit": "group", "group": {"by": "cluster", "count": 3}})
    config, out = load(study.path), tmp_path / "out"
    learned = ["weighted joint", "weighted normalized joint"]
    compare(
        config,
        out,
        rows=["joint", *learned],
        seeds=[0, 1],
        options=Options(),
        sweep=Sweep(),
    )
    assert sorted(made) == [27] * 3 + [32] * 3  # of each source once to check, once a seed
    assert len(list((out / "clusters").iterdir())) == 4
    assert RunFolder(out / "joint" / "0").config().weighting.unit == "task"

    run(config.model_copy(update={"seed": 1}), tmp_path / "alone")
    assert len(made) == 8
    of_alone, *of_rows = (
        units.read(folder).weights.units
        for folder in (
            tmp_path / "alone",
            *(out / name.replace(" ", "-") / "1" for name in learned),
        )
    )
    assert all(found.fingerprint() == of_alone.fingerprint() for found in of_rows)
