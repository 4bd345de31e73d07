"""The command line: what it prints, what it leaves, and one line for every mistake."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tawt
from tawt.compare.comparison import CONFIG
from tawt.runs import RunFolder

COMMANDS = ["demo", "init", "best", "train", "compare", "mix", "report"]
ON_CPU = "Training on cpu (1 thread).\n"
"""What is said when a run begins; tests have one thread."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Whatever is written by default goes here; lines are as wide as they like."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def process(*arguments, **environment):
    return subprocess.run(
        [*map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


# Itself


def test_the_version(call):
    assert call("--version") == (0, f"tawt {tawt.__version__}\n", "")


def test_as_a_module_and_as_a_script():
    module = process(sys.executable, "-m", "tawt", "--version")
    assert (module.returncode, module.stdout) == (0, f"tawt {tawt.__version__}\n")
    script = process(Path(sys.executable).with_name("tawt"), "--version")
    assert (script.returncode, script.stdout) == (0, f"tawt {tawt.__version__}\n")


def test_help_names_every_command(call):
    status, out, _ = call("--help")
    assert status == 0
    for command in COMMANDS:
        assert command in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(call, command):
    status, out, err = call(command, "--help")
    assert (status, err) == (0, "")
    assert "Usage" in out
    assert "--out" in out
    if command != "report":
        assert "--quiet" in out
        assert "--json" in out


def test_without_a_command_it_shows_help(call):
    status, out, err = call()
    assert status in (0, 2)
    assert "Usage" in out + err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_produced(shell):
    script = Path(sys.executable).with_name("tawt")
    done = process(script, _TAWT_COMPLETE=f"source_{shell}")
    assert done.returncode == 0
    assert "_TAWT_COMPLETE" in done.stdout
    assert "tawt" in done.stdout


def test_completion_completes():
    script = Path(sys.executable).with_name("tawt")
    done = process(script, _TAWT_COMPLETE="complete_bash", COMP_WORDS="tawt tr", COMP_CWORD="1")
    assert done.stdout.split() == ["train"]
    words = {"COMP_WORDS": "tawt train --over", "COMP_CWORD": "2"}
    done = process(script, _TAWT_COMPLETE="complete_bash", **words)
    assert set(done.stdout.split()) == {"--override", "--overwrite"}


# Train


def test_training_leaves_a_folder_and_says_where(call, study):
    status, out, err = call("train", study.path)
    assert (status, err) == (0, ON_CPU)
    folder = Path("runs", "tiny")
    assert RunFolder(folder).finished
    assert (folder / "report.html").exists()
    record = RunFolder(folder).record()
    for name, share in record["weights"].items():
        assert name in out
        assert f"{share:.4f}" in out
    assert f"accuracy {record['scores']['goal']['test']['accuracy']:.4f}" in out
    assert "runs/tiny/report.html" in out.replace("\n", "")


def test_json_is_the_record(call, study):
    status, out, err = call("train", study.path, "--out", "run", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out) == RunFolder(Path("run")).record()


def test_quiet_is_silent(call, study):
    assert call("train", study.path, "--out", "run", "--quiet") == (0, "", "")
    assert RunFolder(Path("run")).finished


def test_overrides_are_values_of_yaml(call, study):
    status, out, _ = call(
        "train", study.path, "-o", "seed=3", "-o", "model.widths=[6, 5]", "--override",
        "training.clip_norm=null", "-o", "name=other", "--json",
    )  # fmt: skip
    assert status == 0
    assert json.loads(out)["seed"] == 3
    config = RunFolder(Path("runs", "other")).config()
    assert config.model.widths == [6, 5]
    assert config.training.clip_norm is None


def test_a_run_is_repeated_only_when_asked(call, study):
    assert call("train", study.path, "--out", "run", "--quiet")[0] == 0
    status, out, err = call("train", study.path, "--out", "run")
    assert (status, out) == (2, "")
    assert err.startswith("error:")
    assert "--overwrite" in err
    assert call("train", study.path, "--out", "run", "--quiet", "--resume")[0] == 0
    assert call("train", study.path, "--out", "run", "--quiet", "--overwrite")[0] == 0


@pytest.mark.parametrize(
    "paradigm", ["single-task", "pre-training", "joint", "joint then fine-tuning"]
)
@pytest.mark.parametrize("preset", ["paper", "robust"])
def test_every_paradigm_runs_with_every_preset(call, study, paradigm, preset):
    overrides = ["-o", f"paradigm={paradigm}", "-o", f"weighting.preset={preset}"]
    status, out, err = call("train", study.path, *overrides, "--json")
    assert (status, err) == (0, "")
    assert 0 <= json.loads(out)["scores"]["goal"]["test"]["accuracy"] <= 1


def test_digits_run_with_a_cnn(call, tmp_path):
    path = tmp_path / "digits.yaml"
    path.write_text(
        "data: {kind: digits, target_size: 10}\ntarget: digit\nsources: [parity, noise]\n"
        "model: {kind: cnn, widths: [4]}\nepochs: 1\ntraining: {batch_size: 256}\n"
    )
    status, out, err = call("train", path, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["weights"].keys() == {"parity", "noise", "digit"}


def test_tensorboard_gets_event_files(call, study):
    status, _, err = call(
        "train", study.path, "--out", "run", "--log-with", "tensorboard", "--quiet"
    )
    assert (status, err) == (0, "")
    (events,) = Path("run").rglob("events.out.tfevents.*")
    content = events.read_bytes()
    assert b"weight/near" in content
    assert b"dev/score" in content


def test_no_tracker_is_used_unless_asked(call, study):
    call("train", study.path, "--out", "run", "--quiet")
    assert not list(Path("run").rglob("events.out.tfevents.*"))


# Compare and report

ROWS = ["--row", "single-task", "--row", "normalized joint", "--row", "weighted normalized joint"]


@pytest.mark.usefixtures("in_process")
def test_comparing_prints_a_table_and_leaves_a_page(call, study):
    status, out, err = call("compare", study.path, *ROWS, "--seeds", 2, "--jobs", 2)
    assert (status, err) == (0, "Training on cpu (1 thread), 2 runs at a time.\n")
    for word in {word for row in ROWS[1::2] for word in row.split()}:  # cells may be folded
        assert word in out
    assert "2 of 2" in out or "1 of 2" in out or "0 of 2" in out
    assert "The learned weights" in out.replace("\n", " ") or "No source" in out
    folder = Path("runs", "tiny")
    assert {"report.html", "comparison.json", "comparison.md", CONFIG} <= {
        path.name for path in folder.iterdir()
    }


@pytest.mark.usefixtures("in_process")
def test_comparing_in_json_and_quietly(call, study):
    status, out, err = call("compare", study.path, *ROWS, "--seeds", 1, "--json")
    assert (status, err) == (0, "")
    assert [row["name"] for row in json.loads(out)["rows"]] == ROWS[1::2]
    assert call("compare", study.path, *ROWS, "--seeds", 1, "--quiet") == (0, "", "")
    again = call("compare", study.path, *ROWS, "--seeds", 1)
    assert again[::2] == (0, "")  # nothing is trained, so no device is named


@pytest.mark.usefixtures("in_process")
def test_comparing_three_rows_by_default_and_naming_the_best_first(call, study):
    status, out, _ = call("compare", study.path, "--seeds", 1, "-o", "epochs=1")
    assert status == 0
    assert " the best accuracy, " in out.splitlines()[0]
    table = json.loads(Path("runs", "tiny", "comparison.json").read_text())
    names = [row["name"] for row in table["rows"]]
    assert names == ["single-task", "balanced joint", "weighted normalized joint"]
    assert out.startswith(table["best"]["name"].capitalize())


@pytest.mark.usefixtures("in_process")
def test_comparing_every_row(call, study):
    few = ("-o", "epochs=1", "-o", "target_epochs=1", "-o", "paradigm=pre-training")
    status, out, _ = call("compare", study.path, "--all", "--seeds", 1, *few, "--json")
    assert status == 0
    names = {row["name"] for row in json.loads(out)["rows"]}
    assert {"joint", "weighted pre-training", "learned pre-training", "equal pre-training"} <= names


def test_all_rows_and_some_cannot_both_be_wanted(call, study, listing):
    mistake(call, listing, "compare", study.path, "--all", *ROWS[:2], words=["--all", "--row"])


def test_comparing_with_real_workers(call, study):
    status, out, err = call("compare", study.path, *ROWS[:4], "--seeds", 1, "--jobs", 2, "--json")
    assert (status, err) == (0, "")
    assert len(json.loads(out)["rows"]) == 2


def test_the_report_of_a_run_is_built_again(call, study):
    call("train", study.path, "--out", "run", "--quiet")
    page = Path("run", "report.html")
    before = page.read_text()
    page.unlink()
    status, _, err = call("report", "run")
    assert (status, err) == (0, "")
    assert page.read_text() == before
    assert call("report", "run", "--out", "elsewhere.html")[0] == 0
    assert Path("elsewhere.html").read_text() == before


def test_the_report_of_several_runs_shows_each(call, study):
    for seed in (11, 22):
        out = f"run{seed}"
        call("train", study.path, "--out", out, "-o", f"seed={seed}", "--quiet")
    assert call("report", "run11", "run22")[0] == 0
    page = Path("report.html").read_text()
    assert "&#34;seed&#34;: 11" in page or '"seed": 11' in page
    assert "&#34;seed&#34;: 22" in page or '"seed": 22' in page


@pytest.mark.usefixtures("in_process")
def test_the_report_of_a_comparison_is_built_again(call, study):
    call("compare", study.path, *ROWS, "--seeds", 1, "--quiet", "--out", "compared")
    page = Path("compared", "report.html")
    before = page.read_text()
    page.unlink()
    assert call("report", "compared")[0] == 0
    assert page.read_text() == before
    status, _, err = call("report", "compared", "compared/single-task/0")
    assert status == 2
    assert err.startswith("error:")


# One line for every mistake


def mistake(call, listing, *arguments, words=(), folder="."):
    """Exit 2, one line, nothing on standard output, nothing written."""
    before = listing(folder)
    status, out, err = call(*arguments)
    assert status == 2, err
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith("error: ")
    assert listing(folder) == before
    for word in words:
        assert word in err, err
    return err


MISTAKES = {
    "negative weight": ("weighting.initial", {"near": -0.5, "far": 1.0, "goal": 0.5}, ["near"]),
    "weight that is NaN": (
        "weighting.initial",
        {"near": float("nan"), "far": 0.5, "goal": 0.5},
        ["near", "nan"],
    ),
    "weights not summing to one": (
        "weighting.initial",
        {"near": 0.5, "far": 0.5, "goal": 0.5},
        ["sum to 1", "1.5"],
    ),
    "weight of an unknown task": (
        "weighting.initial",
        {"naer": 0.5, "far": 0.25, "goal": 0.25},
        ["naer", "near"],
    ),
    "weights that leave a task out": ("weighting.initial", {"near": 0.5, "goal": 0.5}, ["far"]),
    "weights by a wrong name": ("weighting.initial", "unifrom", ["weighting.initial"]),
    "share out of range": ("weighting.target_share", 1.5, ["target_share"]),
    "share that is NaN": ("weighting.target_share", float("nan"), ["target_share"]),
    "targets not summing to one": ("target", {"goal": 0.6}, ["0.6"]),
    "target also a source": ("sources", ["near", "goal"], ["goal", "source"]),
    "unknown source": ("sources", ["naer"], ["naer", "near"]),
    "unknown target": ("target", "gaol", ["gaol", "goal"]),
    "source twice": ("sources", ["near", "near"], ["near"]),
    "no source": ("sources", [], ["source"]),
    "misspelt field": ("training.batchsize", 4, ["batchsize", "batch_size", "study.yaml:"]),
    "unknown field": ("trainig", {}, ["trainig", "training", "study.yaml:"]),
    "wrong type": ("epochs", "many", ["epochs", "study.yaml:"]),
    "out of bounds": ("training.batch_size", 0, ["batch_size"]),
    "folder for a name": ("name", "a/b", ["name"]),
    "parent for a name": ("name", "..", ["name"]),
    "missing data": ("data.tasks.near.train", "none.npz", ["near", "none.npz", "no such file"]),
    "cnn for plain features": ("model.kind", "cnn", ["image"]),
    "labels short": ("data.tasks.near.labels", ["a", "b"], ["near", "2"]),
    "nothing held out": (
        "data.tasks.goal",
        {"train": "goal.train.npz"},
        ["goal", "dev", "test"],
    ),
    "single task, split": ("split_target", True, ["split_target"]),
}


@pytest.mark.parametrize("weighting", ["fixed", "target-aware"])
@pytest.mark.parametrize("case", list(MISTAKES))
def test_a_mistake_in_the_configuration(call, study, listing, case, weighting):
    name, value, words = MISTAKES[case]
    study.set("weighting.kind", weighting).set("weighting.preset", "paper").set(name, value)
    if case == "single task, split":
        study.set("paradigm", "single-task")
    mistake(call, listing, "train", study.path, words=words)
    assert not Path("runs").exists()


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    "case",
    [
        case
        for case, (name, *_) in MISTAKES.items()
        if name not in ("weighting.initial", "target", "split_target")  # rows have their own
    ],
)
def test_a_mistake_in_the_configuration_of_a_comparison(call, study, listing, case):
    name, value, words = MISTAKES[case]
    study.set(name, value)
    mistake(call, listing, "compare", study.path, "--seeds", 1, words=words[:1])


X = np.zeros((6, 4))
Y = np.zeros(6, int)
ARRAYS = {
    "empty": ({"inputs": X[:0], "labels": Y[:0]}, ["near", "train"]),
    "label out of range": ({"inputs": X, "labels": Y - 1}, ["near", "-1"]),
    "labels that are no integers": ({"inputs": X, "labels": Y + 0.5}, ["near", "integers"]),
    "labels too few": ({"inputs": X, "labels": Y[:4]}, ["near", "(6, 4)", "(4,)"]),
    "another shape": ({"inputs": X[:, :3], "labels": Y}, ["near", "(3,)", "(4,)"]),
    "flat": ({"inputs": X[:, 0], "labels": Y}, ["near"]),
    "NaN": ({"inputs": X * np.nan, "labels": Y}, ["near", "NaN"]),
    "words": ({"inputs": X, "labels": np.array(["a"] * 6)}, ["near"]),
    "pickled": ({"inputs": np.array([{}] * 6, dtype=object), "labels": Y}, ["near"]),
    "other names": ({"x": X, "y": Y}, ["near", "inputs"]),
}


@pytest.mark.parametrize("case", list(ARRAYS))
def test_a_mistake_in_the_arrays(call, study, listing, case):
    arrays, words = ARRAYS[case]
    study.save("near.train", **arrays)
    mistake(call, listing, "train", study.path, words=words)


@pytest.mark.parametrize("content", ["", "text", "half", "npy", "zip", "folder"])
def test_a_file_that_is_no_npz(call, study, listing, content):
    path = study.folder / "near.train.npz"
    whole = path.read_bytes()
    path.unlink()
    if content == "folder":
        path.mkdir()
    elif content == "npy":
        with path.open("wb") as file:
            np.save(file, X)
    else:
        path.write_bytes(
            {"": b"", "text": b"hello", "half": whole[: len(whole) // 2], "zip": b"PK\x03\x04"}[
                content
            ]
        )
    mistake(call, listing, "train", study.path, words=["near"])


def test_a_file_with_damaged_contents(call, study, listing):
    path = study.folder / "near.train.npz"
    np.savez_compressed(path, inputs=np.random.default_rng(0).normal(size=(50, 4)), labels=Y)
    content = bytearray(path.read_bytes())
    content[200:400] = b"\xff" * 200
    path.write_bytes(content)
    mistake(call, listing, "train", study.path, words=["near"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["train", "none.yaml"], ["none.yaml", "no such file"]),
        (["train", "."], ["folder"]),
        (["compare", "none.yaml"], ["none.yaml"]),
        (["report", "none"], ["none", "not a run folder"]),
    ],
)
def test_a_file_that_is_not_there(call, listing, arguments, words):
    mistake(call, listing, *arguments, words=words)


@pytest.mark.parametrize("override", ["epochs", "=3", "epochs=[1", "training.x.y=1", "nmae=x"])
def test_a_mistake_in_an_override(call, study, listing, override):
    mistake(call, listing, "train", study.path, "-o", override)


@pytest.mark.parametrize("row", ["jiont", ""])
def test_an_unknown_row(call, study, listing, row):
    mistake(call, listing, "compare", study.path, "--row", row, words=["row"])


def test_an_unknown_tracker(call, study, listing):
    mistake(call, listing, "train", study.path, "--log-with", "tensorbored", words=["tensorbored"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("record.json", b'{"scores": {'),
        ("record.json", b"{}"),
        ("record.json", b'{"scores": {}}'),
        ("config.yaml", b"name: [half"),
        ("weights.jsonl", b'{"step": 1, "wei'),
        ("weights.jsonl", b"3\n"),
        ("record.json", None),
        ("config.yaml", None),
        ("weights.jsonl", None),
    ],
)
def test_a_half_written_run_folder(call, study, listing, name, content):
    call("train", study.path, "--out", "run", "--quiet")
    path = Path("run", name)
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content)
    mistake(call, listing, "report", "run", words=["run"])


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("comparison.json", "{half"),
        ("comparison.json", "{}"),
        (CONFIG, None),
        ("weighted-normalized-joint/0/weights.jsonl", None),
        ("weighted-normalized-joint/0/record.json", None),
    ],
)
def test_a_half_written_comparison(call, study, listing, name, content):
    call("compare", study.path, *ROWS, "--seeds", 1, "--quiet", "--out", "compared")
    path = Path("compared", name)
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    mistake(call, listing, "report", "compared", words=["compared"])


