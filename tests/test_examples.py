"""Every example runs and shows what it says it shows."""

import re
import runpy
from pathlib import Path

import torch

from tawt.studies import RunFolder, load, run

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed_by(name, capsys):
    """The last number of each line that the example prints, by the line's words before it."""
    with torch.random.fork_rng(devices=[]):
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    return {
        " ".join(line.split()[:-1]): float(line.split()[-1])
        for line in lines
        if re.search(r"\d\.\d+$", line)
    }


def test_own_loop_trusts_the_related_source(capsys):
    shares = printed_by("own_loop.py", capsys)
    assert shares["related"] > 2 * shares["noise"]
    assert shares["goal"] == 0.3


def test_own_loop_needs_three_lines():
    text = (EXAMPLES / "own_loop.py").read_text(encoding="utf-8")
    assert re.findall(r"weights.*# (\d)$", text, re.MULTILINE) == ["1", "2", "3"]


def test_train_arrays_gains_from_the_related_source(capsys):
    printed = printed_by("train_arrays.py", capsys)
    assert printed["related final share"] > 2 * printed["noise final share"]
    alone = printed["target alone test accuracy"]
    assert printed["weighted joint test accuracy"] > alone + 0.02


def test_digits_configuration_runs(tmp_path):
    overrides = {"epochs": 1, "model.widths": [8], "training.gradient_examples": 16}
    config = load(EXAMPLES / "digits.yaml", overrides)
    record = run(config, tmp_path / "digits")
    assert record["steps"] > 0
    assert record["weights"]["digit"] == 0.3
    folder = RunFolder(tmp_path / "digits")
    assert folder.finished
    assert folder.config() == config
    assert folder.updates()
