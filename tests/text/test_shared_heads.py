"""Tasks whose labels mean the same share a last layer, and each answers with its own labels."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from tawt.errors import ConfigError, Interrupted
from tawt.runs.building import build_parts
from tawt.runs.predicting import load_predictor
from tawt.runs.run import Options, run
from tawt.tasks.heads import PartOfHead, alone
from tawt.text.heads import shared_heads
from tawt.text.kinds import Tagging
from tawt.text.predicting import Sentence
from tawt.training.fitted import outputs_to_fit
from tests.text.studies import TextStudy, ratings, reviews, tagged

THEIRS = {"NP": "noun", "VP": "verb"}


def in_their_names(records, extra=()):
    """Types of spans by other names, and words of a type that the target does not have."""
    made = []
    for record in records:
        tags = [
            tag if tag == "O" else tag[:2] + THEIRS.get(tag[2:], tag[2:]) for tag in record["tags"]
        ]
        made.append({**record, "tags": tags})
    return [*made, *extra]


NEWS, WEB = tagged(24, seed=4), tagged(12, seed=1, register="web")
EVERY = sorted({tag for record in (*NEWS, *WEB) for tag in record["tags"]})
ONLY_THEIRS = [{"tokens": ["hm", "hm"], "tags": ["B-NOISE", "I-NOISE"]}] * 4


def study_of(folder, tiny, *, source, rename=None, **values):
    """A target of chunks, and a source that shares its head."""
    study = TextStudy(folder, tiny, **{"paradigm": "joint", **values})
    study.task(
        "goal",
        "tagging",
        train=WEB,
        dev=tagged(6, seed=2, register="web"),
        test=tagged(6, seed=3, register="web"),
    )
    study.task("other", "tagging", source=True, train=source)
    study.set("data.tasks.goal.head", "chunks").set("data.tasks.other.head", "chunks")
    if rename is not None:
        study.set("data.tasks.other.rename", rename)
    return study


@pytest.fixture
def alike(tmp_path, tiny):
    """A source with the target's labels."""
    return with_every_label(study_of(tmp_path / "study", tiny, source=NEWS))


def with_every_label(study):
    """Rare labels may be missing from a few examples; `labels` gives a task an output for each."""
    return study.set("data.tasks.goal.labels", EVERY).set("data.tasks.other.labels", EVERY)


@pytest.fixture
def wider(tmp_path, tiny):
    """A source with other names, and a type that the target does not have."""
    source = in_their_names(NEWS, ONLY_THEIRS)
    back = {theirs: ours for ours, theirs in THEIRS.items()}
    return study_of(tmp_path / "study", tiny, source=source, rename=back)


# The heads themselves


def test_the_same_labels_have_the_same_layer(alike):
    heads = build_parts(alike.config).model.heads
    assert heads["goal"] is heads["other"]
    assert isinstance(heads["goal"], nn.Linear)


def test_other_labels_have_outputs_of_their_own_in_one_layer(wider):
    parts = build_parts(wider.config)
    goal, other = (parts.model.heads[name] for name in ("goal", "other"))
    assert goal.layer is other.layer
    labels = {task.name: task.kind.labels for task in parts.tasks}
    assert set(labels["other"]) - set(labels["goal"]) >= {"B-NOISE", "I-NOISE"}
    union = sorted({*labels["goal"], *labels["other"]})
    vectors = torch.randn(5, goal.layer.in_features)
    whole = goal.layer(vectors)
    for name, head in (("goal", goal), ("other", other)):
        expected = torch.stack([whole[:, union.index(label)] for label in labels[name]], dim=1)
        torch.testing.assert_close(head(vectors), expected)
        torch.testing.assert_close(alone(head)(vectors), expected)
        assert outputs_to_fit(parts.model, next(t for t in parts.tasks if t.name == name)) == len(
            labels[name]
        )


def test_a_task_learns_nothing_of_labels_that_it_does_not_have(wider):
    """Its loss is that of a layer with its own labels alone, so is its gradient."""
    torch.manual_seed(0)
    layer = nn.Linear(4, 5).double()
    part = PartOfHead(layer, [3, 0])
    vectors, labels = torch.randn(6, 4).double(), torch.tensor([0, 1, 1, 0, 1, 0])
    loss = nn.functional.cross_entropy(part(vectors), labels)
    loss.backward()
    own = alone(PartOfHead(layer, [3, 0]))
    by_hand = nn.functional.cross_entropy(own(vectors), labels)
    by_hand.backward()
    torch.testing.assert_close(loss, by_hand)
    torch.testing.assert_close(layer.weight.grad[[3, 0]], own.weight.grad)
    assert not layer.weight.grad[[1, 2, 4]].any()


def test_one_task_of_a_head_alone_has_an_ordinary_one(alike):
    parts = build_parts(alike.set("paradigm", "single-task").config)
    assert isinstance(parts.model.heads["goal"], nn.Linear)


def test_the_same_numbers_share_the_one_output(tmp_path, tiny):
    study = TextStudy(tmp_path / "study", tiny, paradigm="joint")
    study.task("goal", "regression", train=ratings(8, seed=0), dev=ratings(4, seed=1))
    study.task("other", "regression", source=True, train=ratings(8, seed=2))
    study.set("data.tasks.goal.head", "stars").set("data.tasks.other.head", "stars")
    heads = build_parts(study.config).model.heads
    assert heads["goal"] is heads["other"]


# Runs


