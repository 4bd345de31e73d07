"""A model in one call: what goes in, what comes out, and what is refused."""

import gc
import json

import pytest
from transformers import pipeline

from tawt.best import load_best
from tawt.errors import ConfigError, DataError, RunError
from tawt.fitting.one_call import CONFIG
from tawt.runs import RunFolder
from tawt.text import fit
from tests.text.encoders import write_tiny_bert
from tests.text.studies import reviews, tagged

QUICK = {"epochs": 1, "target_epochs": 2, "training.learning_rate": 0.003}
TARGET, TEST = reviews(24, seed=0), reviews(10, seed=4)
SOURCES = {"films": reviews(40, seed=1), "plays": reviews(30, seed=3)}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return write_tiny_bert(tmp_path_factory.mktemp("encoders") / "tiny")


@pytest.fixture
def quick(encoder):
    """A call that takes a second; arguments are added or replaced."""

    def call(**given):
        usual = {"target": TARGET, "sources": SOURCES, "encoder": encoder, "device": "cpu"}
        return fit(**{**usual, "settings": QUICK, **given})

    return call


def test_texts_with_labels_become_a_model(quick, tmp_path):
    found = quick(test=TEST)
    assert sum(found.weights.values()) == pytest.approx(1)
    assert set(found.weights) == set(found.findings) == {"films", "plays"}
    assert 0 <= found.scores["accuracy"] <= 1
    labels = found.predict(["The film was fine.", "", "The film was dull."])
    assert labels[1] is None
    assert {labels[0], labels[2]} <= {"good", "bad"}
    assert str(found).startswith("accuracy 0.")
    saved = found.save(tmp_path / "model")
    assert pipeline("text-classification", str(saved))("fine")[0]["label"] in {"good", "bad"}
    with pytest.raises(RunError, match="not empty"):
        found.save(saved)


def test_a_small_target_comes_after_the_sources_by_learned_weights(quick, tmp_path):
    quick(test=TEST, folder=tmp_path)
    config = RunFolder(tmp_path / "run").config()
    assert config.paradigm == "pre-training"
    assert config.weighting.kind == "target-aware"
    assert len(RunFolder(tmp_path / "run").updates()) > 1  # few steps, and weights all the same


def test_the_temporary_folder_goes_with_the_model(quick):
    found = quick()
    folder = found.run.parent
    assert folder.exists()
    del found
    gc.collect()
    assert not folder.exists()


def test_a_folder_stays_and_the_same_call_goes_on(quick, tmp_path):
    first = quick(test=TEST, folder=tmp_path)
    assert (tmp_path / CONFIG).exists()
    # Nothing is trained again, or it would have begun later.
    assert quick(test=TEST, folder=tmp_path).record == first.record


def test_without_test_all_examples_are_trained_on(quick):
    found = quick()
    assert found.scores == {}
    assert str(found).startswith("no test examples")
    assert found.record["data"]["target"]["train"]["examples"] == len(TARGET)
    assert found.warnings == []


def test_splits_may_be_given_by_name(quick):
    found = quick(target={"train": TARGET, "validation": reviews(8, seed=8), "test": TEST})
    assert set(found.record["scores"]["target"]) == {"dev", "test"}
    kept = quick(target={"train": TARGET, "validation": reviews(8, seed=8)})
    assert set(kept.record["scores"]["target"]) == {"dev"}


def test_words_with_tags(quick):
    found = quick(
        target=tagged(16, seed=1), sources={"pos": tagged(20, seed=4, layer="pos")},
        test=[(row["tokens"], row["tags"]) for row in tagged(6, seed=2)],
    )  # fmt: skip
    tags, none = found.predict([["The", "bank", "sleeps"], []])
    assert len(tags) == 3
    assert none == []
    with pytest.raises(DataError, match="lists of them; got 'The bank'"):
        found.predict(["The bank"])


def test_files_are_named_by_themselves_or_by_keys(quick, tmp_path):
    def written(name, rows):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    target = written("mood.jsonl", TARGET)
    films = written("films.jsonl", SOURCES["films"])
    found = quick(target=str(target), sources=[films], test=written("later.jsonl", TEST))
    assert found.target == "mood"
    assert set(found.weights) == {"films"}
    assert set(quick(target=target, sources={"cinema": films}).weights) == {"cinema"}


def test_with_a_budget_it_is_the_best_model(quick, tmp_path, monkeypatch):
    monkeypatch.setattr("tawt.best.estimate._SECONDS", 0.02)
    found = quick(test=TEST, budget="2", folder=tmp_path)
    assert found.found == load_best(tmp_path / "best")
    assert found.scores["accuracy"] == found.found.test["best"]
    assert set(found.findings) == {"films", "plays"}
    assert found.predict(["fine"])[0] in {"good", "bad"}


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"target": "absent.csv"}, DataError, "absent.csv: there is no such file"),
        ({"sources": [TARGET]}, ConfigError, "no files need names"),
        ({"sources": {"target": TARGET}}, ConfigError, "Two tasks are called 'target'"),
        ({"sources": {"a b": TARGET, "A-b": TARGET}}, ConfigError, "'a b', or nearly"),
        ({"target": {"train": TARGET, "test": TEST}, "test": TEST}, ConfigError, "given twice"),
        ({"target": [{"text": "a", "label": float("nan")}]}, DataError, "target: row 1 holds"),
        ({"target": (["a", "b"] * 9, ["x"] * 18)}, DataError, "nothing to learn"),
        ({"target": reviews(6, seed=0)}, DataError, "has 6 texts"),
        ({"settings": {"epoch": 2}}, ConfigError, "no field `epoch`; did you mean 'epochs'"),
        ({"budget": "soon"}, ConfigError, "a time .* or a number of candidates"),
        ({"encoder": "/absent/encoder"}, ConfigError, "/absent/encoder"),
    ],
)
def test_mistakes_are_said_in_a_line(quick, given, error, said):
    with pytest.raises(error, match=said) as caught:
        quick(**given)
    assert "\n" not in str(caught.value)
