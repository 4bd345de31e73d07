"""A target cut into parts: which examples a run trains on, and what it leaves of the others."""

import numpy as np
import pytest
import torch

from tawt.arrays import classification
from tawt.config import load
from tawt.config.fold import FoldConfig
from tawt.errors import ConfigError, DataError, RunError
from tawt.runs import RunFolder, building, held_out, run
from tawt.runs.folds import folded, parts_of, pooled
from tawt.tasks.examples import Subset

DRAW = np.random.default_rng(0)


def task(train, dev=None):
    """Rows that say which they are."""

    def split(labels, first):
        rows = np.arange(first, first + len(labels), dtype=float)[:, None]
        return rows, np.array(labels)

    given = None if dev is None else split(dev, 100)
    return classification(
        "goal", train=split(train, 0), dev=given, test=split([0, 1], 200), labels=["a", "b", "c"]
    )


def rows(examples):
    return examples.batch(np.arange(len(examples))).inputs[:, 0].int().tolist()


def test_dev_examples_are_trained_on_too_unless_nothing_has_their_label():
    found = pooled(task([0, 1, 0, 1], dev=[1, 2, 0]))
    assert rows(found.examples) == [0, 1, 2, 3, 100, 102]
    assert found.left_out == 1
    assert pooled(task([0, 1])).left_out == 0


def test_every_example_is_held_out_once_and_trained_on_otherwise():
    whole = task([0, 1] * 6, dev=[0, 1])
    pool = rows(pooled(whole).examples)
    seen = []
    for part in (1, 2, 3):
        found = folded(whole, FoldConfig(part=part, of=3), seed=5)
        assert found.dev is None
        assert sorted(rows(found.train) + rows(found.test)) == sorted(pool)
        seen += rows(found.test)
    assert sorted(seen) == sorted(pool)
    last = folded(whole, FoldConfig(of=3), seed=5)
    assert (rows(last.train), last.dev, rows(last.test)) == (pool, None, [200, 201])


def test_parts_have_all_labels_and_depend_on_the_seed_alone():
    labels = [0] * 30 + [1] * 10 + [2] * 4
    examples = task(labels).train
    parts = parts_of(examples, 4, seed=0)
    for label in range(3):
        counts = np.bincount(parts[np.array(labels) == label], minlength=5)[1:]
        assert counts.max() - counts.min() <= 1
    assert (parts == parts_of(examples, 4, seed=0)).all()
    assert (parts != parts_of(examples, 4, seed=1)).any()


def test_copies_are_in_one_part():
    given = np.arange(40, dtype=float)[:, None]
    given[20:] = given[:20]
    examples = classification("goal", train=(given, np.zeros(40, int)), labels=["a"]).train
    parts = parts_of(examples, 4, seed=0)
    assert (parts[:20] == parts[20:]).all()
    assert len(set(parts)) == 4
    pool = Subset(examples, np.arange(5, 40))
    assert (pool.digests() == examples.digests()[5:]).all()


def test_fewer_examples_than_parts_are_refused(study):
    with pytest.raises(DataError, match="too few to cut into 5 parts"):
        folded(task([0, 1, 0]), FoldConfig(part=1, of=5), seed=0)
    with pytest.raises(ConfigError, match="at most"):
        load(study.path, {"fold": {"part": 5, "of": 4}})


def test_a_run_leaves_score_and_loss_of_what_it_held_out(study, tmp_path):
    config = load(study.path, {"fold": {"part": 2, "of": 4}, "paradigm": "single-task"})
    run(config, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    found = held_out.read(folder.checked(held_out.NAME))
    goal = next(each for each in building.tasks(config) if each.name == "goal")
    assert isinstance(goal.test, Subset)
    assert found.examples.tolist() == goal.test.indices.tolist()
    scores = folder.record()["scores"]["goal"]["test"]
    assert found.scores.mean() == pytest.approx(scores["accuracy"])
    assert np.isfinite(found.losses).all()
    assert (found.losses > 0).all()


def test_losses_are_those_of_single_examples():
    goal = task([0, 1, 2] * 5)
    torch.manual_seed(0)

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(1, 3)

        def forward(self, inputs, name):
            return self.layer(inputs / 10)

    model = Model()
    found = held_out.example_losses(
        model, goal, goal.train, batch_size=4, device=torch.device("cpu")
    )
    one_by_one = [
        goal.kind.losses(
            model(goal.train.batch(np.array([index])).inputs, "goal"),
            goal.train.batch(np.array([index])).labels,
        ).item()
        for index in range(15)
    ]
    np.testing.assert_allclose(found, one_by_one, rtol=1e-6)
    assert model.training


def test_what_is_nearly_the_same_is_in_one_part(monkeypatch):
    examples = task([0, 1] * 8).train
    assert len(set(parts_of(examples, 4, seed=0)[:4])) > 1
    alike = np.arange(16, dtype=np.uint64)
    alike[:4] = 99
    monkeypatch.setattr(type(examples), "likenesses", lambda examples: alike)
    assert len(set(parts_of(examples, 4, seed=0)[:4])) == 1


def test_the_last_run_needs_no_held_out_examples(study, tmp_path):
    goal = study.values["data"]["tasks"]["goal"]
    for split in ("dev", "test"):
        del goal[split]
    study.write()
    record = run(load(study.path, {"fold": {}, "paradigm": "single-task"}), tmp_path / "run")
    assert record["scores"]["goal"] == {}
    assert (tmp_path / "run" / "model").is_dir()


def test_a_damaged_file_is_said_to_be(tmp_path):
    path = tmp_path / "held_out.tsv"
    for text in ("", "example\tscore\n0\t1\n", "example\tscore\tloss\n0\t1\tx\n"):
        path.write_text(text)
        with pytest.raises(RunError, match="damaged"):
            held_out.read(path)


def test_rows_of_the_target_alone_are_cut_into_parts_too(study, tmp_path):
    study.set("sources", []).set("paradigm", "single-task").set("fold", {"part": 1})
    record = run(load(study.path), tmp_path / "run")
    assert set(record["data"]) == {"goal"}
