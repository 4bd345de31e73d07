"""The attack's own machinery, with a few kills; `make attack` makes many."""

import json
from random import Random

import pytest
from benchmarks.attack.__main__ import main
from benchmarks.attack.cases import outcome, torn
from benchmarks.attack.rounds import Kill, Round, _differences
from benchmarks.attack.strikes import damage, damaged_file

from tawt.files.whole import write_sealed


@pytest.mark.crash
def test_a_few_kills_leave_no_trace(tmp_path, capsys):
    page = tmp_path / "attack.md"
    cases = ("--case", "train, arrays", "--case", "distance without training, arrays")
    assert main(["--kills", "3", "--seed", "2", "--lanes", "1", "--out", str(page), *cases]) == 0
    record = json.loads(page.with_suffix(".json").read_text())
    assert record["kills"] >= 3
    assert record["failures"] == []
    assert {"date", "command", "machine", "seconds"} <= set(record)
    assert f"{record['kills']} kills" in capsys.readouterr().out
    assert f"{record['kills']} kills" in page.read_text()


# What it would find


def run_folder(folder, *, score=0.5):
    folder.mkdir()
    write_sealed(folder / "record.json", {"scores": score, "seconds": score})
    (folder / "weights.jsonl").write_text('{"step": 1}\n')
    (folder / ".lock").touch()
    return folder


def test_times_do_not_count_and_anything_else_does(tmp_path):
    one, two = run_folder(tmp_path / "one"), run_folder(tmp_path / "two")
    write_sealed(two / "record.json", {"scores": 0.5, "seconds": 7})
    assert _differences(outcome(one), outcome(two)) == []
    write_sealed(two / "record.json", {"scores": 0.25, "seconds": 0.5})
    (two / "weights.jsonl").write_text('{"step": 2}\n')
    (two / ".weights.jsonl.1.partial").touch()
    (one / "model").mkdir()
    (one / "model" / "model.safetensors").touch()
    assert _differences(outcome(two), outcome(one)) == [
        ".weights.jsonl.1.partial is left over",
        "model/model.safetensors is not there",
        "record.json is different",
        "weights.jsonl is different",
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("record.json", '{"scores"'),
        ("weights.jsonl", '{"step": 1}\n{"ste'),
        ("config.yaml", ""),
        ("predictions.test.tsv", "gold\tpredicted\n1"),
        ("report.html", "<html><body>"),
        ("model.safetensors", "\x00"),
    ],
)
def test_half_of_a_file_is_found(tmp_path, name, content):
    folder = run_folder(tmp_path / "run")
    assert torn(folder, but=set()) == []
    (folder / name).write_text(content)
    assert torn(folder, but=set()) == [name]
    assert torn(folder, but={folder / name}) == []


def test_damage_is_done_only_where_there_is_a_checkpoint_to_fall_back_on(tmp_path):
    path = damaged_file(tmp_path)
    path.parent.mkdir()
    path.write_bytes(bytes(range(256)) * 20)
    assert damage(tmp_path, Random(0)) is None
    path.with_name("previous.safetensors").write_bytes(b"older")
    ways = set()
    for seed in range(20):
        path.write_bytes(bytes(range(256)) * 20)
        ways.add(damage(tmp_path, Random(seed)))
        assert path.read_bytes() != bytes(range(256)) * 20
    assert ways == {"a bit flipped", "cut off", "a page of zeros"}


def test_a_failure_is_told(tmp_path, monkeypatch, capsys):
    found = Round("train", [Kill("train", "any", "SIGKILL")], 0, ["record.json is different"])
    monkeypatch.setattr("benchmarks.attack.__main__.attack", lambda *_, **__: [found])
    assert main(["--out", str(tmp_path / "page.md")]) == 1
    assert "FAILED train: record.json is different" in capsys.readouterr().out
    assert "- train: record.json is different" in (tmp_path / "page.md").read_text()
