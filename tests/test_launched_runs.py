"""Runs of several processes: the first writes and speaks, all decide alike and end alike."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tawt.cli import together
from tawt.config import load
from tawt.demos.grammar import generate
from tawt.demos.tiny import write_tiny_encoder
from tawt.runs import Options, RunFolder, run

ROOT = Path(__file__).parents[1]
PYTHON = [sys.executable, "-W", "ignore"]
LIMIT = 120  # seconds that nothing here may take

# The command line, with one process that is late or fails, at a moment of our choice.
DISTURBED = """
import importlib, os, signal, sys, time

def late(work):
    def done(*given, **named):
        time.sleep(1)
        return work(*given, **named)
    return done

def failing(work):
    def done(*given, **named):
        raise KeyError("nobody expected this")
    return done

def dying(work):
    calls = []
    def done(*given, **named):
        calls.append(1)
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(*given, **named)
    return done

def slow(work):
    def done(*given, **named):
        time.sleep(0.05)
        return work(*given, **named)
    return done

for disturbance in filter(None, os.environ.get("DISTURB", "").split(";")):
    rank, module, name, how = disturbance.split()
    if os.environ.get("RANK") == rank or rank == "all":
        *path, name = name.split(".")
        place = importlib.import_module(module)
        for part in path:
            place = getattr(place, part)
        setattr(place, name, globals()[how](getattr(place, name)))

