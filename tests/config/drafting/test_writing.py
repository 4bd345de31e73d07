"""YAML with comments, read back as the values that were written."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tawt.config.drafting.writing import commented_yaml
from tawt.config.yaml_file import read_value
from tawt.modality.recognising import Commented

HARD = ["null", "1", "yes", "a: b", "# no", "- x", "{", "'", '"', "é", "", "2e-5", "~", "a\tb", "*"]


@pytest.mark.parametrize("text", HARD)
def test_any_text_comes_back(text):
    written = commented_yaml(
        {"a": {text or "empty": Commented(text, "why")}, "b": {"x": text}}, folder=Path()
    )
    assert read_value(written) == {"a": {text or "empty": text}, "b": {"x": text}}


@given(st.floats(1e-8, 1e3) | st.integers() | st.booleans() | st.none() | st.lists(st.integers()))
def test_any_number_comes_back(value):
    assert yaml.safe_load(commented_yaml({"a": Commented(value, "why")}, folder=Path())) == {
        "a": value
    }


def test_long_comments_stand_above_and_no_line_is_too_long():
    written = commented_yaml({"a": {"b": Commented("x" * 20, "word " * 40)}}, folder=Path())
    lines = written.splitlines()
    assert max(map(len, lines)) <= 100
    assert [line.strip().startswith("#") for line in lines] == [False, True, True, True, False]
    assert read_value(written) == {"a": {"b": "x" * 20}}


def test_paths_are_relative_to_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = {"train": Path("data/a.tsv"), "dev": [Path("b.tsv"), Path("~c.tsv")]}
    here = read_value(commented_yaml(values, folder=Path()))
    assert here == {"train": "data/a.tsv", "dev": ["b.tsv", "./~c.tsv"]}
    below = read_value(commented_yaml(values, folder=Path("configs")))
    assert below["train"] == "../data/a.tsv"