def test_a_damaged_checkpoint(call, study, listing):
    call("train", study.path, "--out", "run", "--quiet")
    Path("run", "record.json").unlink()
    state = Path("run", "checkpoints", "state.safetensors")
    state.parent.mkdir()
    state.write_bytes(b"half")
    mistake(call, listing, "train", study.path, "--out", "run", "--resume", "--quiet",
            words=["state.safetensors"])  # fmt: skip


def test_a_folder_of_other_things(call, study, listing):
    Path("photos").mkdir()
    Path("photos", "dear.txt").write_text("mine")
    mistake(call, listing, "train", study.path, "--out", "photos", words=["photos"])
    mistake(call, listing, "train", study.path, "--out", "photos", "--overwrite", words=["photos"])


FULL_DISK = """
import resource, sys
from tawt.cli.app import main
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
sys.argv = ["tawt", *sys.argv[1:]]
main()
"""


def test_a_full_disk(study):
    """The configuration still fits; the checkpoint does not."""
    done = process(
        sys.executable, "-c", FULL_DISK, "train", study.path, "--out", "run", "--quiet",
        "--checkpoint-seconds", "0",
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: Could not write")
    names = {path.name for path in Path("run").rglob("*") if path.is_file()}
    assert names == {".lock", "config.yaml", "data.json"}
    again = process(sys.executable, "-m", "tawt", "train", study.path, "--out", "run", "--resume")
    assert again.returncode == 0
    assert RunFolder(Path("run")).finished


def test_names_that_look_like_markup_are_shown_as_they_are(call, study):
    study.rename("near", "[red]near[/red]")
    status, out, err = call("train", study.path)
    assert (status, err) == (0, ON_CPU)
    assert "[red]near[/red]" in out
