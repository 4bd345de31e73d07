"""A folder that something happened to: every command ends with a result, or with one line."""

import json
import random
import shutil

import pytest

from tawt.compare import compare
from tawt.config import load
from tawt.runs import Options, run
from tawt.sweeps import Sweep

WHOLE = {
    "nothing": b"",
    "a list": b"[]",
    "an object": b"{}",
    "null": b"null",
    "a number": b"3",
    "a text": b'"x"',
    "no text": b"\xff\xfe\x00",
    "not finite": b"NaN",
    "without end": b"[" * 100_000,
}
"""What a whole file may have become."""
VALUES = [
    None,
    3,
    -1.5,
    "x",
    [],
    {},
    [None],
    {"x": None},
    [[]],
    True,
    1e308,
    "\ud800",
    float("nan"),
]
"""What a value inside may have become."""
CASES = 40
"""Of each file, out of some hundreds; a page takes a tenth of a second."""
NOT_READ = ("versions", "machine", "data", "seconds", "config", "notes", "circumstances")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run with weights on examples, without the checksums by which damage would be found."""
    from tests.conftest import Study, unsealed

    folder = tmp_path_factory.mktemp("made")
    study = Study(folder / "study").set("weighting", {"unit": "example"}).set("paradigm", "joint")
    run(load(study.path), folder / "run")
    unsealed(folder / "run")
    return folder


@pytest.fixture
def damaged(made, tmp_path):
    shutil.copytree(made / "study", tmp_path / "study")
    shutil.copytree(made / "run", tmp_path / "run")
    return tmp_path / "run"


def ends_well(answer):
    """Exit 0; or 2, with one line that says so."""
    status, _, err = answer
    if status == 0:
        assert "Traceback" not in err
        return
    assert status == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert len(err) < 1000


def places(value, at=()):
    """Where in a JSON value there are values; of a list, of its first entry."""
    yield at
    if isinstance(value, dict):
        for key, part in value.items():
            yield from places(part, (*at, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*at, 0))


def replaced(value, at, other):
    if not at:
        return other
    copy = value.copy()
    copy[at[0]] = replaced(value[at[0]], at[1:], other)
    return copy


def removed(value, at):
    copy = value.copy()
    if len(at) == 1:
        del copy[at[0]]
    else:
        copy[at[0]] = removed(value[at[0]], at[1:])
    return copy


def commands(folder):
    out = folder.parent / "out"
    return [("report", folder, "--out", out / "page.html"), ("audit", folder, "--quiet"),
            ("predict", folder, folder / "config.yaml", "--quiet")]  # fmt: skip


FILES = ("record.json", "data.json", "weights.jsonl", "units.json",
         "predictions.test.tsv", "unit_weights.safetensors")  # fmt: skip


@pytest.mark.parametrize("content", WHOLE)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_something_else(damaged, call, name, content):
    (damaged / name).write_bytes(WHOLE[content])
    for command in commands(damaged):
        ends_well(call(*command))


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_short_or_gone(damaged, call, name):
    whole = (damaged / name).read_bytes()
    for size in (1, len(whole) // 3, len(whole) // 2, len(whole) - 2):
        (damaged / name).write_bytes(whole[:size])
        for command in commands(damaged):
            ends_well(call(*command))
    (damaged / name).unlink()
    for command in commands(damaged):
        ends_well(call(*command))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("record.json", "report"),
        ("units.json", "report"),
        ("data.json", "audit"),
        ("weights.jsonl", "report"),
    ],
)
def test_values_deep_inside(damaged, call, name, command):  # fmt: skip
    """Any place of the file, with any kind of value, or without one."""
    (arguments,) = [each for each in commands(damaged) if each[0] == command]
    check_deep(damaged / name, arguments, call)


def test_a_comparison_and_values_deep_inside(in_process, study, tmp_path, call):
    folder = tmp_path / "compared"
    compare(
        load(study.path),
        folder,
        rows=["single-task", "weighted normalized joint"],
        seeds=[0],
        options=Options(),
        sweep=Sweep(),
    )
    check_deep(folder / "comparison.json", ("report", folder), call)


def test_distances_and_values_deep_inside(trainings, study, tmp_path, call):
    folder = tmp_path / "distances"
    study.set("epochs", 1).set("target_epochs", 1)
    assert call("distance", study.path, "--seeds", 1, "--out", folder, "--quiet")[0] == 0
    check_deep(folder / "distance.json", ("report", folder), call)


def check_deep(path, arguments, call):
    whole = path.read_text()
    first, *rest = whole.splitlines() if path.suffix == ".jsonl" else [whole]
    value = json.loads(first)
    value.pop("sha256", None)  # by which all that follows would be found at once
    assert call(*arguments)[0] == 0
    read = [at for at in places(value) if not at or at[0] not in NOT_READ]
    others = [replaced(value, at, other) for at in read for other in VALUES]
    others += [removed(value, at) for at in read if at]
    for other in random.Random(0).sample(others, CASES):
        path.write_text("\n".join([json.dumps(other), *rest]))
        ends_well(call(*arguments))
