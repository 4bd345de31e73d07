"""What is said where a library of an extra is not installed."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tawt
from tawt.extras import LIBRARIES, MissingExtraError, need

MODULES = {"pyyaml": "yaml", "scikit-learn": "sklearn"}  # by distribution, where the names differ
ALL = sorted({name for libraries in LIBRARIES.values() for name in libraries})
SOURCE = Path(tawt.__file__).parent
PROJECT = SOURCE.parents[1] / "pyproject.toml"
EXTRAS = {
    "training": "train",
    "modality": "arrays",
    "arrays": "arrays",
    "text": "text",
    "corpora": "corpora",
    "demos": "arrays",
    "config": "cli",
    "report": "cli",
    "runs": "cli",
    "sweeps": "cli",
    "compare": "cli",
    "mix": "cli",
    "distance": "cli",
    "reproduce": "cli",
    "cli": "cli",
    "integrations/transformers": "trainer",
}
"""Of every package above the core, what it asks for."""
BEYOND = {"demos/tiny.py: tokenizers", "demos/tiny.py: transformers"}  # it asks for `text` itself


def brought(extra):
    """Modules that an extra of pyproject.toml brings, those of the extras it names included."""
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    found = set()
    for line in extras[extra]:
        name = re.match(r"[\w.-]+", line).group()
        inner = re.match(r"tawt\[(\w+)\]", line)
        found |= brought(inner.group(1)) if inner else {MODULES.get(name, name)}
    return found


def imported_at_once(path):
    """Packages that a file imports when it is imported itself."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]


def outcome(code, *, without=ALL):
    blocked = "".join(f"sys.modules[{name!r}] = None; " for name in without)
    command = [sys.executable, "-c", f"import sys; {blocked}{code}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("extra", LIBRARIES)
def test_libraries_are_those_that_the_extra_brings(extra):
    assert set(LIBRARIES[extra]) == brought(extra)
    for library in LIBRARIES[extra]:
        importlib.import_module(library)


def test_the_lowest_versions_are_of_every_library_and_one_each():
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    lines = sum(project["optional-dependencies"].values(), project["dependencies"])
    bounds = {
        (line.split("[")[0].split(">=")[0], line.split(">=")[1]) for line in lines if ">=" in line
    }
    tool = [sys.executable, PROJECT.parent / "tools" / "lowest_versions.py"]
    printed = subprocess.run(tool, capture_output=True, text=True, check=True).stdout.splitlines()
    held, *lowered = [tuple(line.split("==")) for line in printed]
    assert held[0] == "torch"
    assert len(lowered) == len(dict(lowered))
    assert set(lowered) == {(name, low) for name, low in bounds if name != "torch"}


def test_need_says_who_needs_what_in_one_line(monkeypatch):
    need("text", by="tawt.text")
    monkeypatch.setitem(sys.modules, "seqeval", None)
    with pytest.raises(MissingExtraError) as raised:
        need("text", by="tawt.text")
    assert str(raised.value) == (
        "tawt.text needs the extra 'text' (seqeval is not installed); "
        "pip install 'tawt[text]' brings it."
    )
    need("cli", by="tawt.runs")


@pytest.mark.parametrize(
    ("statement", "who", "extra"),
    [
        ("from tawt import train", "tawt.training", "train"),
        ("from tawt import Classification", "tawt.arrays", "arrays"),
        ("from tawt import task_distance", "tawt.distance", "cli"),
        ("import tawt.training.settings", "tawt.training", "train"),
        ("from tawt.arrays import classification", "tawt.arrays", "arrays"),
        ("import tawt.modality", "tawt.modality", "arrays"),
        ("from tawt.text import Cutting", "tawt.text", "text"),
        ("from tawt.text import ReadOptions", "tawt.text", "text"),
        ("import tawt.text.metrics.spans", "tawt.text", "text"),
        ("import tawt.corpora", "tawt.corpora", "corpora"),
        ("import tawt.demos.digits", "tawt.demos", "arrays"),
        ("import tawt.config", "tawt.config", "cli"),
        ("import tawt.report", "tawt.report", "cli"),
        ("import tawt.significance", "tawt.significance", "cli"),
        ("import tawt.runs", "tawt.runs", "cli"),
        ("import tawt.sweeps", "tawt.sweeps", "cli"),
        ("import tawt.compare", "tawt.compare", "cli"),
        ("import tawt.mix", "tawt.mix", "cli"),
        ("import tawt.distance", "tawt.distance", "cli"),
        ("import tawt.reproduce", "tawt.reproduce", "cli"),
        ("import tawt.integrations.transformers", "tawt.integrations.transformers", "trainer"),
    ],
)
def test_whoever_is_imported_names_its_own_extra(statement, who, extra):
    done = outcome(statement)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"tawt.extras.MissingExtraError: {who} needs the extra {extra!r} (")
    assert last.endswith(f" is not installed); pip install 'tawt[{extra}]' brings it.")


@pytest.mark.parametrize("package", EXTRAS)
def test_an_extra_is_enough_for_the_package_that_asks_for_it(package):
    allowed = {*LIBRARIES[EXTRAS[package]], "torch", "numpy", "tawt", *sys.stdlib_module_names}
    found = {
        f"{path.relative_to(SOURCE)}: {library}"
        for path in sorted((SOURCE / package).rglob("*.py"))
        for library in imported_at_once(path)
        if library not in allowed
    }
    assert found <= BEYOND


@pytest.mark.parametrize(
    ("library", "arguments", "extra"),
    [
        ("typer", ["--help"], "cli"),
        ("yaml", ["train", "study.yaml"], "cli"),
        ("jinja2", ["demo", "--seeds", "1"], "cli"),
        ("sklearn", ["demo"], "cli"),
        ("transformers", ["reproduce", "table-main", "--scale", "tiny"], "text"),
    ],
)
def test_a_command_that_needs_an_extra_says_so_in_one_line(library, arguments, extra, tmp_path):
    code = f"import os; os.chdir({str(tmp_path)!r}); sys.argv[1:] = {arguments!r}; "
    done = outcome(f"{code}from tawt.cli import main; main()", without=[library])
    assert done.returncode == 2
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert f"{library} is not installed" in line
    assert f"pip install 'tawt[{extra}]'" in line
    assert list(tmp_path.iterdir()) == []


def test_experiments_are_listed_without_text():
    code = "sys.argv[1:] = ['reproduce', '--list', '--json']; from tawt.cli import main; main()"
    done = outcome(code, without=["transformers", "tokenizers", "seqeval"])
    assert (done.returncode, done.stderr) == (0, "")
    assert '"table-main"' in done.stdout


def test_a_kind_of_data_names_its_extra():
    code = "from tawt.modality import modality_named as named; named('arrays'); named('text')"
    done = outcome(code, without=["transformers"])
    last = done.stderr.splitlines()[-1]
    assert last.startswith("tawt.errors.ConfigError: text cannot be read: tawt.text needs ")
    assert "transformers is not installed" in last
    assert "pip install 'tawt[text]'" in last


def test_the_core_needs_no_extra():
    code = (
        "from tawt import TargetAware; "
        "print(TargetAware(sources=['a', 'b'], target='c', target_share=0.5))"
    )
    done = outcome(code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "TargetAware(target='c', updates=0, a=0.250, b=0.250, c=0.500)\n"
