"""Bytes become text a chunk at a time, as if all of it had been decoded at once."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.corpora.reading import opening
from tawt.corpora.reading.opening import decoded, lines
from tawt.errors import DataError


def text_of(path, *, encoding="utf-8", invalid="refuse"):
    return "".join(decoded(path, encoding=encoding, invalid=invalid))


@settings(max_examples=60)
@given(st.text(st.sampled_from("aé日😀\n\r\ufeff")), st.integers(1, 5))
def test_chunks_add_up_to_the_text(tmp_path_factory, text, size):
    path = tmp_path_factory.mktemp("text") / "a.txt"
    path.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "CHUNK", size)
        chunks = list(decoded(path, encoding="utf-8", invalid="refuse"))
    # Universal newlines, as the standard library reads them.
    with path.open(encoding="utf-8-sig") as file:
        wanted = file.read()
    if size >= 3 or not text.startswith("\ufeff"):  # chunks are a megabyte; a mark is three bytes
        assert "".join(chunks) == wanted
    assert all(chunks)


def test_lines_are_whole_whatever_the_chunks():
    text = "one\n\ntwo\nthree"
    for size in range(1, 6):
        chunks = [text[start : start + size] for start in range(0, len(text), size)]
        assert list(lines(iter(chunks))) == ["one", "", "two", "three"]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_the_byte_and_the_line_that_cannot_be_decoded_are_named(tmp_path, monkeypatch, size):
    path = tmp_path / "a.txt"
    path.write_bytes("é one\ntwo ".encode() + b"\xff\xfe three\n")
    monkeypatch.setattr(opening, "CHUNK", size)
    with pytest.raises(DataError) as raised:
        text_of(path)
    assert str(raised.value).startswith(f"{path}:2: byte 12 of the text is not utf-8; set ")


def test_a_character_that_breaks_off_at_the_end_is_found(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("one\ntwo é".encode()[:-1])
    with pytest.raises(DataError, match=r"a\.txt:2: byte 9 "):
        text_of(path)
    assert text_of(path, invalid="replace") == "one\ntwo \ufffd"


def test_other_encodings_are_read_and_hinted_at(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("né\n".encode("latin-1"))
    assert text_of(path, encoding="latin-1") == "né\n"
    with pytest.raises(DataError, match="for example `encoding: latin-1`"):
        text_of(path)
    path.write_text("a\nb", encoding="utf-16")
    assert text_of(path, encoding="utf-16") == "a\nb"


def test_a_packed_file_is_unpacked_and_a_damaged_one_is_refused(tmp_path):
    path = tmp_path / "a.txt.gz"
    whole = gzip.compress(b"one\ntwo\n" * 1000)
    path.write_bytes(whole)
    assert text_of(path) == "one\ntwo\n" * 1000
    for damaged in (whole[:-20], b"not packed", whole[:30] + b"\0" * 10 + whole[40:]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"a\.txt\.gz is damaged: .*; compress it again"):
            text_of(path)
