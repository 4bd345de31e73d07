"""Word vectors from a file or a package."""

import os
import sys
from importlib import metadata

import numpy as np
import pytest

from tawt.errors import ConfigError, DataError
from tawt.reproduce import vectors
from tawt.reproduce.vectors import load_vectors


@pytest.fixture
def file(tmp_path):
    def written(text, encoding="utf-8"):
        path = tmp_path / "vectors.txt"
        path.write_bytes(text.encode(encoding))
        return str(path)

    return written


def test_a_file_has_a_word_and_its_numbers_to_a_line(file):
    found = load_vectors(file("the 1 2 3\ncafé -0.5 1e-3 0\n"), ["the", "café"])
    assert list(found) == ["the", "café"]
    np.testing.assert_allclose(found["café"], [-0.5, 1e-3, 0])
    assert found["the"].dtype == np.float32


def test_only_words_that_are_wanted_are_kept(file):
    assert set(load_vectors(file("a 1\nb 2\nc 3\n"), ["b", "z"])) == {"b"}
    assert load_vectors(file("a 1\n"), []) == {}


def test_a_header_as_word2vec_has_it_does_no_harm(file):
    assert set(load_vectors(file("2 3\na 1 2 3\nb 4 5 6\n"), ["a", "b"])) == {"a", "b"}


@pytest.mark.parametrize("line", ["b x 2 3", "b 1,5 2 3", "b  1 2"])
def test_a_bad_line_is_named(file, line):
    with pytest.raises(DataError, match=r"vectors\.txt:2: expected a word and its numbers"):
        load_vectors(file(f"a 1 2 3\n{line}\n"), ["a"])


def test_a_line_that_is_cut_off_is_named(file):
    with pytest.raises(DataError, match=r"vectors\.txt:2: expected 3 numbers.*got 2"):
        load_vectors(file("a 1 2 3\nb 4 5"), ["a", "b"])


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.txt: there is no such file"):
        load_vectors(str(tmp_path / "nowhere.txt"), ["a"])


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is not a regular file"):
        load_vectors(str(tmp_path / "pipe"), ["a"])


def test_a_file_that_is_no_text(file):
    with pytest.raises(DataError, match="Cannot read the vectors"):
        load_vectors(file("café 1 2", encoding="latin-1"), ["a"])


def test_a_package_that_is_not_installed():
    with pytest.raises(ConfigError, match=r"no-such-package is not installed; `pip install"):
        load_vectors("package:no-such-package", ["a"])


# A package


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with whatever files it is given."""
    folder = tmp_path / "some_vectors"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(metadata, "version", lambda name: "1.0")
    yield folder
    sys.modules.pop("some_vectors", None)


def fill(folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"token": ["a", "b", "c"]}), folder / "words.parquet")
    np.save(folder / "values.npy", np.arange(6, dtype=np.float16).reshape(3, 2))


def test_vectors_in_a_package(package):
    fill(package)
    found = load_vectors("package:some-vectors", ["c", "a", "z"])
    assert set(found) == {"a", "c"}
    np.testing.assert_array_equal(found["c"], [4, 5])
    assert found["c"].dtype == np.float32


def test_a_package_without_vectors(package):
    pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=r"must hold one \.parquet and one \.npy file"):
        load_vectors("package:some-vectors", ["a"])


def test_without_pyarrow_a_package_cannot_be_read(package, monkeypatch):
    monkeypatch.setattr(vectors.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="need pyarrow; `pip install pyarrow`"):
        load_vectors("package:some-vectors", ["a"])
