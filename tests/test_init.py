"""`tawt init`: what it shows and writes, what it refuses, and that training goes on from it."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from tawt.config import load
from tawt.modality import known_modalities
from tawt.runs import run
from tests.conftest import labelled
from tests.modality.sequences import SEQUENCES
from tests.text.trained import BAD, GOOD, tiny_encoder

SMALL = {"epochs": 1, "target_epochs": 1, "training.batch_size": 4, "training.learning_rate": 0.003}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def reviews(path, times=2):
    rows = [
        {"text": text, "label": name}
        for text, name in zip(
            (GOOD + BAD) * times, (["good"] * 4 + ["bad"] * 4) * times, strict=True
        )
    ]
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))


def tagged(path, count=12):
    Path(path).write_text("".join(f"Anna{n}\tB-PER\nslept\tO\n.\tO\n\n" for n in range(count)))


def arrays(*names):
    for seed, name in enumerate(names):
        np.savez(f"{name}.npz", **labelled(seed, 24))


def test_from_files_to_a_trained_model(call, tmp_path):
    for split in ("train", "dev", "test"):
        reviews(f"film/{split}.jsonl")
    tagged("names.tsv")
    Path("notes.txt").write_text("".join(f"A fine note, number {n}.\n" for n in range(20)))
    status, out, err = call("init", "film", "names.tsv", "notes.txt", "--target", "film")
    assert (status, err) == (0, "")
    assert "film, the target: classification, 16 train, 16 dev, 16 test texts" in out
    assert (
        "    A fine film. → good\n    Good fun! → good\n    We loved it, all of us. → good\n" in out
    )
    assert "names, a source: tagging, 12 train sentences" in out
    assert "notes, a source: unlabelled, 20 train texts" in out
    assert out.endswith("Next: tawt best film.yaml\n")
    written = Path("film.yaml").read_text()
    assert written.count("#") > 12
    assert max(map(len, written.splitlines())) <= 100
    config = load(
        Path("film.yaml"),
        {**SMALL, "model.encoder": str(tiny_encoder(tmp_path)), "data.cache": "cache"},
    )
    assert (config.target, config.paradigm) == ("film", "pre-training")
    record = run(config, Path("runs/film"))
    assert record["scores"]["film"]["test"]["accuracy"] >= 0


def test_arrays_train_too(call):
    arrays("goal.train", "goal.dev", "goal.test", "near")
    status, out, _ = call("init", *Path().glob("*.npz"), "--target", "goal")
    assert status == 0
    assert "arrays: inputs of 4 numbers each, and a label" in out
    config = load(Path("goal.yaml"), {"epochs": 1, "target_epochs": 1})
    assert run(config, Path("runs/goal"))["scores"]["goal"]["test"]["accuracy"] >= 0


def test_corpora_train_too(call):
    for split in ("train", "dev", "test"):
        Path(f"own.{split}.txt").write_text(f"A line of the {split} text.\n" * 20)
    Path("other.txt").write_text("Another line, from elsewhere.\n" * 40)
    assert call("init", *Path().glob("*.txt"), "--target", "own")[0] == 0
    small = {"data.cache": "cache", "data.window": 16, "training.steps": 2, "epochs": 1}
    tiny = {"target_epochs": 1, "model.layers": 1, "model.width": 8, "model.heads": 1}
    config = load(Path("own.yaml"), {**small, **tiny})
    assert config.data.kind == "corpora"
    assert "own" in run(config, Path("runs/own"))["scores"]


def test_a_target_without_held_out_files_holds_some_out(call):
    tagged("names.tsv", count=50)
    _, out, _ = call("init", "names.tsv")
    assert "of the 50 sentences, 10 as dev and 10 as test are held out, which leaves 30" in out
    task = load(Path("names.yaml")).data.tasks["names"]
    assert task.held_out == {"dev": 0.2, "test": 0.2}
    assert load(Path("names.yaml")).paradigm == "single-task"


def test_a_few_examples_with_a_test_file_are_all_trained_on(call):
    tagged("names.train.tsv")
    tagged("names.test.tsv")
    assert call("init", "names.train.tsv", "names.test.tsv")[0] == 0
    assert load(Path("names.yaml")).data.tasks["names"].held_out == {}


def test_large_targets_are_passed_over_less_often(call):
    tagged("few.tsv", count=40)
    tagged("many.tsv", count=9000)
    for target in ("few", "many"):
        assert call("init", "few.tsv", "many.tsv", "--target", target)[0] == 0
    few, many = load(Path("few.yaml")), load(Path("many.yaml"))
    assert few.target_epochs > many.target_epochs
    assert few.training.batch_size < many.training.batch_size
    assert (few.paradigm, many.paradigm) == ("pre-training", "joint then fine-tuning")


def test_the_target_by_its_file_which_need_not_be_listed(call):
    tagged("names.tsv")
    reviews("film.jsonl")
    assert call("init", "names.tsv", "--target", "film.jsonl")[0] == 0
    config = load(Path("film.yaml"))
    assert (config.target, list(config.data.tasks)) == ("film", ["film", "names"])


def test_paths_hold_wherever_the_configuration_lies(call):
    tagged("names.tsv")
    assert call("init", "names.tsv", "--out", "configs/deep/it.yaml")[0] == 0
    task = load(Path("configs/deep/it.yaml")).data.tasks["names"]
    assert task.train == Path("names.tsv").resolve()


def test_json_and_quiet(call):
    tagged("names.tsv")
    status, out, err = call("init", "names.tsv", "--json")
    found = json.loads(out)
    assert (status, err) == (0, "")
    assert (found["config"], found["target"], found["kind"]) == ("names.yaml", "names", "text")
    [task] = found["tasks"]
    assert (task["role"], task["kind"], task["examples"]) == ("target", "tagging", {"train": 12})
    assert len(task["first"]) == 3
    assert found["next"] == "tawt train names.yaml"
    assert call("init", "names.tsv", "--quiet", "--overwrite") == (0, "", "")


def test_a_configuration_that_is_there_is_kept(call):
    tagged("names.tsv")
    Path("names.yaml").write_text("mine")
    status, out, err = call("init", "names.tsv")
    assert (status, out) == (2, "")
    assert "names.yaml is there already" in err
    assert Path("names.yaml").read_text() == "mine"
    assert call("init", "names.tsv", "--overwrite", "--quiet")[0] == 0
    assert yaml.safe_load(Path("names.yaml").read_text())["target"] == "names"


def test_files_found_in_a_folder_may_be_no_tasks(call):
    Path("data").mkdir()
    tagged("data/names.tsv")
    Path("data/lengths.tsv").write_text("file\tlength\n" + "".join(f"{n}\t{n}\n" for n in range(9)))
    status, out, _ = call("init", "data", "--target", "names")
    assert status == 0
    assert "note: Left out: data/lengths.tsv" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.tsv"], "nowhere.tsv: there is no such file"),
        (["empty.tsv"], "empty.tsv is empty"),
        (["garbage.bin"], "garbage.bin is nothing that tawt reads"),
        (["names.tsv", "film.jsonl"], "Give --target with one of these names: names, film"),
        (["names.tsv", "film.jsonl", "--target", "nmes"], "did you mean 'names'?"),
        (["names.tsv", "near.npz", "--target", "names"], "one model cannot learn from both"),
        (["near.npz"], "save some of them as near.test.npz"),
        (["array.npy"], "array.npy is one array"),
        (["odd.npz"], "has no `inputs`"),
        (["torn"], "torn is nothing that tawt reads"),
        (["few.tsv"], "has 4 sentences and no dev or test file"),
        (["goal.train.npz", "goal.test.npz", "wide.npz", "--target", "goal"], "one shape"),
        (["ner.test.tsv"], "is test data by its name"),
        (["same.jsonl"], "the label 'a' and no other"),
        (["."], "Which task is the target?"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(call, arguments, said, listing):
    tagged("names.tsv")
    tagged("few.tsv", count=4)
    tagged("ner.test.tsv")
    reviews("film.jsonl")
    Path("same.jsonl").write_text('{"text": "one thing", "label": "a"}\n' * 20)
    Path("empty.tsv").touch()
    Path("garbage.bin").write_bytes(bytes(range(256)) * 9)
    arrays("near", "goal.train", "goal.test")
    np.savez("wide.npz", inputs=np.zeros((9, 7)), labels=np.arange(9) % 2)
    np.savez("odd.npz", a=np.eye(3))
    np.save("array.npy", np.eye(3))
    Path("torn").write_bytes(Path("near.npz").read_bytes().replace(b"PK\x01\x02", b"PK\x01\x03"))
    before = listing(".")
    status, out, err = call("init", *arguments)
    assert (status, out) == (2, "")
    assert said in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert listing(".") == before


def test_a_kind_of_data_of_another_package_is_asked_first(call):
    """Its files are text too, and nothing else has to know of it."""
    assert SEQUENCES.name in known_modalities()
    Path("rises.seq").write_text("1 2 3\n" * 24)
    status, out, _ = call("init", "rises.seq")
    assert (status, "rises, the target: rising, 24 train examples" in out) == (0, True)
    assert load(Path("rises.yaml")).data.kind == "sequences"