from tawt.cli import main
main()
"""


def environment(**more):
    usual = {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    left = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    return left | usual | more


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def started_together(command, *, processes=2, **more):
    """As a launcher starts them, but each with streams and a status of its own."""
    port = str(free_port())
    return [
        subprocess.Popen(
            [*map(str, command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(
                RANK=str(rank),
                LOCAL_RANK=str(rank),
                WORLD_SIZE=str(processes),
                LOCAL_WORLD_SIZE=str(processes),
                MASTER_ADDR="127.0.0.1",
                MASTER_PORT=port,
                **more,
            ),
        )
        for rank in range(processes)
    ]


def ended(running):
    """Exit statuses, what all wrote to standard output, and what to standard error."""
    try:
        said = [process.communicate(timeout=LIMIT) for process in running]
    finally:
        for process in running:
            process.kill()
    statuses = [process.returncode for process in running]
    return statuses, "".join(out for out, _ in said), "".join(err for _, err in said)


@pytest.fixture
def disturbed(tmp_path):
    """Two processes of the command line: exit statuses, output and errors of both."""
    script = tmp_path / "disturbed.py"
    script.write_text(DISTURBED)

    def called(*arguments, disturb="", **more):
        command = [*PYTHON, script, *arguments]
        return ended(started_together(command, DISTURB=disturb, **more))

    return called


def launched(launcher, *arguments, **more):
    return subprocess.run(
        [*map(str, [*PYTHON, "-m", *launcher, *arguments])],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
        env=environment(**more),
    )


TORCHRUN = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
ACCELERATE = [
    *("accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--num_machines", "1"),
    *("--mixed_precision", "no", "--dynamo_backend", "no"),
]


def assert_same(one, two):
    """Two finished runs came to the same, within rounding."""
    first, second = RunFolder(one), RunFolder(two)
    ours, theirs = first.record(), second.record()
    assert theirs["scores"] == {
        target: {split: pytest.approx(scores, abs=1e-5) for split, scores in splits.items()}
        for target, splits in ours["scores"].items()
    }
    for name in ("weights", "multipliers"):
        assert theirs[name] == pytest.approx(ours[name], rel=1e-3)
    assert [epoch["loss"] for epoch in theirs["epochs"]] == pytest.approx(
        [epoch["loss"] for epoch in ours["epochs"]], rel=1e-3
    )
    for before, after in zip(first.updates(), second.updates(), strict=True):
        assert after["weights"] == pytest.approx(before["weights"], rel=1e-2, abs=1e-4)
    for split in ("dev", "test"):
        name = f"predictions.{split}.tsv"
        columns = [
            [line.split("\t")[:3] for line in (path / name).read_text().splitlines()]
            for path in (one, two)
        ]
        assert columns[0] == columns[1]


# The whole command, through the launchers


def test_torchrun_on_arrays_comes_to_what_one_process_does(study, tmp_path):
    study.set("model.dropout", 0.0)
    run(load(study.path), tmp_path / "one")
    done = launched(TORCHRUN, "-m", "tawt", "train", study.path, "--out", tmp_path / "two")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("final weights") == done.stdout.count("Everything is in") == 1
    assert done.stderr == "Training on cpu (1 thread), in 2 processes.\n"
    assert_same(tmp_path / "one", tmp_path / "two")
    assert RunFolder(tmp_path / "two").record()["machine"]["processes"] == 2
    one, two = ({p.name for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two


def test_accelerate_launch_on_text_comes_to_what_one_process_does(tmp_path):
    words = [sentence.words for sentence in generate(60, seed=3, register="news")]
    encoder = write_tiny_encoder(tmp_path / "encoder", words, width=32, layers=1)
    about = json.loads((encoder / "config.json").read_text())
    # Each process thins the model out at random for itself.
    about |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (encoder / "config.json").write_text(json.dumps(about))
    values = {
        "name": "tagging",
        "data": {"kind": "grammar", "target_size": 13, "source_size": 30},
        "target": "chunk",
        "sources": ["pos", "shuffled"],
        "paradigm": "pre-training",
        "epochs": 1,
        "target_epochs": 2,
        "model": {"encoder": str(encoder), "max_length": 32},
        "training": {"batch_size": 4, "learning_rate": 0.003, "update_every": 6},
    }
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps(values))
    run(load(config), tmp_path / "one")
    done = launched(ACCELERATE, "-m", "tawt", "train", config, "--out", tmp_path / "two", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == RunFolder(tmp_path / "two").record()
    assert_same(tmp_path / "one", tmp_path / "two")


@pytest.mark.crash
def test_a_stopped_torchrun_can_go_on(study, tmp_path):
    script = tmp_path / "disturbed.py"
    script.write_text(DISTURBED)
    study.set("epochs", 200)
    command = [*PYTHON, "-m", *TORCHRUN, script, "train", study.path, "--out", tmp_path / "run"]
    slowly = environment(DISTURB="all tawt.training.loop evaluate_split slow")
    process = subprocess.Popen(
        [*map(str, [*command, "--checkpoint-seconds", "0"])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=slowly,
    )
    limit = time.monotonic() + LIMIT
    while not (tmp_path / "run/checkpoints/state.safetensors").exists():
        assert time.monotonic() < limit
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT)
    assert out == ""
    assert err.count("error: ") == err.count("Stopped as asked") == 1
    folder = tmp_path / "run"
    assert not (folder / "record.json").exists()
    stop = iter([False, False, True])
    with pytest.raises(
        Exception, match="Stopped as asked"
    ):  # by one process, from the state of two
        run(load(study.path), folder, options=Options(resume=True), should_stop=lambda: next(stop))


# Mistakes and failures


def test_a_mistake_is_said_once_and_all_exit_alike(disturbed, study, tmp_path):
    statuses, out, err = disturbed("train", tmp_path / "no.yaml", "--device", "cpu")
    assert (statuses, out) == ([2, 2], "")
    assert err == f"error: {tmp_path / 'no.yaml'}: there is no such file.\n"


def test_other_commands_refuse_to_be_several_processes(disturbed, study, tmp_path):
    statuses, out, err = disturbed("compare", study.path, "--out", tmp_path / "rows")
    assert (statuses, out) == ([2, 2], "")
    assert err.count("\n") == err.count("without torchrun or accelerate launch; --jobs says") == 1
    assert not (tmp_path / "rows").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["data", "inspect", "x"], "`tawt data` is one process, and was started as 3"),
        (["predict", "run", "-"], "run it without torchrun or accelerate launch. Only"),
        (["demo"], "--jobs says how many runs"),
    ],
)
def test_every_command_but_train_is_one_process(monkeypatch, call, arguments, said):
    for name, value in {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "3"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert said in err
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(together, "listen_only", lambda: None)
    assert call(*arguments) == (2, "", "")


@pytest.mark.crash
def test_a_process_that_fails_ends_the_others_and_speaks_for_them(disturbed, study, tmp_path):
    statuses, out, err = disturbed(
        *("train", study.path, "--out", tmp_path / "run", "--device", "cpu", "--quiet"),
        disturb="1 tawt.training.loop evaluate_split failing",
    )
    assert (statuses, out) == ([1, 1], "")
    assert err.count("error: ") == err.count("\n") == 1
    assert "This is a bug in tawt (KeyError" in err


@pytest.mark.crash
def test_a_process_that_is_killed_ends_the_others(disturbed, study, tmp_path):
    statuses, out, err = disturbed(
        *("train", study.path, "--out", tmp_path / "run", "--device", "cpu"),
        disturb="1 tawt.training.keeping Keeping.after_step dying",
    )
    assert (statuses, out) == ([2, -9], "")
    assert "error: Another of the processes that train together ended" in err
    assert "--resume" in err


# Delays, at any moment


def test_a_late_process_is_waited_for(disturbed, study, tmp_path):
    """Each of the two at its turn: before the folder is opened, before training, at the end."""
    late = [
        "1 tawt.runs.run build_parts late",
        "0 tawt.runs.folder RunFolder.open late",
        "1 tawt.runs.run train late",
        "0 tawt.runs.folder RunFolder.finish late",
    ]
    statuses, out, err = disturbed(
        *("train", study.path, "--out", tmp_path / "run", "--device", "cpu"), disturb=";".join(late)
    )
    assert (statuses, err) == ([0, 0], "Training on cpu (1 thread), in 2 processes.\n")
    assert out.count("Everything is in") == 1
