"""Runs that are really killed, and go on to the same bytes.

Starting Python and importing torch takes seconds. Most runs here are processes forked from one that
has imported everything already: real processes with real signals, hundreds of times cheaper.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tawt.config import load
from tawt.errors import TawtError
from tawt.runs import Options, RunFolder, run
from tawt.sweeps import Plan, RecordStore, Sweep, TrainRun, Work

pytestmark = pytest.mark.crash

FORKS = """
import json, os, sys
import jinja2, torch._dynamo, tawt.cli.actions  # what a run loads later
from tawt.cli.app import main

def child(arguments, out, err):
    os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
    os.dup2(os.open(err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    sys.argv = ["tawt", *arguments]
    status = 1
    try:
        main()
        status = 0
    except SystemExit as stopped:
        status = stopped.code or 0
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)

print("ready", flush=True)
for line in sys.stdin:
    process = os.fork()
    if process == 0:
        child(*json.loads(line))
    print(process, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
"""
SAME = ("weights.jsonl", "predictions.dev.tsv", "predictions.test.tsv", "model/model.safetensors")
RECORDED = ("scores", "weights", "multipliers", "epochs", "best_epoch", "steps", "skipped_steps")
ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def mother():
    """The process that others are forked from."""
    process = subprocess.Popen(
        [sys.executable, "-c", FORKS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=ONE_THREAD,
    )
    assert process.stdout.readline() == "ready\n"
    yield process
    process.stdin.close()
    process.wait(timeout=60)
    process.stdout.close()


@pytest.fixture
def tawt(mother, tmp_path):
    """Run the command line in a process of its own, and do something to it when the time comes."""

    def started(*arguments, when=lambda: False, send=None):
        out, err = tmp_path / "out.txt", tmp_path / "err.txt"
        order = [[*map(str, arguments)], str(out), str(err)]
        print(json.dumps(order), file=mother.stdin, flush=True)
        process = int(mother.stdout.readline())
        if send is not None:
            while not when() and Path(f"/proc/{process}").exists():
                time.sleep(0.0002)
            with contextlib.suppress(ProcessLookupError):  # it may have come to its end
                os.kill(process, send)
        status = int(mother.stdout.readline())
        return status, out.read_text(), err.read_text()

    return started


def arguments(study, folder):
    return ("train", study.path, "--out", folder, "--checkpoint-seconds", 0, "--resume", "--quiet")


def outcome(folder):
    record = json.loads((folder / "record.json").read_text())
    return {name: (folder / name).read_bytes() for name in SAME} | {
        key: record[key] for key in RECORDED
    }


def replaced(path, times):
    """Whether a file has been seen to be replaced so many times."""
    seen = set()

    def enough():
        try:
            seen.add(path.stat().st_mtime_ns)
        except OSError:
            return False
        return len(seen) >= times

    return enough


def half_written(folder, name):
    """Whether a file is being written at this moment, under its temporary name."""
    before = {*folder.glob(f".{name}.*")}  # left by earlier kills
    return lambda: any(path not in before for path in folder.glob(f".{name}.*"))


def moments(folder):
    """When to kill: after so many checkpoints, and in the middle of writing this or that."""
    state = folder / "checkpoints" / "state.safetensors"
    yield (folder / "config.yaml").exists
    yield replaced(state, 1)
    yield replaced(state, 3)
    yield half_written(state.parent, state.name)
    yield half_written(folder, "weights.jsonl")
    yield replaced(state, 6)
    yield replaced(state, 2)
    yield half_written(state.parent, state.name)
    yield replaced(state, 9)
    yield half_written(folder / "model", "model.safetensors")
    yield half_written(folder, "record.json")


@pytest.mark.parametrize("paradigm", ["joint", "pre-training"])
def test_a_killed_run_goes_on_to_the_same_bytes(tawt, study, tmp_path, paradigm):
    study.set("paradigm", paradigm).set("epochs", 3).set("target_epochs", 3)
    assert tawt(*arguments(study, tmp_path / "whole")) == (0, "", "")
    folder, killed = tmp_path / "killed", 0
    for moment in moments(folder):
        status, _, _ = tawt(*arguments(study, folder), when=moment, send=signal.SIGKILL)
        killed += status == -signal.SIGKILL
        if (folder / "record.json").exists():
            break
    assert killed >= 6
    status, _, err = tawt(*arguments(study, folder))
    assert (status, err) == (0, "")
    assert outcome(folder) == outcome(tmp_path / "whole")
    assert not (folder / "checkpoints").exists()


def test_a_real_command_is_killed_and_goes_on(tawt, study, tmp_path):
    """Once with `python -m tawt` itself, as a user has it."""
    assert tawt(*arguments(study, tmp_path / "whole")) == (0, "", "")
    folder = tmp_path / "killed"
    command = [sys.executable, "-m", "tawt", *map(str, arguments(study, folder))]
    process = subprocess.Popen(command, env=ONE_THREAD)
    enough = replaced(folder / "checkpoints" / "state.safetensors", 3)
    while process.poll() is None and not enough():
        time.sleep(0.001)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not (folder / "record.json").exists()
    assert tawt(*arguments(study, folder)) == (0, "", "")
    assert outcome(folder) == outcome(tmp_path / "whole")


@pytest.mark.parametrize("paradigm", ["joint", "pre-training", "single-task"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_saves_says_so_and_goes_on(tawt, study, tmp_path, paradigm, number):
    study.set("paradigm", paradigm).set("epochs", 4).set("target_epochs", 5)
    folder = tmp_path / "stopped"
    state = folder / "checkpoints" / "state.safetensors"
    status, out, err = tawt(*arguments(study, folder), when=replaced(state, 4), send=number)
    assert status == 130
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("error:")
    assert "--resume" in err
    assert state.exists()
    assert not (folder / "record.json").exists()
    assert tawt(*arguments(study, folder)) == (0, "", "")
    assert tawt(*arguments(study, tmp_path / "whole")) == (0, "", "")
    assert outcome(folder) == outcome(tmp_path / "whole")


def test_a_checkpoint_is_written_on_ctrl_c_even_when_none_is_due(tawt, study, tmp_path):
    study.set("epochs", 100_000)
    folder = tmp_path / "stopped"
    command = ["train", study.path, "--out", folder, "--checkpoint-seconds", 1e6]
    began = time.monotonic()

    def a_while_after_the_start():
        return (folder / "config.yaml").exists() and time.monotonic() - began > 1

    status, _, err = tawt(*command, when=a_while_after_the_start, send=signal.SIGINT)
    assert status == 130
    assert err.splitlines()[-1].startswith("error:")
    assert (folder / "checkpoints" / "state.safetensors").exists()


def test_an_interrupted_comparison_says_so_in_one_line(study, tmp_path):
    study.set("epochs", 100_000).set("training.update_every", None)
    folder = tmp_path / "compared"
    command = [
        sys.executable, "-m", "tawt", "compare", study.path, "--out", folder, "--row",
        "normalized joint", "--seeds", "1", "--jobs", "1", "--quiet",
    ]  # fmt: skip
    process = subprocess.Popen(
        [*map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    config = folder / "normalized-joint" / "0" / "config.yaml"
    while process.poll() is None and not config.exists():
        time.sleep(0.01)
    time.sleep(0.5)  # the worker is starting or at work: a stop must be clean either way
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    try:
        out, err = process.communicate(timeout=90)
    finally:
        with contextlib.suppress(ProcessLookupError):  # no worker may outlive a failed test
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130, err
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith("error:")
    assert "--resume" not in err  # `compare` has no such option: it goes on by itself
    assert not (folder / "comparison.json").exists()


def worker_of(folder):
    """The process that writes to a run's folder."""
    return json.loads((folder / ".writer").read_text())["process"]


def test_a_worker_that_is_killed_costs_its_own_run(study, tmp_path):
    """The other run is finished, the dead one is named, and goes on from its checkpoint."""
    study.set("epochs", 100).set("training.update_every", None)
    config, options = load(study.path), Options(resume=True, checkpoint_seconds=0.05)
    folders = [tmp_path / "runs" / str(seed) for seed in (0, 1)]
    wanted = [
        Work(
            folder.name,
            f"run-{folder.name}",
            TrainRun(config.model_copy(update={"seed": int(folder.name)}), folder, options),
        )
        for folder in folders
    ]
    store, killed = RecordStore(tmp_path / "runs", "{}/record.json", sealed=True), []

    def kill_one_when_both_train():
        states = [folder / "checkpoints" / "state.safetensors" for folder in folders]
        if not killed and all(state.exists() for state in states):
            killed.append(worker_of(folders[0]))
            os.kill(killed[0], signal.SIGKILL)
        return False

    both = Sweep(workers=2, should_stop=kill_one_when_both_train)
    with pytest.raises(TawtError, match=r"1 of 2 runs failed; the first: run-0: .* SIGKILL"):
        both.make(lambda: Plan(wanted), store)
    assert killed
    assert [RunFolder(folder).finished for folder in folders] == [False, True]
    assert (folders[0] / "checkpoints").exists()
    done = (folders[1] / "record.json").read_bytes()
    assert Sweep().make(lambda: Plan(wanted), store)
    assert (folders[1] / "record.json").read_bytes() == done
    run(wanted[0].make.config, tmp_path / "whole")
    assert outcome(folders[0]) == outcome(tmp_path / "whole")


def test_a_command_whose_worker_is_killed_says_what_to_do(study, tmp_path):
    study.set("epochs", 100_000).set("training.update_every", None)
    folder = tmp_path / "compared"
    rows = ("--row", "normalized joint", "--row", "single-task")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "tawt", "compare", str(study.path), "--out", str(folder)),
            *("--seeds", "1", "--jobs", "2", "--quiet", *rows),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=ONE_THREAD,
    )
    record, long = folder / "single-task" / "0" / "record.json", folder / "normalized-joint" / "0"
    try:
        while process.poll() is None and not (record.exists() and (long / ".writer").exists()):
            time.sleep(0.01)
        os.kill(worker_of(long), signal.SIGKILL)
        out, err = process.communicate(timeout=120)
    finally:
        with contextlib.suppress(ProcessLookupError):  # no worker may outlive a failed test
            os.killpg(process.pid, signal.SIGKILL)
    assert (process.returncode, out) == (2, "")
    assert err.count("\n") == 1, err
    for said in ("1 of 2 runs failed", "normalized-joint-0", "same command again", "fewer --jobs"):
        assert said in err
