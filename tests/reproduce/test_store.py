"""Every run once: its key, its record, and what is made again."""

import copy
import json
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest

from tawt.config import parsed
from tawt.errors import RunError
from tawt.reproduce import Store, contents
from tawt.reproduce.store import kept_of, key, key_of
from tawt.runs import Options, RunFolder, run
from tests.reproduce.made_up import plan, record, row, setup

VALUES = {"data": {"kind": "digits"}, "target": "digit"}


def joint(**changes):
    [each, *_] = row(plan("table-main", **changes), "joint training").cells
    return each.run


def test_the_key_does_not_depend_on_the_name():
    config = joint().config(0)
    assert key(config.model_copy(update={"name": "other"})) == key(config)


def test_the_key_changes_with_anything_else():
    config = joint().config(0)
    values = config.model_dump(mode="json", exclude={"name"})
    leaves = list(_leaves(values))
    assert len(leaves) > 40
    found = {key(config)}
    for path in leaves:
        changed = copy.deepcopy(values)
        inner = reduce(getitem, path[:-1], changed)
        inner[path[-1]] = "something else"
        found.add(key_of(changed))
    assert len(found) == 1 + len(leaves)


def _leaves(value, path=()):
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _leaves(inner, (*path, name))
    else:
        yield path


@pytest.mark.parametrize(
    "changes",
    [
        {"encoder": "bert-base-uncased"},
        {"max_length": 64},
        {"epochs": 3},
        {"training": {"learning_rate": 1e-4}},
        {"training": {"batch_size": 16}},
        {"training": {"precision": "bf16"}},
        {"tiny": True},
        {"available": dict.fromkeys(("pos", "chunking", "predicate", "ner"), 50), "cap": True},
    ],
)
def test_another_setup_has_other_runs(changes):
    assert key(joint(**changes).config(0)) != key(joint().config(0))


def test_settings_that_are_the_papers_own_give_its_runs():
    same = joint(training={"learning_rate": 5e-5, "batch_size": 32}, about="else", cap=True)
    assert key(same.config(0)) == key(joint().config(0))


def test_another_seed_is_another_run():
    assert key(joint().config(0)) != key(joint().config(1))


def test_other_held_weights_are_another_run():
    weights = {"pos": 0.4, "chunking": 0.3, "predicate": 0.2, "ner": 0.1}
    first = joint().holding(0, weights)
    assert key(first) != key(joint().config(0))
    assert key(first) != key(joint().holding(0, {**weights, "pos": 0.1, "ner": 0.4}))
    assert key(first) == key(joint().holding(0, dict(weights)))


def test_the_key_is_a_number_that_parts_can_divide_by():
    assert 0 <= int(key(joint().config(0)), 16) < 16**20


def test_a_record_comes_back_as_it_was_written(tmp_path):
    config, store = joint().config(0), Store(tmp_path)
    assert store.get(config) is None
    store.write(key(config), record(config))
    assert store.get(config) == record(config)
    assert Store(tmp_path).get(config) == record(config)


def test_a_record_that_another_process_writes_is_seen(tmp_path):
    config, mine, other = joint().config(0), Store(tmp_path), Store(tmp_path)
    assert mine.get(config) is None
    other.write(key(config), record(config))
    assert mine.get(config) == record(config)


def test_a_record_that_is_written_again_is_the_new_one(tmp_path):
    config, store = joint().config(0), Store(tmp_path)
    store.write(key(config), record(config))
    assert store.get(config)["seconds"] == 1.5
    store.write(key(config), record(config, seconds=9.0))
    assert store.get(config)["seconds"] == 9.0


def test_a_record_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    config, store = joint().config(0), Store(tmp_path)
    store.write(key(config), record(config))
    before = (tmp_path / "records" / f"{key(config)}.json").read_bytes()

    def full(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(RunError, match="No space left"):
        store.write(key(config), record(config, seconds=9.0))
    assert [path.read_bytes() for path in tmp_path.rglob("*.json")] == [before]
    assert [path.name for path in (tmp_path / "records").iterdir()] == [f"{key(config)}.json"]


def test_half_a_record_is_refused_and_not_taken_for_one(tmp_path):
    config, store = joint().config(0), Store(tmp_path)
    store.write(key(config), record(config))
    path = tmp_path / "records" / f"{key(config)}.json"
    path.write_text(path.read_text()[:50])
    with pytest.raises(RunError, match="not whole JSON"):
        Store(tmp_path).get(config)


def test_what_is_kept_of_a_run(tmp_path, study):
    values = {**study.values, "data": _placed(study)}
    config = parsed({**values, "weighting": {"preset": "paper", "scale": 10}})
    store = Store(tmp_path)
    run(config, store.path(config), options=Options(save_model=False))
    store.write(key(config), kept_of(config, RunFolder(store.path(config))))
    kept, whole = store.get(config), json.loads((store.path(config) / "record.json").read_text())
    assert kept["scale"] == 10
    assert (kept["target"], kept["seed"]) == ("goal", 0)
    for name in ("scores", "metric", "weights", "versions", "machine", "data", "seconds"):
        assert kept[name] == whole[name]
    assert len(kept["examples"]) == 25
    assert sum(kept["examples"]) / 25 == pytest.approx(kept["scores"]["goal"]["test"]["accuracy"])
    assert kept["updates"][-1]["weights"] == pytest.approx(kept["weights"])
    assert not (store.path(config) / "model").exists()


def _placed(study):
    tasks = study.values["data"]["tasks"]
    return {
        "kind": "arrays",
        "tasks": {
            name: {split: str(study.folder / file) for split, file in task.items()}
            for name, task in tasks.items()
        },
    }


def test_a_run_that_is_not_done_has_nothing_to_keep(tmp_path):
    store, config = Store(tmp_path), parsed(VALUES)
    with pytest.raises(RunError):
        kept_of(config, RunFolder(store.path(config)))


def test_setups_are_equal_if_their_values_are():
    assert setup() == setup()
    assert joint() == joint()
    assert len({joint(), joint(), joint(epochs=3)}) == 2


def in_files(folder, text="EU\tB-ORG\n"):
    folder.mkdir()
    (folder / "ner.tsv").write_text(text)
    values = {
        "data": {"kind": "text", "tasks": {"ner": {"train": str(folder / "ner.tsv")}}},
        "target": "ner",
        "model": {"encoder": "bert-base-cased"},
    }
    return parsed(values)


def test_files_count_by_what_is_in_them(tmp_path):
    here = key(in_files(tmp_path / "here"))
    assert key(in_files(tmp_path / "there")) == here
    assert key(in_files(tmp_path / "other", "EU\tO\n")) != here


def test_data_changed_in_place_makes_another_run(tmp_path):
    config = in_files(tmp_path / "here")
    before = key(config)
    (tmp_path / "here" / "ner.tsv").write_text("EU\tO\nUS\tO\n")
    assert key(config) == before  # a command goes on with the data that it began with
    contents.forget()
    assert key(config) != before  # the next one sees the change
