"""The core, `mixture` and the layers below it, needs torch, numpy and nothing else."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import tawt

SOURCE = Path(tawt.__file__).parent
ABOVE = {"files"}  # low in the contract because every layer above the core writes files
ALLOWED = {"torch", "numpy", *sys.stdlib_module_names}


def core_layers():
    """From the layer contract, so that a layer that is added there is held to this too."""
    project = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    layers = contract["layers"]
    below = layers[layers.index("mixture") :]
    names = [name.strip(" ()") for layer in below for name in layer.split("|")]
    return [name for name in names if name not in ABOVE]


CORE = core_layers()


def files_of(layer):
    folder = SOURCE / layer
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [SOURCE / f"{layer}.py"]


def names_imported(path):
    """Of every import in the file, those inside functions and for type checkers included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports are not used here"
            whole = node.module == "tawt"  # `from tawt import simplex` imports that module
            yield from (f"tawt.{alias.name}" for alias in node.names) if whole else [node.module]


def allowed(name):
    package, _, rest = name.partition(".")
    return package in ALLOWED or (package == "tawt" and rest.partition(".")[0] in CORE)


def test_the_core_is_what_it_is_thought_to_be():
    assert {"tasks", "mixture", "weighting", "hypergradient", "curvature", "per_example"} <= {*CORE}
    assert not {"training", "arrays", "text", "cli"} & {*CORE}


@pytest.mark.parametrize("layer", CORE)
def test_a_layer_imports_torch_numpy_and_the_standard_library(layer):
    found = {
        f"{path.relative_to(SOURCE)}: {name}"
        for path in files_of(layer)
        for name in names_imported(path)
        if not allowed(name)
    }
    assert found == set()


def test_importing_the_core_loads_no_other_library():
    program = f"""
import sys
import torch, numpy
before = {{name.partition(".")[0] for name in sys.modules}}
import tawt
for layer in {CORE}:
    __import__("tawt." + layer)
for name in ("TargetAware", "Fixed", "Mixture", "MultiTaskModel", "Task", "Cosine", "Identity"):
    getattr(tawt, name)
after = {{name.partition(".")[0] for name in sys.modules}}
print(*sorted(after - before - {{"tawt"}} - sys.stdlib_module_names))
"""
    answer = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.split() == []
