"""Datasets of the hub and saved ones."""

import contextlib
import re
import shutil
import sys
from pathlib import Path

import datasets
import pytest

from tawt.errors import DataError
from tawt.text.reading import (
    LabelledText,
    SplitFiles,
    TaggedSentence,
    guess_format,
    load,
    read,
    read_hub,
)

NAMES = datasets.ClassLabel(names=["neg", "pos"])
TAGS = datasets.Sequence(datasets.ClassLabel(names=["O", "B-X", "I-X"]))


@pytest.fixture(autouse=True)
def _quiet():
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


def texts(labels, **columns):
    values = {"text": [f"text {i}" for i in range(len(labels))], "label": labels, **columns}
    features = datasets.Features({"text": datasets.Value("string"), "label": NAMES})
    for name in columns:
        features[name] = NAMES
    return datasets.Dataset.from_dict(values, features=features)


def saved(data, folder):
    data.save_to_disk(folder)
    return folder


def test_labels_get_their_names(tmp_path):
    path = saved(texts([1, 0], other=[-1, -1]), tmp_path / "one")
    assert guess_format(path) == "hub"
    assert list(read(path, kind="classification")) == [
        LabelledText("text 0", None, "pos", 1),
        LabelledText("text 1", None, "neg", 2),
    ]


def test_tags_get_their_names(tmp_path):
    features = datasets.Features({"tokens": datasets.Sequence(datasets.Value("string")), "t": TAGS})
    rows = {"tokens": [["a", "b"], []], "t": [[1, 2], []]}
    path = saved(datasets.Dataset.from_dict(rows, features=features), tmp_path / "one")
    assert list(read_hub(path, kind="tagging", fields={"tags": "t"})) == [
        TaggedSentence(("a", "b"), ("B-X", "I-X"), 1),
        TaggedSentence((), (), 2),
    ]
    with pytest.raises(DataError, match="there is no field 'tags'; there are 'tokens', 't'"):
        list(read_hub(path, kind="tagging"))


def test_splits(tmp_path):
    splits = {"train": texts([0, 1]), "validation": texts([1])}
    path = saved(datasets.DatasetDict(splits), tmp_path / "all")
    assert len(list(read_hub(path, kind="classification", split="train"))) == 2
    assert len(list(read_hub(path, kind="classification", split="dev"))) == 1
    with pytest.raises(
        DataError, match=r"has several splits; it has train, validation. Choose one"
    ):
        list(read_hub(path, kind="classification"))
    with pytest.raises(DataError, match=r"has no single split 'test'; it has train, validation."):
        list(read_hub(path, kind="classification", split="test"))
    both = load(SplitFiles(folder=path), kind="classification", seed=0)
    assert both.report.sizes == {"train": 2, "dev": 1}
    named = load(SplitFiles(train=path, dev=path), kind="classification", seed=0)
    assert named.dev == both.dev


@pytest.mark.parametrize(("value", "shown"), [(-1, "-1"), (None, "null")])
def test_labels_without_a_name(tmp_path, value, shown):
    path = saved(texts([0, value]), tmp_path / "one")
    message = f"{path}:2: the label {shown} has no name; expected 0 to 1. A split whose labels are"
    with pytest.raises(DataError, match=re.escape(message)):
        list(read_hub(path, kind="classification"))


def test_names_on_the_hub(monkeypatch):
    asked = []

    def load_dataset(*arguments):
        asked.append(arguments)
        if arguments[0] == "glue/mrpc":
            raise FileNotFoundError("no such\nrepository")
        return datasets.DatasetDict({"train": texts([1]), "validation": texts([0, 0])})

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    options = {"kind": "classification"}
    assert len(list(read_hub(Path("hub:imdb"), split="train", **options))) == 1
    assert len(list(read_hub(Path("hub:a/b/c#validation"), split="train", **options))) == 2
    assert len(list(read_hub(Path("hub:glue/mrpc"), split="train", **options))) == 1
    assert asked == [("imdb",), ("a/b", "c"), ("glue/mrpc",), ("glue", "mrpc")]
    splits = load(SplitFiles(folder=Path("hub:imdb")), **options, seed=0)
    assert splits.report.sizes == {"train": 1, "dev": 2}
    for name in ("hub:", "hub:a/b/c/d"):
        with pytest.raises(DataError, match="names no dataset; expected hub:OWNER/NAME"):
            list(read_hub(Path(name), **options))


