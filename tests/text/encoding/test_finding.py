"""Encoders that are not there, or broken: one line that says what was tried and what to give."""

import json
import shutil
import stat
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoModel, CanineConfig, CanineModel

from tawt.errors import ConfigError
from tawt.text.encoding import load_body, load_tokenizer, located, longest_input
from tawt.text.encoding.loading import quietly

WAYS = [
    "Give a name on the Hugging Face hub",
    "a folder with config.json, model.safetensors and a fast tokenizer",
    "package:NAME for an installed package",
]


def refused(function, *arguments):
    """The one line that is said."""
    with pytest.raises(ConfigError) as raised:
        function(*arguments)
    message = str(raised.value)
    assert "\n" not in message
    return message


def refused_with_ways(encoder, function, *arguments):
    message = refused(function, encoder, *arguments)
    assert message.startswith(f"There is no encoder {encoder!r}: ")
    assert all(way in message for way in WAYS)
    return message


@pytest.fixture
def folder(tiny, tmp_path):
    """A copy of an encoder, to be broken."""
    return Path(shutil.copytree(tiny, tmp_path / "encoder"))


# Where it is


def test_a_folder_is_itself_and_a_name_is_left_to_the_hub(tiny):
    assert located(tiny) == tiny
    assert located("bert-base-cased") == "bert-base-cased"
    assert located("microsoft/deberta-v3-base") == "microsoft/deberta-v3-base"


@pytest.mark.parametrize("name", ["./nowhere", "/nowhere", "~/nowhere", "a/b/c", "", " "])
def test_no_such_folder(name):
    assert "there is no such folder" in refused_with_ways(name, located)


def test_a_folder_without_a_configuration(tmp_path):
    assert "has no config.json" in refused_with_ways(str(tmp_path), located)


@pytest.mark.parametrize("name", ["package:no-such-package", "package:"])
def test_a_package_that_is_not_installed(name):
    assert "no package" in refused_with_ways(name, located)


def test_a_package_without_an_encoder():
    message = refused_with_ways("package:numpy", located)
    assert "the package 'numpy' carries no config.json with model.safetensors" in message


@pytest.mark.parametrize("function", [load_tokenizer, longest_input])
@pytest.mark.usefixtures("offline")
def test_a_name_that_the_hub_cannot_be_asked_about(function):
    assert "couldn't connect" in refused_with_ways("no-such/encoder", function)
    assert "Repo id" in refused_with_ways("what is this?", function)


# What is in it


def test_a_slow_tokenizer_only(tmp_path):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = CanineConfig(**sizes, intermediate_size=16, num_hash_buckets=64)
    with quietly():
        CanineModel(config).save_pretrained(tmp_path)
    assert "has no fast tokenizer (tokenizer.json)" in refused(load_tokenizer, str(tmp_path))


def test_no_tokenizer(folder):
    """The library would make one up that knows no word."""
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    assert "comes without a tokenizer" in refused_with_ways(str(folder), load_tokenizer)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"model": 1}'])
def test_a_broken_tokenizer(folder, content):
    (folder / "tokenizer.json").write_text(content)
    refused_with_ways(str(folder), load_tokenizer)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"model_type": "no-such-model"}', '{"model_type": "vit"}']
)
def test_a_configuration_of_no_encoder(folder, content):
    (folder / "config.json").write_text(content)
    refused_with_ways(str(folder), load_body, "words")


def test_a_configuration_with_a_value_of_the_wrong_type(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_size": "wide"}))
    assert "hidden_size" in refused_with_ways(str(folder), load_body, "text")
    refused_with_ways(str(folder), longest_input)


def test_weights_in_a_pickle_only(folder, tiny):
    (folder / "model.safetensors").unlink()
    with quietly():
        torch.save(AutoModel.from_pretrained(tiny).state_dict(), folder / "pytorch_model.bin")
    assert "model.safetensors" in refused_with_ways(str(folder), load_body, "words")


@pytest.mark.parametrize("content", [b"", b"garbage" * 20])
def test_broken_weights(folder, content):
    (folder / "model.safetensors").write_bytes(content)
    refused_with_ways(str(folder), load_body, "words")


def test_weights_of_another_model(folder):
    """Nothing would be left of them: the encoder would be random."""
    save_file({"something": torch.zeros(3)}, folder / "model.safetensors")
    message = refused_with_ways(str(folder), load_body, "words")
    assert "its model.safetensors is of no BertForTokenClassification" in message


def test_weights_of_another_size(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "hidden_size": 32}))
    message = refused_with_ways(str(folder), load_body, "text")
    assert "has another shape than its config.json says" in message


def test_code_that_comes_with_an_encoder_is_not_run(folder, monkeypatch):
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked whether to run code"))
    config = json.loads((folder / "config.json").read_text())
    classes = {"AutoConfig": "mine.C", "AutoModelForTokenClassification": "mine.M"}
    config |= {"model_type": "mine", "auto_map": classes}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "mine.py").write_text("raise SystemExit('code was run')")
    for function in (longest_input, lambda encoder: load_body(encoder, "words")):
        assert "custom code" in refused_with_ways(str(folder), function)


def test_a_tiny_encoder_can_be_read_by_others(tiny):
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in Path(tiny).iterdir()}
    assert modes["model.safetensors"] == modes["config.json"]
