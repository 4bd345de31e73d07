"""Runs that are trained once, for all tests of this folder."""

import io
import sys

import pytest

from tests.text.trained import tagging_values, text_values, tiny_encoder, trained


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="session")
def tagger(tmp_path_factory, encoder):
    """The folder of a run that tags words with chunks."""
    return trained(tmp_path_factory.mktemp("tagger"), tagging_values(encoder))


@pytest.fixture(scope="session")
def run_of(tmp_path_factory, encoder):
    """The folder of a run of any other kind, by the kind's name."""
    made = {}

    def found(kind):
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind)
            made[kind] = trained(folder, text_values(folder, encoder, kind))
        return made[kind]

    return found


@pytest.fixture
def typed_in(monkeypatch):
    """Put text, or bytes, on standard input."""

    def put(content):
        data = content.encode() if isinstance(content, str) else content
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return put
