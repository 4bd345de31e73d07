"""One class a name, and no names that say only that something was done."""

import ast
from collections import defaultdict
from pathlib import Path

import tawt

SOURCES = Path(tawt.__file__).parent
VAGUE = {"asked", "carried", "found", "leave", "made", "told", "wanted"}


def definitions(*kinds):
    """Every definition of these kinds, as its name and its place."""
    return [
        (node.name, f"{path.relative_to(SOURCES)}:{node.lineno}")
        for path in sorted(SOURCES.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, kinds)
    ]


def test_no_two_classes_have_one_name():
    places = defaultdict(list)
    for name, place in definitions(ast.ClassDef):
        places[name].append(place)
    assert len(places) > 100
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_functions_and_classes_say_what_they_do_or_are():
    named = definitions(ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    assert [each for each in named if each[0].strip("_").lower() in VAGUE] == []
