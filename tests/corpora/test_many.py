"""Two hundred corpora: what a terminal shows of them fits on a few screens."""

import json

import pytest

from tests.corpora.files import sentences
from tests.corpora.studies import CorpusStudy

MANY = 200


@pytest.fixture
def study(tmp_path):
    """The first source is the largest, the last one has most text of the target's test."""
    study = CorpusStudy(tmp_path / "study")
    study.values["data"]["corpora"].pop("near")
    study.values["data"]["corpora"].pop("far")
    held_out = sentences(15, seed=5)
    for number in range(MANY):
        texts = sentences(30 if number == 0 else 4, seed=100 + number)
        study.text(f"c{number:03}", train=[*texts, *(held_out if number == MANY - 1 else [])])
    return study.set("training.steps", 2).set("training.batch_size", 2)


def test_a_run_shows_the_largest_corpora_and_weights(study, call, tmp_path):
    status, out, err = call("train", study.path, "--out", tmp_path / "run")
    assert status == 0
    assert "\nand 189 more\n" in f"{err}\n"  # of them and the target
    assert "c000: " in err
    assert "goal: " in err
    assert "and 188 more" in out
    assert len([*out.splitlines(), *err.splitlines()]) < 60
    record = json.loads((tmp_path / "run/record.json").read_text())
    assert len(record["weights"]) == MANY
    assert "c137" in (tmp_path / "run/report.html").read_text()


def test_looking_into_them_shows_the_largest_and_what_they_share(study, call):
    status, out, _ = call("data", "inspect", study.path)
    assert status == 0
    assert "The largest are shown, and 189 more are not; --json has all of them." in out
    assert "First examples of c000" in out
    assert len(out.splitlines()) < 250
    # What matters most is shown, whatever the size of the corpus.
    of_test = out[out.index("trained on by") :]
    assert "c199" in of_test
    assert "100.0%" in of_test
    every = json.loads(call("data", "inspect", study.path, "--json")[1])
    assert len(every["tasks"]) == MANY + 1