def test_what_was_tried_is_told_in_one_line(monkeypatch):
    def load_dataset(*arguments):
        raise ConnectionError("Couldn't reach\nthe hub")

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    monkeypatch.setattr("tawt.text.online.why_unreachable", lambda address: None)
    with pytest.raises(
        DataError,
        match=re.escape(
            "hub:glue/mrpc could not be loaded (load_dataset('glue/mrpc'): Couldn't reach the hub; "
            "load_dataset('glue', 'mrpc'): Couldn't reach the hub). Check the name and the network,"
        ),
    ):
        list(read_hub(Path("hub:glue/mrpc"), kind="pair"))


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DataError, match=re.escape("not installed; pip install tawt[hub]")):
        list(read_hub(Path("hub:imdb"), kind="pair"))


@pytest.mark.parametrize("damage", ["dataset_info.json", "state.json", "arrow"])
def test_a_damaged_folder(tmp_path, damage):
    path = saved(texts([0, 1]), tmp_path / "one")
    for file in path.iterdir():
        if file.name.endswith(damage):
            file.write_bytes(b"{")
    with pytest.raises(DataError, match=r"could not be loaded|is damaged"):
        list(read_hub(path, kind="classification"))


def test_groups(tmp_path):
    path = saved(texts([1, 0], site=[0, 1]), tmp_path / "one")
    named = read_hub(path, kind="classification", fields={"group": "site"})
    assert [text.group for text in named] == ["neg", "pos"]
    same = read_hub(path, kind="classification", fields={"group": "label"})
    assert [(text.label, text.group) for text in same] == [("pos", "pos"), ("neg", "neg")]
    assert [text.group for text in read_hub(path, kind="classification")] == [None, None]


def test_groups_that_are_none(tmp_path):
    rows = {"text": ["a", "b"], "label": ["x", "y"], "site": [7, None]}
    path = saved(datasets.Dataset.from_dict(rows), tmp_path / "one")
    found = read_hub(path, kind="classification", fields={"group": "site"})
    assert next(found).group == "7"
    with pytest.raises(DataError, match=re.escape(f"{path}:2: a group must be a string or a")):
        next(found)
    with pytest.raises(
        DataError, match=re.escape(f"{path}: there is no field 'domain'; there are")
    ):
        list(read_hub(path, kind="classification", fields={"group": "domain"}))


def test_a_folder_without_splits_is_all_for_training(tmp_path):
    path = saved(texts([0, 1]), tmp_path / "one")
    splits = load(SplitFiles(folder=path), kind="classification", seed=0)
    assert splits.report.sizes == {"train": 2}


def test_a_folder_without_training_examples(tmp_path):
    path = tmp_path / "two"
    datasets.DatasetDict({"test": texts([0, 1])}).save_to_disk(path)
    with pytest.raises(DataError, match="has no split that is called train, but test"):
        load(SplitFiles(folder=path), kind="classification", seed=0)


def test_a_table_whose_lengths_lead_out_of_the_file(tmp_path):
    """Mapped into memory as it is, it would end the process."""
    path = saved(texts([0, 1]), tmp_path / "one")
    arrow = next(path.glob("*.arrow"))
    content = arrow.read_bytes()
    for place in range(0, len(content), 5):
        copy = Path(shutil.copytree(path, tmp_path / f"copy-{place}"))
        changed = content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]
        (copy / arrow.name).write_bytes(changed)
        with contextlib.suppress(DataError):
            list(read_hub(copy, kind="classification"))
