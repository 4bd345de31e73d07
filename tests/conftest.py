"""What several test files share: small array studies on disk, and the command line in process."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from hypothesis import settings

from tawt.cli.app import main
from tawt.errors import Interrupted
from tawt.sweeps import Context

# How long an example takes says how busy the machine is.
settings.register_profile("tawt", deadline=None)
settings.load_profile("tawt")


@pytest.fixture(autouse=True, scope="session")
def _one_thread():
    """Tensors here are tiny, and pytest already fills the cores."""
    torch.set_num_threads(1)


def labelled(seed, size, *, noise=False):
    """Four features; the label says which of the first three is largest, or nothing."""
    draw = np.random.default_rng(seed)
    inputs = draw.normal(size=(size, 4)).astype(np.float32)
    labels = draw.integers(0, 3, size) if noise else inputs[:, :3].argmax(1)
    return {"inputs": inputs, "labels": labels.astype(np.int64)}


def unsealed(run):
    """A run folder as older versions left it: without checksums, so that anybody can change it."""
    record = json.loads((run / "record.json").read_text())
    kept = {key: value for key, value in record.items() if key not in ("sha256", "files")}
    (run / "record.json").write_text(json.dumps(kept))


class Study:
    """A configuration and its data in a folder."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.save("goal.train", **labelled(0, 20))
        self.save("goal.dev", **labelled(1, 15))
        self.save("goal.test", **labelled(2, 25))
        self.save("near.train", **labelled(3, 32))
        self.save("far.train", **labelled(4, 27, noise=True))
        self.values = {
            "name": "tiny",
            "data": {
                "kind": "arrays",
                "tasks": {
                    "goal": {
                        "train": "goal.train.npz",
                        "dev": "goal.dev.npz",
                        "test": "goal.test.npz",
                    },
                    "near": {"train": "near.train.npz"},
                    "far": {"train": "far.train.npz"},
                },
            },
            "target": "goal",
            "model": {"widths": [8], "dropout": 0.1},
            "epochs": 2,
            "target_epochs": 2,
            "training": {"batch_size": 8, "learning_rate": 0.01, "update_every": 3},
        }
        self.path = folder / "study.yaml"
        self.write()

    def save(self, name, **arrays):
        np.savez(self.folder / f"{name}.npz", **arrays)

    def set(self, name, value):
        """Change a value by its dotted name."""
        *path, last = name.split(".")
        values = self.values
        for key in path:
            values = values.setdefault(key, {})
        values[last] = value
        self.write()
        return self

    def rename(self, old, new):
        """Call a task by another name."""
        tasks = self.values["data"]["tasks"]
        self.values["data"]["tasks"] = {
            (new if name == old else name): task for name, task in tasks.items()
        }
        if self.values["target"] == old:
            self.values["target"] = new
        self.write()
        return self

    def write(self):
        self.path.write_text(yaml.safe_dump(self.values, sort_keys=False, allow_unicode=True))


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path / "study")


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command line in this process: exit status, standard output, standard error."""

    # However busy the machine is, what is printed is the same.
    monkeypatch.setattr("tawt.cli.progress_lines._OFTEN", math.inf)

    def called(*arguments):
        monkeypatch.setattr(sys, "argv", ["tawt", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        return stopped.value.code or 0, captured.out, captured.err

    return called


class Here(list):
    """Makes work in this process, one by one, which spares the start of workers; and names it.

    With a limit, a stop is asked for after so many.
    """

    limit = None

    def __call__(self, wanted, *, workers, wait, should_stop, on_end, on_share):
        assert 1 <= workers <= len(wanted)
        for work in wanted:
            if self.limit == len(self):
                raise Interrupted("Stopped as asked.")
            work.make(Context(should_stop, wait))
            self.append(work.name)
            on_end(work, None)


@pytest.fixture
def in_process(monkeypatch):
    """Make all runs and trainings here, and list them."""
    here = Here()
    monkeypatch.setattr("tawt.sweeps.workers.in_processes", here)
    return here


@pytest.fixture
def trainings(in_process):
    """The trainings of distances, made here."""
    return in_process


@pytest.fixture
def listing():
    """Every file under a folder with what is in it, to show that nothing was touched."""

    def listed(folder):
        return {
            str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(Path(folder).rglob("*"))
        }

    return listed
