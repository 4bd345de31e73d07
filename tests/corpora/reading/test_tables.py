"""Parquet files and datasets that `datasets` saved or streams."""

import pyarrow as pa
import pytest
from datasets import ClassLabel, Dataset, DatasetDict, Features, IterableDataset, Value

from tawt.corpora.reading import tables
from tawt.corpora.sections import CorpusFiles
from tawt.errors import DataError
from tests.corpora.files import TEXTS, texts_of, whole_documents, write_parquet

GROUPS = ["a", "b", "a", "b", "a", "a"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS).dictionary_encode(),
        pa.array([text.encode() for text in TEXTS], pa.binary()),
        pytest.param(
            pa.array(TEXTS, pa.string_view()),
            marks=pytest.mark.skipif(
                int(pa.__version__.split(".")[0]) < 21, reason="this pyarrow cannot write it"
            ),
        ),
    ],
    ids=["string", "large string", "dictionary", "binary", "view"],
)
@pytest.mark.parametrize("rows", [1, 4, 256])
def test_a_column_of_text_however_it_is_stored(tmp_path, monkeypatch, column, rows):
    monkeypatch.setattr(tables, "_ROWS", rows)
    assert texts_of(write_parquet(tmp_path / "a.parquet", text=column)) == TEXTS


def test_nested_text_groups_and_missing_values(tmp_path):
    path = write_parquet(
        tmp_path / "a.parquet",
        body=pa.array([{"text": "one"}, {"text": None}]),
        kind=pa.array([1, 2]),
        unread=pa.array([0, 0]),
    )
    files = CorpusFiles(train=path, field="body.text", group="kind")
    assert whole_documents(files) == [("one", "1"), ("", "2")]


def test_text_that_is_no_utf8_is_named_by_its_row_or_replaced(tmp_path):
    column = pa.array([b"fine", b"a\xffb"], pa.binary())
    bad = pa.Array.from_buffers(pa.string(), 2, column.buffers())
    for values in (column, bad):
        path = write_parquet(tmp_path / "a.parquet", text=values)
        with pytest.raises(DataError, match=r"a\.parquet:2: the field 'text' is not UTF-8"):
            texts_of(path)
        assert texts_of(path, invalid="replace") == ["fine", "a\ufffdb"]


def test_what_is_no_column_of_text_is_refused(tmp_path):
    path = write_parquet(tmp_path / "a.parquet", text=pa.array([1]), body=pa.array(["a"]))
    with pytest.raises(DataError, match=r"a\.parquet:1: the field 'text' must be text; got 1"):
        texts_of(path)
    with pytest.raises(DataError, match=r"there is no field 'bodi'; did you mean 'body'\?"):
        texts_of(path, field="bodi")
    path.write_bytes(b"PAR1 no table")
    with pytest.raises(DataError, match=r"a\.parquet cannot be read as Parquet: "):
        texts_of(path)


def saved(folder, *, classes=False):
    features = Features(
        {
            "text": Value("string"),
            "group": ClassLabel(names=["a", "b"]) if classes else Value("string"),
        }
    )
    groups = [GROUPS.index(each) for each in GROUPS] if classes else GROUPS
    rows = Dataset.from_dict({"text": TEXTS, "group": groups}, features=features)
    few = Dataset.from_dict({"text": TEXTS[:2], "group": groups[:2]}, features=features)
    DatasetDict(train=rows, validation=few).save_to_disk(folder)
    return folder


@pytest.mark.parametrize("classes", [False, True])
def test_a_saved_dataset_its_splits_and_its_groups_by_name(tmp_path, classes):
    folder = saved(tmp_path / "data", classes=classes)
    files = CorpusFiles(train=folder, dev=folder, group="group")
    wanted = list(zip(TEXTS, GROUPS, strict=True))
    assert whole_documents(files) == wanted
    assert whole_documents(files, split="dev") == wanted[:2]
    held_out = CorpusFiles(train=folder, split="validation", held_out={"dev": 0.5}, group="group")
    assert whole_documents(held_out, split="dev") == wanted[:2]


def test_a_split_or_a_column_that_a_dataset_has_not(tmp_path):
    folder = saved(tmp_path / "data")
    with pytest.raises(DataError, match="has no single split 'test'; it has train, validation"):
        texts_of(folder, split="test")
    with pytest.raises(DataError, match="there is no field 'body'"):
        texts_of(folder, field="body")


@pytest.mark.parametrize("has_features", [True, False])
def test_a_streamed_dataset_is_read_row_by_row(monkeypatch, has_features):
    rows = [{"text": text, "group": group} for text, group in zip(TEXTS, GROUPS, strict=True)]
    features = Features({"text": Value("string"), "group": Value("string")})
    streamed = IterableDataset.from_generator(
        lambda: iter(rows), features=features if has_features else None
    )
    asked = []

    def load(path, *, split, streaming):
        asked.append((str(path), split, streaming))
        return str(path), streamed

    monkeypatch.setattr(tables, "load_split", load)
    files = CorpusFiles(train="hub:a/b", streaming=True, group="group", limit=2)
    assert whole_documents(files) == [("one", "a"), ("two words", "b")]
    assert asked == [("hub:a/b", "train", True)]


def test_a_stream_that_breaks_off_is_said_in_one_line(monkeypatch):
    def broken():
        yield {"text": "one"}
        raise OSError("the network\nis gone")

    monkeypatch.setattr(
        tables, "load_split", lambda *_, **__: ("hub:a", IterableDataset.from_generator(broken))
    )
    with pytest.raises(DataError, match="hub:a cannot be read: the network is gone"):
        texts_of("hub:a", streaming=True)
