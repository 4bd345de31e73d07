"""Plain text by line, by paragraph and by file, against splitting the whole text."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.corpora.reading import documents, opening
from tawt.corpora.sections import CorpusFiles
from tests.corpora.files import TEXTS, texts_of, whole_documents, write_lines


def slow(text, unit):
    """Documents of a text that is held as a whole."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if unit == "file":
        return [text.removesuffix("\n")]
    found = text.split("\n")
    found = found[:-1] if found[-1] == "" else found
    if unit == "line":
        return found
    groups = itertools.groupby(found, key=lambda line: bool(line.strip()))
    return ["\n".join(each) for is_text, each in groups if is_text]


@pytest.mark.parametrize("unit", ["line", "blank line", "file"])
@settings(max_examples=60)
@given(text=st.text(st.sampled_from("ab é\n\r"), min_size=1), chunk=st.integers(1, 9))
def test_documents_are_those_of_the_whole_text(tmp_path_factory, unit, text, chunk):
    path = tmp_path_factory.mktemp("text") / "a.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "CHUNK", chunk)
        patch.setattr(documents, "LONGEST", 7)
        patch.setattr(documents, "_NEAR", 3)
        assert texts_of(path, documents=unit) == slow(text, unit)


def test_the_three_units_by_hand(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\n\n \nthree\n")
    assert texts_of(path) == ["one", "two", "", " ", "three"]
    assert texts_of(path, documents="blank line") == ["one\ntwo", "three"]
    assert texts_of(path, documents="file") == ["one\ntwo\n\n \nthree"]


def test_packed_text_is_the_same_text(tmp_path):
    plain = write_lines(tmp_path / "a.txt", TEXTS)
    packed = write_lines(tmp_path / "a.txt.gz", TEXTS)
    assert texts_of(plain) == texts_of(packed) == TEXTS


def test_documents_of_a_limit_are_the_first_that_hold_text(tmp_path):
    path = write_lines(tmp_path / "a.txt", TEXTS)
    assert texts_of(path, limit=3) == ["one", "two words", TEXTS[3]]
    assert texts_of(path, limit=100) == [text for text in TEXTS if text.strip()]


def test_a_limit_is_of_train_and_not_of_files_of_its_own(tmp_path):
    path = write_lines(tmp_path / "a.txt", TEXTS)
    other = write_lines(tmp_path / "b.txt", TEXTS)
    files = CorpusFiles(train=path, dev=other, limit=1)
    assert len(whole_documents(files, split="dev")) == len(TEXTS)
