"""Files that are splits of one task, by their names."""

from pathlib import Path

import pytest

from tawt.config.drafting.grouping import beside, grouped
from tawt.errors import DataError

ENDINGS = [".jsonl", ".tsv", ".txt"]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def made(*names):
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("text")
    return [Path(name) for name in names]


def told(*paths):
    return {
        group.name: {split: [path.as_posix() for path in of] for split, of in group.files.items()}
        for group in grouped([Path(path) for path in paths], endings=ENDINGS)
    }


def test_names_that_differ_in_the_split_alone():
    made("ner.train.tsv", "ner.valid.tsv", "ner_test.tsv", "pos.tsv")
    assert told("ner.valid.tsv", "ner.train.tsv", "ner_test.tsv", "pos.tsv") == {
        "ner": {"train": ["ner.train.tsv"], "dev": ["ner.valid.tsv"], "test": ["ner_test.tsv"]},
        "pos": {"train": ["pos.tsv"]},
    }


def test_files_called_by_their_split_are_named_after_their_folder():
    made("irony/train.jsonl", "irony/validation.jsonl", "irony/test.jsonl", "irony/README.txt")
    assert told("irony") == {
        "irony": {
            "train": ["irony/train.jsonl"],
            "dev": ["irony/validation.jsonl"],
            "test": ["irony/test.jsonl"],
        }
    }


def test_the_folder_that_one_stands_in_gives_its_name_too():
    made("train.jsonl")
    [name] = told("train.jsonl")
    assert name == Path.cwd().name


def test_a_folder_of_several_tasks():
    made("data/ner.train.tsv", "data/ner.dev.tsv", "data/pos.train.tsv", "data/deep/chunk.tsv")
    assert {name: list(files) for name, files in told("data").items()} == {
        "chunk": ["train"],
        "ner": ["train", "dev"],
        "pos": ["train"],
    }


def test_folders_that_are_called_by_their_split():
    made("data/qa/train/a.tsv", "data/qa/train/b.tsv", "data/qa/test/a.tsv")
    assert told("data") == {
        "qa": {
            "train": ["data/qa/train/a.tsv", "data/qa/train/b.tsv"],
            "test": ["data/qa/test/a.tsv"],
        }
    }


def test_parts_of_a_split_are_in_order():
    made("train-00002-of-00002.jsonl", "train-00001-of-00002.jsonl")
    [files] = told("train-00002-of-00002.jsonl", "train-00001-of-00002.jsonl").values()
    assert files == {"train": ["train-00001-of-00002.jsonl", "train-00002-of-00002.jsonl"]}


def test_digits_of_a_name_tell_tasks_apart():
    made("sst2.train.tsv", "sst5.train.tsv")
    assert list(told("sst2.train.tsv", "sst5.train.tsv")) == ["sst2", "sst5"]


def test_tasks_of_one_name_get_their_folders():
    made("ewt/pos.train.tsv", "gum/pos.train.tsv", "gum/ner.tsv")
    assert list(told("ewt", "gum")) == ["ewt-pos", "ner", "gum-pos"]


def test_a_file_that_is_given_twice_counts_once():
    made("data/ner.tsv")
    assert told("data", "data/ner.tsv") == {"ner": {"train": ["data/ner.tsv"]}}


def test_names_are_good_for_a_configuration():
    made("my (old) film reviews!.tsv")
    assert list(told("my (old) film reviews!.tsv")) == ["my-old-film-reviews"]


def test_many_plain_texts_in_a_folder_are_one_corpus():
    made(*(f"papers/{number}.txt" for number in range(31)))
    assert told("papers") == {"papers": {"train": ["papers"]}}


def test_a_few_plain_texts_are_corpora_each():
    made("corpora/web.txt", "corpora/news.txt", "corpora/.hidden.txt", "corpora/LICENSE.txt")
    assert list(told("corpora")) == ["news", "web"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere.tsv", "nowhere.tsv: there is no such file"),
        ("blank.tsv", "blank.tsv is empty"),
        ("pictures", "has no files in it that end with one of .jsonl, .tsv, .txt"),
    ],
)
def test_what_cannot_be_grouped(path, said):
    made("pictures/a.png")
    Path("blank.tsv").touch()
    with pytest.raises(DataError, match=said):
        told(path)


def test_held_out_files_alone_are_no_task():
    made("ner.test.tsv")
    [group] = grouped([Path("ner.test.tsv")], endings=ENDINGS)
    with pytest.raises(DataError, match="is test data by its name, and there are no training"):
        _ = group.first


def test_splits_that_lie_beside_are_found():
    made("ner.train.tsv", "ner.dev.tsv", "ner.test.tsv", "pos.dev.tsv", "ner.train.test.tsv")
    [group] = grouped([Path("ner.train.tsv"), Path("ner.dev.tsv")], endings=ENDINGS)
    assert beside(group) == [Path("ner.test.tsv")]
