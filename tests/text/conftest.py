"""A tiny encoder that the tests of text share."""

import pytest

from tests.text.encoders import write_tiny_bert


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """Folder of a BERT with 16 numbers to a vector, which takes 256 pieces."""
    return write_tiny_bert(tmp_path_factory.mktemp("encoders") / "tiny-bert")


@pytest.fixture
def offline(monkeypatch):
    """Asking the hub fails at once, as it does without a network after a minute."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
