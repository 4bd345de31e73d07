"""Splits: which files, which examples."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tawt.errors import ConfigError, DataError
from tawt.modality.split_names import split_of
from tawt.text.reading import (
    ReadOptions,
    ReadReport,
    SplitFiles,
    TaggedSentence,
    load,
    write_columns,
)
from tawt.text.reading.drawing import draw, hold_out
from tawt.text.reading.folders import find_splits


def sentences(*words, tag="X"):
    return [TaggedSentence((word,), (tag,), 2 * i + 1) for i, word in enumerate(words)]


def numbered(file, name, count, prefix="w"):
    path = file(name, "")
    write_columns(path, sentences(*(f"{prefix}{i}" for i in range(count))))
    return path


def words(examples):
    return [example.words[0] for example in examples]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.tsv", "train"),
        ("NER.Train.tsv", "train"),
        ("train-00000-of-00002.jsonl", "train"),
        ("train2", "train"),
        ("en_ewt-ud-dev.conllu", "dev"),
        ("valid.csv", "dev"),
        ("validation.csv", "dev"),
        ("eng_val", "dev"),
        ("test_b", "test"),
        ("latest.tsv", None),
        ("trainer.tsv", None),
        ("README.md", None),
    ],
)
def test_split_of_a_name(name, split):
    assert split_of(name) == split


def test_a_name_of_two_splits():
    with pytest.raises(DataError, match=re.escape("'train-dev.tsv' speaks of train and dev;")):
        split_of("train-dev.tsv")


def test_a_folder_is_searched(file, tmp_path):
    names = ["train-2.tsv", "train-1.tsv", "dev.tsv", "sub/test.tsv", "README", ".train.tsv.swp"]
    for name in names:
        numbered(file, name, 1, prefix=name)
    found = find_splits(tmp_path)
    assert {s: [str(p.relative_to(tmp_path)) for p in paths] for s, paths in found.items()} == {
        "train": ["train-1.tsv", "train-2.tsv"],
        "dev": ["dev.tsv"],
        "test": ["sub/test.tsv"],
    }
    splits = load(SplitFiles(folder=tmp_path), kind="tagging", seed=0)
    assert words(splits.train) == ["train-1.tsv0", "train-2.tsv0"]
    assert words(splits.test) == ["sub/test.tsv0"]


def test_files_may_have_the_split_of_their_folder(file, tmp_path):
    for name in ["v4/train/data/cctv_0000", "v4/train/data/a_0001", "v4/development/cctv_0000"]:
        numbered(file, name, 1)
    found = find_splits(tmp_path)
    assert [len(paths) for paths in found.values()] == [2, 1]


def test_a_folder_of_several_tasks(file, tmp_path):
    for name in ["ner.train.tsv", "ner.dev.tsv", "pos.train.tsv"]:
        numbered(file, name, 1)
    with pytest.raises(
        DataError,
        match=re.escape(
            "has files of several tasks or formats: ner.train.tsv, pos.train.tsv. Choose with "
            "`pattern`, for example `pattern: '*ner*'`."
        ),
    ):
        find_splits(tmp_path)
    found = find_splits(tmp_path, pattern="*ner*")
    assert [path.name for paths in found.values() for path in paths] == [
        "ner.train.tsv",
        "ner.dev.tsv",
    ]
    with pytest.raises(DataError, match=r"has no files that match 'chunk\.\*' whose name"):
        find_splits(tmp_path, pattern="chunk.*")
    with pytest.raises(DataError, match="cannot be searched for '/abs'"):
        find_splits(tmp_path, pattern="/abs")
    numbered(file, "ner.train.txt", 1)
    with pytest.raises(DataError, match=re.escape("`pattern: '*.tsv'`")):
        find_splits(tmp_path)


def test_a_folder_that_is_none(file):
    with pytest.raises(DataError, match="is no folder; expected one with files of train"):
        find_splits(numbered(file, "train.tsv", 1))


def test_limits_are_nested_and_in_the_order_of_the_draw(file):
    train = numbered(file, "train.tsv", 50)
    drawn = {
        limit: words(load(SplitFiles(train=train, limit=limit), kind="tagging", seed=3).train)
        for limit in (1, 10, 25, 50)
    }
    assert all(drawn[50][:limit] == some for limit, some in drawn.items())
    assert sorted(drawn[50]) == sorted(f"w{i}" for i in range(50))
    other = load(SplitFiles(train=train, limit=25), kind="tagging", seed=4)
    assert words(other.train) != drawn[25]
    whole = load(SplitFiles(train=train), kind="tagging", seed=3)
    assert words(whole.train) == [f"w{i}" for i in range(50)]


def test_a_limit_above_what_there_is(file):
    files = SplitFiles(train=numbered(file, "train.tsv", 5), limit=6)
    with pytest.raises(
        DataError,
        match=re.escape(
            "A limit of 6 train examples was asked for, but there are 5; 5 is the largest possible."
        ),
    ):
        load(files, kind="tagging", seed=0)


def test_what_is_held_out_does_not_depend_on_the_seed(file):
    train = numbered(file, "train.tsv", 40)
    files = SplitFiles(train=train, held_out={"dev": 0.25, "test": 0.1}, limit=10, limit_dev=5)
    one, two = (load(files, kind="tagging", seed=seed) for seed in (1, 2))
    assert (one.dev, one.test) == (two.dev, two.test)
    assert one.train != two.train
    assert one.report.sizes == {"train": 10, "dev": 5, "test": 4}
    alone = load(SplitFiles(train=train, held_out={"test": 0.1}), kind="tagging", seed=0)
    assert alone.test == one.test
    assert alone.dev is None


@given(st.integers(2, 60), st.floats(0.01, 0.6), st.floats(0.01, 0.39))
def test_held_out_parts_are_the_whole(count, dev, test):
    try:
        left, cut = hold_out(range(count), {"dev": dev, "test": test})
    except DataError:
        sizes = round(count * dev), round(count * test)
        assert min(*sizes, count - sum(sizes)) <= 0
        return
    assert sorted([*left, *cut["dev"], *cut["test"]]) == list(range(count))
    assert all(part == sorted(part) for part in (left, *cut.values()))


@given(st.integers(1, 60), st.integers(0, 5), st.data())
def test_draws_are_prefixes(count, seed, data):
    few, many = sorted(data.draw(st.tuples(*[st.integers(1, count)] * 2)))
    drawn = draw(range(count), limit=many, seed=seed, what="train")
    assert draw(range(count), limit=few, seed=seed, what="train") == drawn[:few]
    assert len(set(drawn)) == many


def test_the_report(file):
    rows = ["a\tB-X\n b\tI-X\n", "c\tO\n", "d\tI-X\n"]
    train = file("train.tsv", "\n".join(rows))
    dev = file("dev.jsonl", '{"tokens": ["a b"], "tags": ["O"]}\n{"tokens": [], "tags": []}\n')
    test = file("test.tsv", "c\tB-Y\n\nc\tI-Y\n\nz\tO\n")
    splits = load(SplitFiles(train=[train], dev=dev, test=[test]), kind="tagging", seed=0)
    assert splits.report == ReadReport(
        sizes={"train": 3, "dev": 1, "test": 3},
        duplicates={"dev": 1, "test": 2},
        unseen_labels=("B-Y",),
        repaired=2,
        empty=1,
    )
    assert splits.train[2].tags == ("B-X",)
    with pytest.raises(DataError, match=r"train.tsv:6: the tags.*There are 2 such sentences."):
        load(SplitFiles(train=train, test=test), kind="tagging", invalid="refuse", seed=0)


def test_duplicates_of_texts(file):
    train = file("train.jsonl", '{"text": "a  b", "label": "x"}\n{"text": " ", "label": "x"}\n')
    dev = file("dev.jsonl", '{"text": " a b", "label": "y"}\n{"text": "ab", "label": "x"}\n')
    report = load(SplitFiles(train=train, dev=dev), kind="classification", seed=0).report
    assert report.duplicates == {"dev": 1}
    assert report.unseen_labels == ("y",)
    assert report.empty == 1


def test_tags_of_no_spans_are_left_alone(file):
    train = file("train.tsv", "a\tI-X\nb\tNOUN\n")
    assert load(SplitFiles(train=train), kind="tagging", seed=0).train[0].tags == ("I-X", "NOUN")


def test_a_split_of_empty_examples(file):
    train = file("train.jsonl", '{"tokens": [], "tags": []}')
    with pytest.raises(DataError, match=r"train.jsonl: every example is empty; expected words"):
        load(SplitFiles(train=train), kind="tagging", seed=0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "Give either `folder` or the `train` files"),
        ({"folder": 1, "train": 1}, "Give either `folder` or the `train` files"),
        ({"folder": 1, "dev": 1}, "`dev` and `test` go with `train`"),
        ({"train": 1, "pattern": "a"}, "`pattern` chooses among the files of a `folder`"),
        ({"train": []}, "`train` names no files"),
        ({"train": 1, "held_out": {"train": 0.5}}, "`held_out` cuts off dev and test; got 'train'"),
        ({"train": 1, "held_out": {"dev": 1.0}}, "must be between 0 and 1; got 1.0"),
        ({"train": 1, "held_out": {"dev": 0.5, "test": 0.5}}, "leaves nothing to train on"),
        ({"train": 1, "dev": 1, "held_out": {"dev": 0.5}}, "There are dev files, so none can be"),
        ({"train": 1, "limit": 0}, "`limit` must be at least 1; got 0."),
        ({"train": 1, "limit_test": -1}, "`limit_test` must be at least 1; got -1."),
    ],
)
def test_files_that_cannot_be(given, message, tmp_path):
    given = {name: tmp_path if value == 1 else value for name, value in given.items()}
    with pytest.raises(ConfigError, match=re.escape(message)):
        SplitFiles(**given)


def test_dev_in_the_folder_and_held_out(file, tmp_path):
    numbered(file, "train.tsv", 5)
    numbered(file, "dev.tsv", 5)
    files = SplitFiles(folder=tmp_path, held_out={"dev": 0.5})
    with pytest.raises(ConfigError, match="There are dev files, so none can be held out"):
        load(files, kind="tagging", seed=0)
    with pytest.raises(DataError, match=r"Holding out 0.01 for dev of 5 examples leaves none for"):
        load(SplitFiles(train=tmp_path / "dev.tsv", held_out={"dev": 0.01}), kind="tagging", seed=0)


def test_groups_stay_with_their_examples(file):
    path = file(
        "train.jsonl",
        "".join(f'{{"tokens": ["w{i}"], "tags": ["I-X"], "site": {i}}}\n' for i in range(20)),
    )
    files = SplitFiles(train=path, held_out={"dev": 0.3}, limit=10, limit_dev=4)
    options = ReadOptions(fields={"group": "site"})
    splits = load(files, kind="tagging", options=options, seed=0)
    assert splits.report.repaired == 20
    assert len(splits.train) == 10
    assert all(s.words == (f"w{s.group}",) for s in [*splits.train, *splits.dev])


def test_documents_of_several_files_are_told_apart(file):
    one = file("a.txt", "-DOCSTART- O\na X\n")
    two = file("b.txt", "b X\n-DOCSTART- O\nc X\n-DOCSTART- O\nd X\n")
    splits = load(SplitFiles(train=[one, two], dev=one), kind="tagging", seed=0)
    assert [s.group for s in splits.train] == ["document 1", None, "document 2", "document 3"]
    assert [s.group for s in splits.dev] == ["document 4"]
