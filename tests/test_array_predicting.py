"""What a run on arrays answers: the labels of its own table, for whatever holds the same rows."""

import io
import json

import numpy as np
import pytest

from tawt.runs.predicting import load_predictor
from tests.conftest import labelled, unsealed

INPUTS = labelled(2, 25)["inputs"]  # those of the target's test split


@pytest.fixture
def run_folder(study, tmp_path, call):
    status, _, err = call("train", study.path, "--out", tmp_path / "run", "--quiet")
    assert (status, err) == (0, "")
    return tmp_path / "run"


@pytest.fixture
def asked(tmp_path):
    path = tmp_path / "asked.npz"
    np.savez(path, inputs=INPUTS)
    return path


def in_table(run):
    lines = (run / "predictions.test.tsv").read_text().splitlines()[1:]
    return [line.split("\t")[2] for line in lines]


@pytest.mark.parametrize("batch_size", [1, 7, 100])
def test_labels_are_those_of_the_run(run_folder, asked, call, batch_size):
    status, out, err = call("predict", run_folder, asked, "--batch-size", batch_size)
    assert (status, err) == (0, "")
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows == [[str(n), label] for n, label in enumerate(in_table(run_folder), start=1)]


def test_probabilities_are_of_every_label(run_folder, asked, call):
    _, out, _ = call("predict", run_folder, asked, "--json", "--probabilities")
    records = [json.loads(line) for line in out.splitlines()]
    assert [each["label"] for each in records] == in_table(run_folder)
    for each in records:
        assert set(each["probabilities"]) == {"0", "1", "2"}
        assert sum(each["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert max(each["probabilities"], key=each["probabilities"].get) == each["label"]
    _, out, _ = call("predict", run_folder, asked, "--probabilities")
    first = out.splitlines()[0].split("\t")
    assert float(first[2]) == pytest.approx(records[0]["probabilities"][first[1]])


def test_a_plain_array_is_read_too(run_folder, tmp_path, call):
    np.save(tmp_path / "a.npy", INPUTS.astype(">f8"))  # of another byte order and width
    answers = tmp_path / "out.tsv"
    assert call("predict", run_folder, tmp_path / "a.npy", "--out", answers, "--quiet")[0] == 0
    lines = answers.read_text().splitlines()
    assert [line.split("\t")[1] for line in lines] == in_table(run_folder)


def test_what_cannot_be_sought_in_is_read_whole(run_folder):
    """As an .npz file in a pipe."""

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    content = io.BytesIO()
    np.savez(content, inputs=INPUTS)
    predictor = load_predictor(run_folder, device="cpu")
    asked = predictor.read(Pipe(content.getvalue()), path=run_folder, form=None, typed=False)
    assert [answer.label for answer in predictor.answers(asked)] == in_table(run_folder)


def test_numbers_are_answered_with_numbers(study, tmp_path, call):
    for split in ("train", "dev", "test"):
        found = labelled(3, 20)
        study.save(f"goal.{split}", inputs=found["inputs"], labels=found["inputs"][:, 0] * 2.0)
    study.set("data.tasks.goal.kind", "regression")
    status, _, err = call("train", study.path, "--out", tmp_path / "run", "--quiet")
    assert (status, err) == (0, "")
    asked = tmp_path / "asked.npz"
    np.savez(asked, inputs=labelled(3, 20)["inputs"])
    _, out, _ = call("predict", tmp_path / "run", asked)
    found = [float(line.split("\t")[1]) for line in out.splitlines()]
    assert found == pytest.approx([float(x) for x in in_table(tmp_path / "run")], rel=1e-5)
    status, _, err = call("predict", tmp_path / "run", asked, "--probabilities")
    assert status == 2
    assert "answers of a regression task have no probabilities" in " ".join(err.split())


@pytest.mark.parametrize(
    ("saved", "said"),
    [
        ({"inputs": INPUTS[:, :3]}, "reads inputs of shape (examples, 4); these have (25, 3)"),
        ({"inputs": INPUTS[0]}, "reads inputs of shape (examples, 4); these have (4,)"),
        ({"rows": INPUTS}, "it has no `inputs`, but rows"),
        ({"inputs": np.full((2, 4), np.nan)}, "contain NaN"),
        ({"inputs": np.array([["a"] * 4])}, "must be numbers"),
        ({"inputs": np.array([[None] * 4])}, "Python objects"),
    ],
)
def test_other_arrays_are_refused_in_one_line(run_folder, tmp_path, call, saved, said):
    np.savez(tmp_path / "bad.npz", **saved)
    status, out, err = call("predict", run_folder, tmp_path / "bad.npz")
    assert (status, out) == (2, "")
    assert said in " ".join(err.split())


def test_what_is_no_array_is_refused(run_folder, tmp_path, call):
    (tmp_path / "text.txt").write_text("One line.\n")
    status, _, err = call("predict", run_folder, tmp_path / "text.txt")
    assert status == 2
    assert "must be an .npz file with the array `inputs`, or an .npy file" in " ".join(err.split())
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00")
    status, _, err = call("predict", run_folder, tmp_path / "cut.npy")
    assert status == 2
    (tmp_path / "empty.npz").touch()
    status, _, err = call("predict", run_folder, tmp_path / "empty.npz")
    assert (status, "(it is empty)" in err) == (2, True)
    status, _, err = call("predict", run_folder, tmp_path / "text.txt", "--format", "conllu")
    assert "--format for a run on arrays is npz or npy; got conllu" in " ".join(err.split())


def test_a_damaged_model_is_refused(run_folder, asked, call):
    unsealed(run_folder)
    about = run_folder / "model" / "model.json"
    values = json.loads(about.read_text())
    for changed in (
        {**values, "format": "tawt arrays 9"},
        {**values, "input_shape": [5]},
        {**values, "heads": values["heads"][:1]},
        {**values, "representation": {"kind": "transformer"}},
        {key: value for key, value in values.items() if key != "heads"},
    ):
        about.write_text(json.dumps(changed))
        status, out, err = call("predict", run_folder, asked)
        assert (status, out) == (2, "")
        assert "model" in err
    about.write_text(json.dumps(values))
    (run_folder / "model" / "model.safetensors").write_bytes(b"no")
    assert call("predict", run_folder, asked)[0] == 2


def test_digits_are_answered_by_their_run(tmp_path, call):
    from tawt.demos.digits import digits_tasks

    config = tmp_path / "digits.yaml"
    config.write_text(
        "data: {kind: digits}\ntarget: digit\nparadigm: single-task\ntarget_epochs: 2\n"
        "model: {kind: cnn, widths: [8]}\n"
    )
    assert call("train", config, "--out", tmp_path / "run", "--quiet")[0] == 0
    np.save(tmp_path / "a.npy", digits_tasks(target_size=30)[0].test.inputs.numpy())
    _, out, _ = call("predict", tmp_path / "run", tmp_path / "a.npy")
    assert [line.split("\t")[1] for line in out.splitlines()] == in_table(tmp_path / "run")


def test_out_of_memory_names_the_option_that_helps(run_folder, asked, call, monkeypatch):
    def fail(*given, **named):
        raise MemoryError

    monkeypatch.setattr("tawt.cli.predicting.load_predictor", fail)
    status, out, err = call("predict", run_folder, asked, "--batch-size", "48")
    assert (status, out) == (2, "")
    assert err == "error: Out of memory. Lower --batch-size (48), or use --device cpu.\n"
