"""Test examples that stand in what was trained on, and the scores without them."""

import numpy as np
import pytest

from tawt.best import best, load_best
from tawt.best.words import in_words
from tawt.runs import Options, RunFolder, run
from tests.text.encoders import write_tiny_bert
from tests.text.studies import TextStudy, reviews

TRAIN = [{**row, "text": f"{n}. {row['text']}"} for n, row in enumerate(reviews(24, seed=0))]
TEST = [{**row, "text": f"At last {n}. {row['text']}"} for n, row in enumerate(reviews(9, seed=4))]
SOURCE = [{**row, "text": f"Play {n}. {row['text']}"} for n, row in enumerate(reviews(20, seed=1))]
CPU = Options(device="cpu")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_tiny_bert(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.fixture
def study(tmp_path, encoder):
    def write(test):
        made = TextStudy(tmp_path / "study", encoder, paradigm="pre-training")
        made.task("mood", "classification", train=TRAIN, test=test)
        return made.task("plays", "classification", source=True, train=SOURCE)

    return write


def nearly(row):
    return {**row, "text": f"[[ {row['text'].upper()} ]]!"}


def test_scores_of_the_others_stand_beside_the_usual_ones(study, tmp_path):
    config = study([*TEST, nearly(TRAIN[3]), SOURCE[5]]).config
    record = run(config, tmp_path / "run", options=CPU)
    unseen = record["unseen"]["mood"]
    assert (unseen["seen"], unseen["of"]) == ([9, 10], 11)
    scores = np.array(RunFolder(tmp_path / "run").example_scores("mood"))
    assert unseen["scores"]["accuracy"] == pytest.approx(scores[:9].mean())
    assert any(line.startswith("2 of the 11 test examples") for line in record["warnings"])


def test_what_the_sources_have_is_no_matter_without_them(study, tmp_path):
    made = study([*TEST, SOURCE[5]])
    record = run(made.set("paradigm", "single-task").config, tmp_path / "run", options=CPU)
    assert "unseen" not in record


def test_where_all_are_known_there_is_no_score(study, tmp_path):
    record = run(study(TRAIN[:4]).config, tmp_path / "run", options=CPU)
    assert record["unseen"]["mood"] == {"seen": [0, 1, 2, 3], "of": 4, "scores": {}}


def test_marks_without_letters_are_themselves(study, tmp_path):
    odd = [{"text": ":)", "label": "good"}]
    record = run(study([*TEST, *odd]).config, tmp_path / "run", options=CPU)
    assert "unseen" not in record


def test_the_best_model_is_said_to_know_them(study, tmp_path, monkeypatch):
    monkeypatch.setattr("tawt.best.estimate._SECONDS", 0.02)
    config = study([*TEST, nearly(TRAIN[3])]).config
    found = best(config, tmp_path / "best", budget="2", options=CPU)
    assert load_best(tmp_path / "best") == found
    assert (found.unseen["best"].seen, found.unseen["best"].of) == (1, 10)
    scores = np.array(RunFolder(tmp_path / "best" / "best").example_scores("mood"))
    assert found.unseen["best"].score == pytest.approx(scores[:9].mean())
    [said] = [line for line in in_words(found, tmp_path / "best") if "nearly stand" in line]
    assert said.startswith("1 of the 10 test examples stand")
    assert said in (tmp_path / "best" / "report.html").read_text()


def test_where_too_few_are_new_for_a_score_there_is_none(study, tmp_path):
    is_new = {"text": "A play of which nobody has heard.", "label": TRAIN[0]["label"]}
    other = next(row for row in TRAIN if row["label"] != is_new["label"])
    made = study([nearly(other), is_new])
    made.set("data.tasks.mood.metric", "positive_f1").set(
        "data.tasks.mood.positive", other["label"]
    )
    record = run(made.config, tmp_path / "run", options=CPU)
    assert record["unseen"]["mood"] == {"seen": [0], "of": 2, "scores": {}}
