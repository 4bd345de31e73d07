"""The hub where it cannot be reached: one line, at once."""

import logging
import socket
import sys
import threading
import time
import types

import pytest

from tawt.errors import ConfigError, DataError
from tawt.text import online
from tawt.text.encoding import load_body, load_tokenizer, longest_input
from tawt.text.online import hub_if_reachable, why_unreachable
from tawt.text.reading import read

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr(online, "_answers", {})
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def nowhere(monkeypatch):
    """The hub is where nothing answers; what was downloaded before is not to be had."""
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", NOWHERE)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


@pytest.fixture
def somewhere():
    """An address where something listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(
    "function", [load_tokenizer, longest_input, lambda x: load_body(x, "text")]
)
def test_an_encoder_of_the_hub_without_a_network(function, caplog, capfd):
    began = time.perf_counter()
    with pytest.raises(ConfigError) as raised:
        function("nobody/no-such-encoder")
    assert time.perf_counter() - began < 10
    message = str(raised.value)
    assert message.startswith("There is no encoder 'nobody/no-such-encoder': it was not downloaded")
    assert f"{NOWHERE} cannot be reached (Connection refused)" in message
    assert "give the folder, or package:NAME" in message
    assert "\n" not in message
    assert "Retrying" not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.usefixtures("nowhere")
def test_a_dataset_of_the_hub_without_a_network(tmp_path, caplog, capfd):
    began = time.perf_counter()
    with pytest.raises(DataError) as raised:
        list(read(type(tmp_path)("hub:nobody/no-such-dataset"), kind="classification"))
    assert time.perf_counter() - began < 10
    assert "was not downloaded before, and" in str(raised.value)
    assert "save_to_disk" in str(raised.value)
    assert "Retrying" not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.usefixtures("nowhere")
def test_the_libraries_are_left_as_they_were():
    from datasets import config
    from huggingface_hub import constants

    before = config.HF_HUB_OFFLINE, logging.getLogger("huggingface_hub").level
    with hub_if_reachable() as reason:
        assert reason is not None
        assert constants.HF_HUB_OFFLINE
        assert config.HF_HUB_OFFLINE
        assert not logging.getLogger("huggingface_hub.utils").isEnabledFor(logging.WARNING)
    assert not constants.HF_HUB_OFFLINE
    assert (config.HF_HUB_OFFLINE, logging.getLogger("huggingface_hub").level) == before


def test_where_it_can_be_reached_the_libraries_ask(somewhere, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", somewhere)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with hub_if_reachable() as reason:
        assert reason is None
        assert not constants.HF_HUB_OFFLINE


@pytest.mark.usefixtures("offline")
def test_who_works_offline_is_not_made_to_wait(monkeypatch):
    monkeypatch.setattr(online, "_connection_problem", None)
    with hub_if_reachable() as reason:
        assert reason is None


def test_the_proxy_is_tried_where_there_is_one(somewhere, monkeypatch):
    monkeypatch.setenv("https_proxy", somewhere)
    assert why_unreachable("https://huggingface.co") is None
    monkeypatch.setenv("https_proxy", NOWHERE)
    assert why_unreachable("https://huggingface.co") is not None
    monkeypatch.setenv("http_proxy", NOWHERE)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert why_unreachable(somewhere) is None


@pytest.mark.parametrize("address", ["", "huggingface.co", "http://[::1", "http://a:b", "ftp://a"])
def test_an_address_that_cannot_be_tried_is_left_to_the_library(address):
    assert why_unreachable(address) is None


def test_a_name_that_takes_long_to_look_up(monkeypatch):
    monkeypatch.setattr(online, "PATIENCE", 0.05)
    never = threading.Event()

    def create_connection(*_, **__):
        never.wait(2)
        raise OSError("too late")

    slow = types.SimpleNamespace(create_connection=create_connection)
    monkeypatch.setattr(online, "socket", slow)
    began = time.perf_counter()
    assert "no answer within 0.05 s" in why_unreachable("https://huggingface.co")
    assert why_unreachable("https://huggingface.co")  # remembered
    assert time.perf_counter() - began < 1.5
    never.set()


def test_datasets_need_not_be_there(monkeypatch):
    monkeypatch.delitem(sys.modules, "datasets", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", NOWHERE)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with hub_if_reachable() as reason:
        assert reason is not None
