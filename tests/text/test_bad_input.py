"""Mistakes in a study of text: one line that says what is wrong and where, and nothing written."""

import json
import logging

import pytest

from tawt.config import load
from tawt.errors import ConfigError
from tawt.runs.building import build_parts
from tawt.runs.run import run
from tests.text.encoders import write_encoder
from tests.text.studies import TextStudy, ratings, reviews, tagging_study, text_study


@pytest.fixture
def refused(call, listing, tmp_path):
    """What `tawt train` says of a study that it must not run."""

    def said(study):
        before = listing(study.folder)
        status, out, err = call("train", study.path, "--out", tmp_path / "run")
        assert (status, out) == (2, "")
        assert len(err.strip().splitlines()) == 1
        assert "Traceback" not in err
        assert not (tmp_path / "run").exists()
        assert listing(study.folder) == before
        assert err.startswith("error: ")
        return err.removeprefix("error: ").strip()

    return said


@pytest.fixture
def study(tmp_path, tiny):
    return tagging_study(tmp_path / "study", tiny)


def with_file(study, name, content):
    (study.folder / name).write_bytes(content)
    study.set("data.tasks.chunks.train", name)
    return study


# Files


BROKEN = {
    "columns": ("train.txt", b"EU B-ORG\nrejects\n", ":2:"),
    "conllu": ("train.conllu", b"1\tEU\t_\n", ":1:"),
    "ontonotes": ("train.gold_conll", b"#begin document\nx 0 0\n", "train.gold_conll"),
    "jsonl": ("train.jsonl", b'{"tokens": ["a"], "tags": ["O"]}\n{"tokens": [\n', ":2:"),
    "jsonl, numbers differ": ("train.jsonl", b'{"tokens": ["a", "b"], "tags": ["O"]}\n', ":1:"),
    "csv": ("train.csv", b'tokens,tags\n"a,O\n', "train.csv"),
    "tsv": ("train.tsv", b"tokens\ttags\na b\tO\n", "train.tsv"),
    "not text": ("train.txt", b"\xff\xfe\x00a", "train.txt"),
    "empty": ("train.txt", b"", "train.txt"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file(study, refused, name):
    file, content, where = BROKEN[name]
    message = refused(with_file(study, file, content))
    assert "Task 'chunks'" in message.replace("\n", " ")
    assert where in message.replace(" ", "")


def test_a_file_that_is_not_there(study, refused):
    assert "nowhere.tsv" in refused(study.set("data.tasks.chunks.test", "nowhere.tsv"))


def test_a_file_of_another_kind_of_task(study, refused):
    message = refused(study.set("data.tasks.chunks.kind", "classification"))
    assert "Task 'chunks'" in message


def test_more_examples_than_there_are(study, refused):
    message = refused(study.set("data.tasks.pos.limit", 21))
    assert "Task 'pos'" in message
    assert "20 is the largest possible" in message


def test_spans_that_break_off_where_they_are_refused(study, refused):
    (study.folder / "bad.jsonl").write_text('{"tokens": ["a"], "tags": ["I-X"]}\n')
    study.set("data.tasks.chunks.invalid", "refuse")
    assert "not IOB2" in refused(study.set("data.tasks.chunks.dev", "bad.jsonl"))


# Labels and metrics


def test_labels_that_only_held_out_examples_have_are_warned_of(tmp_path, tiny, caplog):
    study = text_study(tmp_path / "study", tiny, "classification")
    odd = [{"text": "The film was odd.", "label": "odd"}, *reviews(4, seed=9)]
    study.task("goal", "classification", train=reviews(8, seed=0), test=odd)
    with caplog.at_level(logging.WARNING):
        record = run(study.config, tmp_path / "run")
    assert "labels only in held-out examples, never right: odd" in caplog.text
    assert record["scores"]["goal"]["test"]["accuracy"] < 1
    config = json.loads((tmp_path / "run" / "model" / "config.json").read_text())
    assert config["id2label"] == {"0": "bad", "1": "good"}


def test_texts_that_are_too_long_are_warned_of(tmp_path, tiny, caplog):
    study = tagging_study(tmp_path / "study", tiny, sources=["reviews"])
    study.set("model.max_length", 8).set("model.long", "truncate")
    with caplog.at_level(logging.WARNING):
        build_parts(study.config)
    assert "words of train are past `max_length`, neither learned nor scored" in caplog.text
    assert "task 'reviews': " in caplog.text
    assert "texts of train are longer than `max_length`; their ends are not read" in caplog.text


def test_labels_that_miss_one(study, refused):
    message = refused(study.set("data.tasks.chunks.labels", ["O", "B-NP"]))
    assert message.startswith("Task 'chunks' has the tag ")
    assert message.endswith("which `labels` does not name.")


@pytest.mark.parametrize(("task", "label"), [("chunks", "O"), ("reviews", "good")])
def test_a_label_twice(study, refused, task, label):
    message = refused(study.set(f"data.tasks.{task}.labels", [label, "other", label]))
    assert f"Task '{task}': `labels` names '{label}' twice" in message
    labels = 1 + [line.strip() for line in study.path.read_text().splitlines()].index("labels:")
    assert message.startswith(f"{study.path}:{labels}: ")


@pytest.mark.parametrize(
    ("task", "metric", "words"),
    [
        ("chunks", "matthews", "Task 'chunks': No metric 'matthews' for tagging"),
        ("reviews", "span_f1", "Task 'reviews': No metric 'span_f1' for classification"),
        ("pos", "span_f1", "Task 'pos': the metric 'span_f1' is of spans"),
        ("chunks", "span_f2", "did you mean 'span_f1'?"),
    ],
)
def test_a_metric_that_the_kind_has_not(study, refused, task, metric, words):
    assert words in refused(study.set(f"data.tasks.{task}.metric", metric))


def test_an_error_is_nothing_to_choose_by(tmp_path, tiny, refused):
    study = text_study(tmp_path / "study", tiny, "regression")
    assert "choose by r2" in refused(study.set("data.tasks.goal.metric", "mse"))


# Splits


def test_a_target_with_nothing_to_be_measured_on(tmp_path, tiny, refused):
    study = TextStudy(tmp_path / "study", tiny, paradigm="single-task")
    study.task("goal", "regression", train=ratings(8, seed=0))
    assert "neither dev nor test" in refused(study)


def test_early_stopping_without_dev_examples(tmp_path, tiny, refused, study):
    study.set("training.patience", 2)
    build_parts(study.config)  # the target has some
    del study.values["data"]["tasks"]["chunks"]["dev"]
    study.write()
    message = refused(study)
    assert "`training.patience` waits for a better dev score" in message
    assert "no dev examples" in message


def test_early_stopping_is_by_the_targets_that_have_dev_examples(study):
    study.task("mood", "classification", train=reviews(8, seed=0), test=reviews(4, seed=1))
    study.set("target", {"chunks": 0.5, "mood": 0.5}).set("training.patience", 1)
    build_parts(study.config)


@pytest.mark.parametrize("command", [("train",), ("data", "inspect")])
def test_targets_whose_models_would_share_a_folder(study, call, command):
    for name in ("the mood", "the-mood"):
        study.task(name, "classification", train=reviews(8, seed=0), test=reviews(4, seed=1))
    study.set("target", {"chunks": 0.5, "the mood": 0.25, "the-mood": 0.25})
    status, out, err = call(*command, study.path)
    assert (status, out) == (2, "")
    assert err.strip().endswith(
        "The models of `target` 'the mood' and 'the-mood' would both be saved in the folder "
        "the-mood; rename one of the tasks."
    )
    line = 1 + study.path.read_text().splitlines().index("target:")
    assert err.startswith(f"error: {study.path}:{line}: ")
    study.set("target", {"chunks": 0.5, "the mood": 0.5})  # a source has no model of its own
    assert set(study.config.targets) == {"chunks", "the mood"}


# The encoder


@pytest.mark.parametrize(
    ("name", "words"),
    [("t5", "tasks on words and on texts cannot share it"), ("xmod", "must be told a language")],
)
def test_an_encoder_that_would_fail_at_the_first_batch(tmp_path, refused, name, words):
    encoder = write_encoder(name, tmp_path / "encoder")
    study = tagging_study(tmp_path / "study", encoder).set("model.max_length", 64)
    assert words in refused(study)


def test_a_slow_tokenizer(tmp_path, refused):
    from transformers import CanineConfig

    CanineConfig().save_pretrained(tmp_path / "canine")
    study = tagging_study(tmp_path / "study", tmp_path / "canine")
    assert "has no fast tokenizer" in refused(study)


def test_no_such_encoder(study, refused):
    message = refused(study.set("model.encoder", "./nowhere"))
    assert "There is no encoder './nowhere': there is no such folder" in message


@pytest.mark.usefixtures("offline")
def test_an_encoder_that_would_have_to_be_downloaded(study, refused):
    message = refused(study.set("model.encoder", "bert-base-nowhere"))
    assert "There is no encoder 'bert-base-nowhere'" in message


def test_longer_texts_than_the_encoder_takes(tmp_path, refused):
    folder = tmp_path / "encoder"
    study = tagging_study(tmp_path / "study", write_encoder("roberta", folder))
    study.set("model.max_length", 71)
    message = refused(study)
    assert "`model.max_length` is 71" in message
    assert "takes at most 70 pieces" in message
    study.set("model.max_length", 70)
    build_parts(study.config)


def test_the_longest_texts_that_an_encoder_takes_are_read(tmp_path):
    """However wide batches are padded, it is never wider than this."""
    encoder = write_encoder("roberta", tmp_path / "encoder")
    study = TextStudy(tmp_path / "study", encoder, paradigm="single-task", target_epochs=1)
    long = [{"tokens": ["the"] * 90, "tags": ["A", "B", "B"] * 30}]
    study.task("chunks", "tagging", train=long * 3, test=long)
    study.set("model.max_length", 70)
    assert run(study.config, tmp_path / "run")["steps"] == 1


def test_a_network_does_not_read_text(study, refused):
    message = refused(study.set("model", {"kind": "mlp"}))
    assert "`data.kind: text` needs an encoder" in message


def test_an_encoder_does_not_read_arrays(study, refused):
    message = refused(study.set("data", {"kind": "digits"}).set("target", "digit"))
    assert "`data.kind: digits` needs `model.kind` mlp or cnn" in message


# Where in the file


PLACES = {
    "data.tasks.chunks.metrik": ("accuracy", "did you mean 'metric'?"),
    "data.tasks.chunks.limit": (0, "greater than or equal to 1"),
    "data.tasks.chunks.kind": ("taging", "'tagging'"),
    "data.tasks.chunks.held_out": ([0.1], "dictionary"),
    "data.tasks.chunks.labels": ("O", "list"),
    "data.tasks.chunks.invalid": ("ignore", "'repair'"),
    "model.max_length": (4, "greater than or equal to 8"),
    "model.lonng": ("window", "did you mean 'long'?"),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_mistake_is_shown_with_its_line(study, refused, name):
    value, words = PLACES[name]
    study.set(name, value)
    *_, section, key = name.split(".")
    lines = [line.strip().partition(":")[0] for line in study.path.read_text().splitlines()]
    number = 1 + lines.index(key, lines.index(section))
    message = refused(study)
    assert message.startswith(f"{study.path}:{number}: ")
    assert f"`{name}" in message
    assert words in message


def test_a_mistake_in_a_list_of_files(study):
    study.set("data.tasks.chunks.train", {"file": "a.txt"})
    with pytest.raises(ConfigError) as raised:
        load(study.path)
    line = 1 + [text.strip() for text in study.path.read_text().splitlines()].index("train:")
    assert str(raised.value).startswith(f"{study.path}:{line}: `data.tasks.chunks.train")


@pytest.mark.parametrize(
    ("field", "value", "line"),
    [
        ("data.tasks.chunks.metric", "span_f2", "metric: span_f2"),
        ("target", "chunk", "target: chunk"),
    ],
)
def test_mistakes_that_show_late_are_named_by_line_too(refused, tiny, tmp_path, field, value, line):
    study = tagging_study(tmp_path / "study", tiny).set(field, value)
    numbered = enumerate(study.path.read_text().splitlines(), start=1)
    expected = next(number for number, text in numbered if text.strip() == line)
    assert refused(study).startswith(f"{study.path}:{expected}: ")
