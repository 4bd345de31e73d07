"""Which files a corpus is read from, and in which order."""

import os
from pathlib import Path

import pytest

from tawt.corpora.reading import sources_of
from tawt.corpora.reading.sources import stamp
from tawt.corpora.sections import CorpusFiles
from tawt.errors import DataError
from tests.corpora.files import texts_of, write_lines, write_records


@pytest.fixture
def folder(tmp_path):
    """Text in three files, one of them deeper, and files that are none of it."""
    place = tmp_path / "books"
    (place / "more").mkdir(parents=True)
    write_lines(place / "b.txt", ["b"])
    write_lines(place / "a.txt", ["a"])
    write_lines(place / "more/c.txt.gz", ["c"])
    write_lines(place / ".hidden", ["hidden"])
    (place / ".git").mkdir()
    write_lines(place / ".git/x.txt", ["hidden"])
    return place


def test_a_folder_is_all_files_in_it_in_the_order_of_their_names(folder):
    assert texts_of(folder) == ["a", "b", "c"]


def test_a_pattern_and_a_list(folder):
    assert texts_of(folder / "*.txt") == ["a", "b"]
    assert texts_of(folder / "**/*.txt*") == ["a", "b", "c"]
    assert texts_of([folder / "b.txt", folder / "a.txt"]) == ["b", "a"]


def test_a_name_that_looks_like_a_pattern_is_a_name_first(tmp_path):
    assert texts_of(write_lines(tmp_path / "a[1].txt", ["one"])) == ["one"]


def test_files_of_a_list_may_have_formats_of_their_own(tmp_path):
    plain = write_lines(tmp_path / "a.txt", ["plain"])
    records = write_records(tmp_path / "b.jsonl", [{"text": "record"}])
    assert texts_of([plain, records]) == ["plain", "record"]


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("a.txt", "a.txt", "a.txt is empty; expected text."),
        ("b.txt", "a.txt", "a.txt"),
        ("b.txt", "*.jsonl", "matches no files; expected text."),
        ("a.zip", "a.zip", "is packed; unpack it, or pack it with gzip (.gz)."),
        ("a.csv", "a.csv", "corpora are not read from .csv files"),
    ],
)
def test_what_cannot_be_read_is_refused(tmp_path, name, given, words):
    (tmp_path / name).write_text("" if "empty" in words else "text")
    with pytest.raises(DataError) as raised:
        texts_of(tmp_path / given)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_of_several_formats_is_refused_unless_one_is_named(tmp_path):
    write_lines(tmp_path / "a.txt", ["plain"])
    write_records(tmp_path / "b.jsonl", [{"text": "record"}])
    with pytest.raises(DataError, match=r"files of several formats \(jsonl, text\); give a patte"):
        texts_of(tmp_path)
    assert texts_of(tmp_path, format="text") == ["plain", '{"text": "record"}']


def test_a_folder_without_files_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no files"):
        texts_of(tmp_path)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.txt")
    for given in (tmp_path / "a.txt", tmp_path):
        with pytest.raises(DataError, match="regular file"):
            texts_of(given)


def test_plain_text_has_no_groups(tmp_path):
    path = write_lines(tmp_path / "a.txt", ["a"])
    with pytest.raises(DataError, match="`group: g` names a field, and plain text has none"):
        texts_of(path, group="g")


def test_files_are_not_streamed(tmp_path):
    path = write_lines(tmp_path / "a.txt", ["a"])
    with pytest.raises(DataError, match="`streaming` reads `hub:NAME` as it arrives"):
        texts_of(path, streaming=True)
    on_hub = CorpusFiles(train=path, test=Path("hub:a/b"), streaming=True)
    assert [source.path for source in sources_of(on_hub)] == [path]


def test_a_split_that_there_is_not(tmp_path):
    path = write_lines(tmp_path / "a.txt", ["a"])
    with pytest.raises(DataError, match="The corpus has no dev; give `dev`, or `held_out`"):
        sources_of(CorpusFiles(train=path), split="dev")


def test_a_stamp_tells_contents_of_another_size_or_time_apart(folder):
    [first, *_] = sources_of(CorpusFiles(train=folder))
    before = stamp(first)
    assert stamp(first) == before
    write_lines(first.path, ["other"])
    larger = stamp(first)
    os.utime(first.path, ns=(1, 1))
    assert len({str(each) for each in (before, larger, stamp(first))}) == 3
