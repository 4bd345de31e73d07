"""What CONTRIBUTING, the map of the code and the decisions say of the code is true of it."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "tawt"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
MAP = ROOT / "docs" / "architecture.md"
SMALL = {"given", "paths", "files", "streams", "lazy", "extras"}
SMALL |= {"errors", "launch", "version", "durations"}
"""Modules that every layer may use."""
PUBLIC = {"_exit", "_replace"}
"""Documented for everybody, of `os` and of named tuples."""


def contract():
    """The layers, from above, each with its packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (rule,) = project["tool"]["importlinter"]["contracts"]
    return [layer.split(" | ") for layer in rule["layers"]]


def test_contributing_lists_the_layers_of_the_contract():
    text = CONTRIBUTING.read_text(encoding="utf-8").partition("## Layers")[2].partition("## ")[0]
    listed = re.findall(r"^ {4}(\w+(?: \| \w+)*) {2,}\S", text, re.MULTILINE)
    assert [line.split(" | ") for line in listed] == contract()


def test_the_picture_has_every_layer():
    picture = (ROOT / "docs" / "images" / "architecture.svg").read_text(encoding="utf-8")
    drawn = re.findall(r'font-weight="600" font-size="15">(\w+)<', picture)
    every = {package for layer in contract() for package in layer}
    assert sorted(drawn) == sorted({*every, "yours"} - SMALL - {"significance"})


@pytest.mark.parametrize("page", [CONTRIBUTING, MAP], ids=lambda page: page.name)
def test_files_that_are_named_exist(page):
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w./-]*(?:/|\.(?:py|md|yml|toml|txt))[\w./-]*)`", text))
    made = {"site/"}  # by the commands that the table explains
    missing = {
        name
        for name in named - made
        if not re.search("NAME|NNN", name)
        and not any((home / name).exists() for home in (ROOT, SOURCE))
    }
    assert len(named) > 10
    assert missing == set()


def test_private_names_of_other_libraries_have_their_reason_in_a_decision():
    files = {
        path.relative_to(SOURCE).as_posix(): [*ast.walk(ast.parse(path.read_text("utf-8")))]
        for path in SOURCE.rglob("*.py")
    }
    defined = {path: PUBLIC.union(*map(_defined, nodes)) for path, nodes in files.items()}
    inherited = set().union(*defined.values())
    used = {}
    for path, nodes in files.items():
        for node in nodes:
            # Another library may have a name that one of our files gives to something of its own.
            ours = inherited if _is_of_self(node) else defined[path]
            for name in set(filter(_is_private, _used(node))) - ours:
                used.setdefault(name, path)
    decisions = "".join(
        page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "decisions").glob("*.md")
    )
    told = set(re.findall(r"\b_\w+(?!\w)", decisions))
    kernels = {name for name in used if name.startswith("_foreach_")}  # told of as `_foreach_*`
    unexplained = {name: used[name] for name in used.keys() - told - kernels}
    assert unexplained == {}


def _is_private(name):
    return re.fullmatch("_[A-Za-z]\\w*", name) is not None


def _is_of_self(node):
    match node:
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return True
    return False


def _defined(node):
    """Names that a piece of our code gives to something."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name
        case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
            yield name


def _used(node):
    """Names of attributes that it reads, by dots, by import or by `getattr`."""
    match node:
        case ast.Attribute(attr=name):
            yield name
        case ast.ImportFrom(module=module, names=names):
            yield from (module or "").split(".")
            yield from (alias.name for alias in names)
        case ast.Import(names=names):
            yield from (part for alias in names for part in alias.name.split("."))
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(name), *_]):
            yield str(name)
