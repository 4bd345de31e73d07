"""Runs on text: the same from the middle as from the start, and what their folders say."""

import json

import numpy as np
import pytest
import torch

from tawt.errors import Interrupted, RunError
from tawt.runs import RunFolder
from tawt.runs.building import build_parts, fingerprints
from tawt.runs.predictions import as_tsv, example_scores
from tawt.runs.run import Options, run
from tawt.text.building import read_task
from tawt.text.reading import LabelledText, TaggedSentence
from tawt.text.tokens import TaggedSentences, WholeTexts
from tawt.training.result import Predictions
from tests.text.studies import (
    ODD,
    TextStudy,
    reviews,
    tagged,
    tagging_study,
    text_study,
    two_targets_study,
)

UNLIKE = {"began", "seconds"}  # what a clock says


def told(record):
    return {key: value for key, value in record.items() if key not in UNLIKE}


def contents(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("record.json", "report.html")  # times
    }


class After:
    """Says stop after so many steps, once."""

    def __init__(self, steps):
        self.left = steps

    def __call__(self):
        self.left -= 1
        return self.left == 0


# Going on


@pytest.mark.parametrize("paradigm", ["pre-training", "joint"])
def test_a_run_that_is_stopped_and_resumed_is_the_run_that_was_not(tiny, tmp_path, paradigm):
    study = tagging_study(tmp_path / "study", tiny, paradigm=paradigm, epochs=2)
    study.set("training.update_every", 3)
    whole = run(study.config, tmp_path / "whole")
    for stop in (1, 4, whole["steps"] - 1):
        path = tmp_path / f"stopped-{stop}"
        with pytest.raises(Interrupted, match="--resume"):
            run(study.config, path, should_stop=After(stop))
        assert not (path / "record.json").exists()
        assert not (path / "model").exists()
        resumed = run(study.config, path, options=Options(resume=True))
        assert told(resumed) == told(whole)
        assert contents(path) == contents(tmp_path / "whole")


def test_a_run_that_is_stopped_again_and_again(tiny, tmp_path):
    study = text_study(tmp_path / "study", tiny, "classification")
    whole = run(study.config, tmp_path / "whole")
    path, options = tmp_path / "often", Options()
    for _ in range(whole["steps"]):
        with pytest.raises(Interrupted):
            run(study.config, path, options=options, should_stop=After(1))
        options = Options(resume=True)
    assert told(run(study.config, path, options=options)) == told(whole)
    assert contents(path) == contents(tmp_path / "whole")


def test_a_model_that_cannot_be_written_is_one_line_and_can_be_resumed(tiny, tmp_path, monkeypatch):
    study = text_study(tmp_path / "study", tiny, "regression")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("tawt.text.saving.make_readable", full)
        with pytest.raises(RunError, match=r"No space left on device.*--resume"):
            run(study.config, tmp_path / "run")
    assert not (tmp_path / "run" / "record.json").exists()
    run(study.config, tmp_path / "run", options=Options(resume=True))
    assert (tmp_path / "run" / "model" / "model.safetensors").exists()
    assert not list((tmp_path / "run").glob(".model*"))


def test_other_data_are_not_gone_on_with(tiny, tmp_path):
    study = tagging_study(tmp_path / "study", tiny, paradigm="joint")
    with pytest.raises(Interrupted):
        run(study.config, tmp_path / "run", should_stop=After(2))
    study.task("pos", "tagging", source=True, train=tagged(20, seed=99, layer="pos"))
    with pytest.raises(RunError, match="The examples of task 'pos' are not those"):
        run(study.config, tmp_path / "run", options=Options(resume=True))


# Data


def test_limits_are_nested_and_leave_the_rest_alone(tiny, tmp_path):
    study = tagging_study(tmp_path / "study", tiny)
    found = {}
    for limit in (5, 12, 20):
        splits = read_task(study.set("data.tasks.chunks.limit", limit).config.data.tasks["chunks"])
        assert len(splits.train) == limit
        found[limit] = splits
    assert found[12].train[:5] == found[5].train
    assert found[20].train[:12] == found[12].train
    assert found[5].test == found[20].test
    other = read_task(study.config.data.tasks["chunks"], seed=1)
    assert other.train != found[20].train
    assert other.test == found[20].test


def test_what_was_noticed_while_reading_is_in_the_record(tiny, tmp_path, caplog):
    train = tagged(12, seed=1, register="web")
    strange = {"tokens": ["Odd", "ones"], "tags": ["I-NP", "B-NEW"]}
    study = TextStudy(tmp_path / "study", tiny, paradigm="single-task")
    study.task("chunks", "tagging", train=train, test=[train[0], strange])
    with caplog.at_level("WARNING", logger="tawt"):
        record = run(study.config, tmp_path / "run")
    notes = record["data"]["chunks"]["notes"]
    assert notes["duplicates"] == {"test": 1}
    assert notes["repaired"] == 1
    assert notes["unseen_labels"] == ["B-NEW"]
    again = run(study.config, tmp_path / "run", options=Options(resume=True))
    assert again["data"] == record["data"]
    for word in ("1 examples of test are in train too", "broke IOB2", "never right: B-NEW"):
        assert word in caplog.text


