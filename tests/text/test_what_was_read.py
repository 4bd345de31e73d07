"""A study whose files hold other columns than were read: refused, warned of, and shown."""

import logging

import numpy as np
import pytest

from tawt.config import load
from tawt.errors import DataError
from tawt.runs.building import tasks
from tawt.runs.inspecting import inspect_config
from tawt.text.predicting import lines_of, read_unlabelled
from tests.text.reading.test_looking import DANISH
from tests.text.studies import TextStudy, reviews, tagging_study


@pytest.fixture
def danish(tmp_path, tiny):
    study = TextStudy(tmp_path / "study", tiny, paradigm="single-task", target="ner")
    for split in ("train", "test"):
        (study.folder / f"{split}.tsv").write_text(DANISH)
    study.set(
        "data", {"kind": "text", "tasks": {"ner": {"train": "train.tsv", "test": "test.tsv"}}}
    )
    return study


def refused(call, study, folder):
    status, out, err = call("train", study.path, "--out", folder)
    assert (status, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert not folder.exists()
    return err


def test_numbers_of_words_are_not_trained_on(danish, call, tmp_path):
    err = refused(call, danish, tmp_path / "run")
    assert "Task 'ner': " in err
    assert "`word_column: 1`" in err
    assert "`tag_column: 2`" in err


def test_a_target_with_one_label_has_nothing_to_learn(danish, call, tmp_path):
    danish.set("data.tasks.ner.word_column", 1)
    err = refused(call, danish, tmp_path / "run")
    assert "has the label 's' and no other, so there is nothing to learn" in err
    assert "`tag_column: 2` (with 'O', 'B-LOC', 'B-PER')" in err


def test_columns_that_are_suggested_are_cut_as_the_file_is_read(danish, call, tmp_path):
    for split in ("train", "test"):
        text = "New York\tnoun\tO\nis\tnoun\tB-LOC\n"
        (danish.folder / f"{split}.tsv").write_text(text)
    danish.set("data.tasks.ner.tag_column", 1)
    err = refused(call, danish, tmp_path / "run")
    assert "has the label 'noun' and no other" in err
    assert "`tag_column: 2` (with 'O', 'B-LOC')" in err


def test_with_the_right_columns_it_trains_and_shows_what_it_read(danish, call, tmp_path):
    danish.set("data.tasks.ner.word_column", 1).set("data.tasks.ner.tag_column", 2)
    status, _, err = call("train", danish.path, "--out", tmp_path / "run")
    assert status == 0
    assert "ner: På/O Fyn/B-LOC ./O\nner: Anna/B-PER og/O Bo/B-PER kom/O\n" in err
    for option in ("--quiet", "--json"):
        _, _, err = call("train", danish.path, "--out", tmp_path / option, option)
        assert "På" not in err


def test_a_terminal_obeys_nothing_that_was_read(danish, call, tmp_path):
    danish.set("data.tasks.ner.word_column", 1).set("data.tasks.ner.tag_column", 2)
    (danish.folder / "train.tsv").write_text(DANISH.replace("Fyn", "\x1b[31mFyn\x9b"))
    train = ["train", danish.path, "--out", tmp_path / "run"]
    for arguments in (train, ["data", "inspect", danish.path]):
        _, out, err = call(*arguments)
        assert "\\u001b[31mFyn\\u009b/B-LOC" in out + err
        assert "\x1b[31m" not in out + err


def test_other_formats_name_what_to_give(tmp_path, tiny):
    study = TextStudy(tmp_path / "study", tiny, paradigm="single-task")
    same = [{**each, "label": "x"} for each in reviews(8, seed=0)]
    study.task("goal", "classification", train=same, test=reviews(4, seed=1))
    with pytest.raises(DataError, match=r"`fields: {label: NAME}`"):
        tasks(study.config)


def test_a_source_with_one_label_is_warned_of(tmp_path, tiny, caplog):
    study = tagging_study(tmp_path / "study", tiny)
    same = [{**each, "label": "x"} for each in reviews(8, seed=0)]
    study.task("reviews", "classification", source=True, train=same)
    with caplog.at_level(logging.WARNING):
        tasks(study.config)
    assert (
        "task 'reviews': every label of train is 'x', so there is nothing to learn" in caplog.text
    )
    assert any(
        "every label of train is 'x'" in each for each in inspect_config(study.config).warnings
    )


def test_arrays_with_one_label(study, caplog):
    labels = {"inputs": np.eye(4), "labels": np.ones(4, int)}
    study.save("near.train", **labels)
    with caplog.at_level(logging.WARNING):
        tasks(load(study.path))
    assert "task 'near': every label of train is 1" in caplog.text
    study.save("goal.train", **labels)
    with pytest.raises(DataError, match=r"Task 'goal': .* nothing to learn"):
        tasks(load(study.path))
    warnings = inspect_config(load(study.path)).warnings
    assert any("'goal': every label of train is 1" in each for each in warnings)


def test_nothing_is_warned_of_before_an_error(tmp_path, tiny, call):
    """One line says what is wrong, whatever else is doubtful."""
    study = tagging_study(tmp_path / "study", tiny)
    study.set("data.tasks.pos.limit", 21)
    (study.folder / "chunks.dev.jsonl").write_text('{"tokens": ["a"], "tags": ["I-X"]}\n')
    study.set("sources", ["reviews", "pos"])
    same = [{**each, "label": "x"} for each in reviews(8, seed=0)]
    study.task("reviews", "classification", source=True, train=same)
    assert "20 is the largest possible" in refused(call, study, tmp_path / "run")


def test_numbers_of_words_are_not_answered(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(DANISH)
    with path.open("rb") as file, pytest.raises(DataError, match="give --format conllu"):
        list(read_unlabelled(lines_of(file, path=path), path=path, kind="tagging"))
    with path.open("rb") as file:
        lines = lines_of(file, path=path)
        first = next(read_unlabelled(lines, path=path, kind="tagging", form="conllu"))
    assert first.words == ("På", "Fyn", ".")