@pytest.mark.parametrize("paradigm", ["joint", "pre-training", "joint then fine-tuning"])
def test_a_run_saves_and_answers_with_the_targets_labels(wider, tmp_path, paradigm):
    path = tmp_path / "run"
    record = run(wider.set("paradigm", paradigm).config, path)
    assert set(record["weights"]) >= {"other"}
    labels = json.loads((path / "model" / "config.json").read_text())["id2label"].values()
    assert not any("NOISE" in label or "noun" in label for label in labels)
    weights = load_file(path / "model" / "model.safetensors")
    assert len(weights["classifier.weight"]) == len(labels)
    lines = (path / "predictions.test.tsv").read_text().splitlines()[1:]
    assert {line.split("\t")[4] for line in lines} <= set(labels)
    first = [line.split("\t") for line in lines if line.split("\t")[1] == "1"]
    (answer,) = load_predictor(path).answers([Sentence(tuple(line[2] for line in first))])
    assert list(answer.tags) == [line[4] for line in first]


def test_the_targets_head_learns_from_the_source(alike):
    parts = build_parts(alike.config)
    [other] = [task for task in parts.tasks if task.name == "other"]
    batch = other.train.batch(np.arange(4))
    outputs = parts.model(batch.inputs, "other")
    other.kind.losses(outputs, batch.labels).sum().backward()
    assert parts.model.heads["goal"].weight.grad.abs().sum() > 0


def test_a_stopped_run_goes_on_with_one_head(wider, tmp_path):
    whole = run(wider.config, tmp_path / "whole")
    steps = iter([False] * 3)
    path = tmp_path / "stopped"
    with pytest.raises(Interrupted):
        run(wider.config, path, should_stop=lambda: next(steps, True))
    again = run(wider.config, path, options=Options(resume=True))
    assert again["scores"] == whole["scores"]


# Names


def test_types_of_spans_get_other_names(wider):
    labels = {task.name: set(task.kind.labels) for task in build_parts(wider.config).tasks}
    assert labels["goal"] < labels["other"]
    assert not any("noun" in label for label in labels["other"])


def test_a_type_can_be_given_up(tmp_path, tiny):
    back = {theirs: ours for ours, theirs in THEIRS.items()} | {"NOISE": "O"}
    source = in_their_names(NEWS, ONLY_THEIRS)
    study = with_every_label(study_of(tmp_path / "study", tiny, source=source, rename=back))
    heads = build_parts(study.config).model.heads
    assert heads["goal"] is heads["other"]


def test_labels_of_texts_get_other_names(tmp_path, tiny):
    study = TextStudy(tmp_path / "study", tiny, paradigm="joint")
    study.task("goal", "classification", train=reviews(8, seed=0), dev=reviews(4, seed=1))
    theirs = [{**each, "label": each["label"].upper()} for each in reviews(8, seed=2)]
    study.task("other", "classification", source=True, train=theirs)
    study.set("data.tasks.other.rename", {"GOOD": "good", "BAD": "bad"})
    study.set("data.tasks.goal.head", "mood").set("data.tasks.other.head", "mood")
    assert build_parts(study.config).tasks[0].kind.labels == ("bad", "good")


# Refused


@pytest.fixture
def refused(call, tmp_path):
    def said(study):
        status, out, err = call("train", study.path, "--out", tmp_path / "run")
        assert (status, out) == (2, "")
        assert len(err.strip().splitlines()) == 1
        assert not (tmp_path / "run").exists()
        return err

    return said


def test_a_source_without_the_targets_kind_of_label(tmp_path, tiny, refused):
    source = tagged(12, seed=4, layer="pos")
    said = refused(study_of(tmp_path / "study", tiny, source=source))
    assert "has no label of the other tasks" in said
    assert "`rename`" in said


def test_a_source_of_another_kind(alike, refused):
    alike.task("mood", "classification", source=True, train=reviews(8, seed=5))
    said = refused(alike.set("data.tasks.mood.head", "chunks"))
    assert "different kinds, tagging and classification" in said


def test_a_head_of_one_task(alike, refused):
    assert "which no other task does" in refused(alike.set("data.tasks.other.head", "chunk"))


def test_a_name_that_does_not_occur(alike, refused):
    said = refused(alike.set("data.tasks.other.rename", {"NPP": "NP"}))
    assert "no such type of span occurs" in said
    assert "did you mean" in said


def test_numbers_have_no_names(tmp_path, tiny, refused):
    study = TextStudy(tmp_path / "study", tiny, paradigm="single-task")
    study.task("goal", "regression", train=ratings(8, seed=0), dev=ratings(4, seed=1))
    assert "Numbers have no names" in refused(study.set("data.tasks.goal.rename", {"1": "2"}))


class Deep(Tagging):
    """A kind whose head is no linear layer."""

    def head(self, width):
        return nn.Sequential(nn.Linear(width, 4), nn.ReLU(), nn.Linear(4, len(self.labels)))


def test_other_heads_than_linear_ones_are_shared_whole_or_not_at_all(wider):
    tasks = build_parts(wider.config).tasks
    deep = [replace(task, kind=Deep(task.kind.labels)) for task in tasks]
    heads = {task.name: task.kind.head(8) for task in deep}
    with pytest.raises(ConfigError, match="only a linear layer"):
        shared_heads(deep, heads)
    same = [replace(task, kind=deep[0].kind) for task in deep]
    made = shared_heads(same, heads)
    assert made["goal"] is made["other"]
