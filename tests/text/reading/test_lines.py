"""Files that cannot be read as text."""

import os
import re

import pytest

from tawt.errors import ConfigError, DataError
from tawt.text.reading.lines import read_lines


def refused(path, message, **options):
    with pytest.raises(DataError, match=re.escape(message)):
        list(read_lines(path, **options))


def test_missing_folder_empty_and_binary(file, tmp_path):
    path = file("train.tsv", b"")
    refused(path, f"{path} is empty; expected labelled examples.")
    refused(tmp_path / "trian.tsv", "there is no such file. In that folder, did you mean 'train")
    refused(tmp_path / "no" / "a.tsv", "a.tsv: there is no such file.")
    refused(tmp_path, "is a folder; expected a file.")
    refused(file("a.gz", b"\x1f\x8b\0\0"), "is binary (it has NUL bytes); expected text.")
    refused(file("a.txt", "a\tb\n".encode("utf-16")), "give `encoding: utf-16`.")


def test_a_nul_far_into_the_file(file):
    path = file("a.txt", b"a\n" * 10_000 + b"\0\n")
    refused(path, f"{path}:10001: there is a NUL character here")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "is not a regular file")


@pytest.mark.parametrize("before", [0, 10, 70_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_wrong_encoding_is_told_with_line_and_byte(file, before, end):
    path = file("a.txt", (b"a X" + end) * before + "café X".encode("latin-1") + end)
    offset = before * (3 + len(end)) + 4
    refused(
        path,
        f"{path}:{before + 1}: byte {offset} of the file is not utf-8; say which encoding it is, "
        "for example `encoding: latin-1`.",
    )
    assert list(read_lines(path, encoding="latin-1"))[-1] == (before + 1, "café X\n")


def test_bytes_are_counted_from_one_as_lines_are(file):
    path = file("a.txt", b"\xff")
    refused(path, f"{path}:1: byte 1 of the file is not utf-8")
    path = file("b.txt", b"a\r\nb\xff X\n")
    refused(path, f"{path}:2: byte 5 of the file is not utf-8")


def test_a_file_that_ends_within_a_character(file):
    path = file("a.txt", "a\né".encode()[:-1])
    refused(path, f"{path}:2: byte 3 of the file is not utf-8")


def test_utf_16(file):
    path = file("a.txt", "aé X\nb Y\n".encode("utf-16"))
    assert list(read_lines(path, encoding="utf-16")) == [(1, "aé X\n"), (2, "b Y\n")]


@pytest.mark.parametrize("encoding", ["utf-9", "base64", "", "a\0b"])
def test_unknown_encodings(file, encoding):
    with pytest.raises(ConfigError, match="must be a text encoding that Python knows"):
        list(read_lines(file("a.txt", "a"), encoding=encoding))