def test_a_sources_other_files_need_not_be_readable(tiny, tmp_path):
    study = tagging_study(tmp_path / "study", tiny)
    folder = tmp_path / "study" / "other"
    folder.mkdir()
    lines = "".join(json.dumps(each) + "\n" for each in tagged(6, seed=8, layer="pos"))
    (folder / "train.jsonl").write_text(lines)
    (folder / "test.jsonl").write_text("no JSON at all\n")
    study.set("data.tasks.pos", {"kind": "tagging", "folder": "other"})
    found = {task.name: task for task in build_parts(study.config)[0]}
    assert len(found["pos"].train) == 6
    assert found["pos"].test is None


def test_fingerprints_differ_where_data_do(tiny, tmp_path):
    study = tagging_study(tmp_path / "study", tiny)
    before = fingerprints(build_parts(study.config)[0])
    assert fingerprints(build_parts(study.config)[0]) == before
    changed = reviews(16, seed=5)
    changed[3]["label"] = {"good": "bad", "bad": "good"}[changed[3]["label"]]
    study.task("reviews", "classification", source=True, train=changed)
    after = fingerprints(build_parts(study.config)[0])
    assert after["reviews"]["train"]["sha256"] != before["reviews"]["train"]["sha256"]
    assert after["reviews"]["train"]["examples"] == 16
    assert {name: after[name] for name in ("pos", "chunks")} == {
        name: before[name] for name in ("pos", "chunks")
    }
    assert list(before["chunks"]) == ["train", "dev", "test", "notes"]
    assert list(before["pos"]) == ["train"]


def test_only_targets_have_their_held_out_examples_read(tiny, tmp_path):
    study = tagging_study(tmp_path / "study", tiny)
    (study.folder / "broken.jsonl").write_text("no JSON")
    study.set("data.tasks.pos.dev", "broken.jsonl").set("data.tasks.pos.test", "broken.jsonl")
    tasks = build_parts(study.config)[0]
    assert [(task.name, task.dev is None) for task in tasks] == [
        ("pos", True), ("reviews", True), ("chunks", False)
    ]  # fmt: skip


def test_the_model_is_a_matter_of_the_seed(tiny, tmp_path):
    study = tagging_study(tmp_path / "study", tiny)
    first, again = build_parts(study.config)[1], build_parts(study.config)[1]
    other = build_parts(study.set("seed", 1).config)[1]
    for name in ("chunks", "pos", "reviews"):
        assert torch.equal(first.heads[name].weight, again.heads[name].weight)
        assert not torch.equal(first.heads[name].weight, other.heads[name].weight)


# Predictions


class Sentences(TaggedSentences):
    def __init__(self, sentences):
        self.sentences = [
            TaggedSentence(tuple(words), ("O",) * len(words), 1) for words in sentences
        ]


class Texts(WholeTexts):
    def __init__(self, *texts):
        self.texts = [LabelledText(text, second, "x", 1) for text, second in texts]


def predictions(gold, predicted, scores):
    return Predictions(gold, predicted, {}, scores)


def test_predictions_of_words_by_hand():
    found = predictions([["A", "B"], ["A"]], [["A", "A"], ["A"]], [0.5, 1.0])
    table = as_tsv([("tags", Sentences([("x", '"y'), ("z",)]), found)])
    assert table.split("\n") == [
        "task\texample\tinput\tgold\tpredicted\tscore",
        "tags\t1\tx\tA\tA\t0.5",
        'tags\t1\t"y\tB\tA\t',
        "tags\t2\tz\tA\tA\t1.0",
        "",
    ]


def test_predictions_of_texts_by_hand():
    texts = Texts(("a\tb\r\nc\u2028d", None), ("  two  blanks ", "other\u00a0text"))
    table = as_tsv([("t", texts, predictions(["p", "q"], ["p", "p"], [1.0, 0.0]))])
    assert table.split("\n")[1:] == [
        "t\t1\ta b  c d\tp\tp\t1.0",
        "t\t2\t  two  blanks  ||| other\u00a0text\tq\tp\t0.0",
        "",
    ]


def test_scores_of_examples_come_back_as_they_were(tmp_path):
    scores = np.random.default_rng(0).random(len(ODD)).tolist()
    tags = [["O"] * len(words) for words in ODD]
    words = (" odd  name ", Sentences(ODD), predictions(tags, tags, scores))
    texts = Texts(("a", None), ('"b', "c\n"))
    numbers = ("t", texts, predictions([1.0, 2.5], [0.1, -1e-9], [-0.81, -6.25]))
    path = tmp_path / "predictions.test.tsv"
    path.write_text(as_tsv([words, numbers]), encoding="utf-8")
    assert example_scores(path, " odd  name ") == scores
    assert example_scores(path, "t") == [-0.81, -6.25]
    with pytest.raises(RunError, match="is empty"):
        example_scores(path, "nobody")


def test_a_run_of_two_targets_has_the_scores_of_both(tiny, tmp_path):
    study = two_targets_study(tmp_path / "study", tiny, paradigm="joint")
    record = run(study.config, tmp_path / "run")
    folder = RunFolder(tmp_path / "run")
    assert len(folder.example_scores("chunks")) == 10 + len(ODD)
    mood = folder.example_scores("mood")
    assert np.mean(mood) == pytest.approx(record["scores"]["mood"]["test"]["accuracy"])
    assert set(record["scores"]["chunks"]) == {"dev", "test"}
    assert set(record["scores"]["mood"]) == {"test"}
    assert json.loads((tmp_path / "run" / "data.json").read_text()) == record["data"]
