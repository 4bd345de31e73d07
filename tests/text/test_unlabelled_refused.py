"""Mistakes in a study with unlabelled text: one line that says what and where, nothing written."""

import sys

import pytest
from transformers import AutoModel, AutoTokenizer

from tawt.runs.building import build_parts
from tests.text.encoders import write_encoder
from tests.text.studies import tagged, unlabelled_study


@pytest.fixture
def study(tmp_path, tiny):
    return unlabelled_study(tmp_path / "study", tiny)


@pytest.fixture
def refused(call, tmp_path):
    """What `tawt train` says of a study that it must not run."""

    def said(study):
        status, out, err = call("train", study.path, "--out", tmp_path / "run")
        assert (status, out) == (2, "")
        assert "Traceback" not in err
        assert not (tmp_path / "run").exists()
        return err.strip().splitlines()[-1]

    return said


def line_of(study, text):
    lines = study.path.read_text().splitlines()
    return 1 + next(place for place, line in enumerate(lines) if text in line)


def test_a_target_without_labels_is_refused(refused, study):
    message = refused(study.set("target", "papers"))
    assert f"{study.path}:{line_of(study, 'target: papers')}: " in message
    assert "'papers' is unlabelled text" in message
    assert "`data.kind: corpora`" in message


BAD = {
    "a field of labelled tasks": ("dev", "odd.txt", "there is no field `data.tasks.odd.dev`"),
    "a misspelt field": ("documentz", "line", "did you mean 'documents'?"),
    "a share of everything": ("masked_share", 1.0, "less than 1"),
    "a unit": ("documents", "word", "'line', 'blank line' or 'file'"),
    "another field to read": ("fields", {"label": "x"}, "'text' or 'group'"),
    "an encoding": ("encoding", "utf-99", "utf-99"),
    "no files": ("train", [], "names no files"),
    "a file that is not there": ("train", "none.txt", "Task 'odd': "),
    "a table": ("train", "odd.csv", "corpora are not read from .csv"),
    "a group of plain text": ("fields", {"group": "site"}, "plain text has none"),
}


@pytest.mark.parametrize(("field", "value", "words"), BAD.values(), ids=BAD)
def test_mistakes_are_one_line_that_says_where(refused, study, field, value, words):
    (study.folder / "odd.csv").write_text("a,b\n")
    message = refused(study.set(f"data.tasks.odd.{field}", value))
    assert words in message
    assert message.startswith(f"error: {study.path}:") or "Task 'odd': " in message


def test_a_misspelt_kind_is_told_the_right_one(refused, study):
    study.set("data.tasks.odd", {"kind": "unlabeled", "train": "odd.txt"})
    assert "did you mean 'unlabelled'?" in refused(study)


def test_text_that_cannot_be_decoded_is_named_by_its_place(refused, study):
    (study.folder / "odd.txt").write_bytes(b"one\ntw\xff\n")
    message = refused(study)
    assert "Task 'odd': " in message
    assert "odd.txt" in message
    study.set("data.tasks.odd.invalid", "replace")
    tasks, *_ = build_parts(study.config)
    assert next(task.train for task in tasks if task.name == "odd").notes["replaced"] == 1


def test_an_architecture_that_cannot_is_refused(refused, tmp_path):
    encoder = write_encoder("t5", tmp_path / "t5")
    study = unlabelled_study(tmp_path / "study", encoder)
    study.set("target", "pos").task("pos", "tagging", train=tagged(8, seed=1),
                                    test=tagged(8, seed=2))  # fmt: skip
    study.set("sources", ["papers"])
    assert "has no masked language model" in refused(study)


def test_a_missing_extra_is_named_in_one_line(refused, study, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("tawt.corpora")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    message = refused(study)
    assert "Task 'papers': Unlabelled text cannot be read: " in message
    assert "pip install 'tawt[corpora]'" in message


def test_a_tokenizer_without_a_mask_is_refused(refused, study, tmp_path, tiny):
    tokenizer = AutoTokenizer.from_pretrained(tiny)
    tokenizer.mask_token = None
    tokenizer.save_pretrained(tmp_path / "maskless")
    AutoModel.from_pretrained(tiny).save_pretrained(tmp_path / "maskless")
    assert "has no mask token" in refused(study.set("model.encoder", str(tmp_path / "maskless")))
