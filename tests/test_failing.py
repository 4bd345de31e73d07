"""Commands that fail: one line, the right exit status, and a bug that stays to be seen."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.harness import broken_rule, run_cli

TAWT = f"{sys.executable} -m tawt"


def shell(command, cwd):
    """What a shell makes of it, with `tawt` this one."""
    return subprocess.run(
        ["bash", "-c", re.sub(r"(^|; )tawt ", rf"\1{TAWT} ", command)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
    )


def one_line(done):
    """The line on standard error."""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


# Streams


def test_a_closed_standard_output_is_refused_before_anything_is_done(study):
    done = shell(f"tawt train {study.path} --out run >&-", study.folder)
    assert done.returncode == 2
    assert "Standard output is closed" in one_line(done)
    assert not (study.folder / "run").exists()


def test_a_closed_standard_input_matters_to_those_who_read_it(tmp_path):
    done = shell("tawt predict run - <&-", tmp_path)
    assert done.returncode == 2
    assert "closed" in one_line(done)
    done = shell("tawt --version <&-", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_standard_error_costs_the_message_alone(tmp_path):
    done = shell("tawt --nothing 2>&-", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_files_opened_later_do_not_become_closed_streams(tmp_path):
    program = (
        "import os, sys; from tawt.cli.streams import occupy_closed; os.close(0); "
        "occupy_closed(); print(open(os.devnull).fileno() > 2)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    done = shell("tawt --help | true; echo ${PIPESTATUS[0]}", tmp_path)
    assert done.stdout.strip() in ("0", "1")  # 0 if all was written before the reader went
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_no_success(tmp_path):
    done = shell("tawt --help > /dev/full", tmp_path)
    assert done.returncode == 2
    assert "No space left" in one_line(done)


# Memory


def test_too_little_address_space_for_the_libraries_is_said_in_one_line(study):
    # In kB: less than torch's largest file, so that it is always what finds no room.
    done = shell(f"ulimit -v 300000; tawt train {study.path} --out run", study.folder)
    assert done.returncode == 2
    assert "Out of memory while loading" in one_line(done)
    assert not (study.folder / "run").exists()


def test_help_does_not_wait_for_torch():
    program = "import sys, tawt.cli; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"


# Mistakes on the command line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "sources[0]=coins"], "no field `sources[0]`; did you mean 'sources'?"),
        (["-o", "name=2024-13-45"], "'2024-13-45' looks like a date and is not a valid one"),
        (["-o", "seed=" + "9" * 5000], "too large a number"),
        (["-o", "seed=" + "[" * 5000], "levels deep"),
        (["-o", "x." * 5000 + "=1"], "no field so deep"),
        (["-o", "epochs={a: 1, a: 2}"], "`a` is given twice"),
        (["-o", "model.widths=[9223372036854775807]"], "`model.widths.0`"),
        (["-o", "model.widths=[1000000, 1000000]"], "`model.widths`"),
        (["-o", "training.workers=100000"], "`workers` must be at most"),
        (["-o", "fine_tune_learning_rate=.inf"], "`fine_tune_learning_rate`"),
        (["-o", "data.tasks.goal.train=~nosuchuser/x"], "no user 'nosuchuser'"),
        (["-o", 'data.tasks.goal.train="a\\0b"'], "a NUL"),
        (["-o", "data.tasks.goal.train=circle/x"], "symbolic links"),
        (["--checkpoint-seconds", "nan"], "--checkpoint-seconds"),
        (["--checkpoint-seconds", "inf"], "--checkpoint-seconds"),
        (["--out", "a\0b"], "is not valid text"),
        (["--out", "caf\udce9"], "is not valid text"),
        (["--nothing"], "No such option"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    study, listing, monkeypatch, arguments, words
):
    (study.folder / "circle").symlink_to("circle")
    monkeypatch.chdir(study.folder)
    before = listing(study.folder)
    outcome = run_cli(["train", "study.yaml", *arguments], seconds=30)
    assert outcome.code == 2
    assert broken_rule(outcome) is None
    assert words in outcome.err
    assert listing(study.folder) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["compare", "study.yaml", "--jobs", "100000"], "at a time"),
        (["distance", "study.yaml", "--jobs", "100000"], "at a time"),
        (["distance", "study.yaml", "--weights", "a=near:nan"], "nan"),
        (["distance", "study.yaml", "--weights", "a=near:inf"], "inf"),
        (["reproduce", "table-main", "--seeds", "100000000000"], "--seeds"),
        (["reproduce", "table-main", "--learning-rate", "nan"], "nan"),
        (["predict", "run", "-", "--batch-size", "1000000000000"], "--batch-size"),
    ],
)
def test_so_is_one_of_other_commands(study, monkeypatch, arguments, words):
    monkeypatch.chdir(study.folder)
    outcome = run_cli(arguments, seconds=30)
    assert outcome.code == 2
    assert broken_rule(outcome) is None
    assert words in outcome.err


def test_a_long_message_is_cut(study, monkeypatch):
    monkeypatch.chdir(study.folder)
    outcome = run_cli(["train", "study.yaml", "-o", "x" * 100_000], seconds=30)
    assert broken_rule(outcome) is None
    assert len(outcome.err) < 2500


# Bugs


@pytest.fixture
def bug(monkeypatch):
    """A command that has one."""

    def broken(*arguments):
        raise KeyError("what nobody thought of")

    monkeypatch.setattr("tawt.cli.actions.loaded", broken)


def test_a_bug_says_that_it_is_one_and_keeps_its_traceback(bug, call, study, monkeypatch, tmp_path):
    monkeypatch.delenv("TAWT_TRACEBACK", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    status, out, err = call("train", study.path)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert "This is a bug in tawt (KeyError: 'what nobody thought of')" in err
    [kept] = tmp_path.glob("tawt-*.traceback.txt")
    assert str(kept) in err
    assert "test_failing.py" in kept.read_text()


def test_the_traceback_is_shown_to_those_who_ask(bug, call, study, monkeypatch):
    monkeypatch.setenv("TAWT_TRACEBACK", "1")
    with pytest.raises(KeyError, match="nobody"):
        call("train", study.path)
