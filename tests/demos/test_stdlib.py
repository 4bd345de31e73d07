"""Corpora from the standard library: as described, apart from each other, and the same again."""

import ast
import sysconfig
from collections import Counter
from pathlib import Path

import pytest

from tawt.demos.stdlib import collected, collecting, other_text
from tawt.demos.stdlib.modules import LibraryModule, library_module, module_names, package_of
from tawt.demos.stdlib.paragraphs import folded
from tawt.errors import DataError

SOURCE = '''\
#!/usr/bin/env python
"""Title.

The first paragraph of the module, which goes on
over two lines.

>>> 1 + 1  # an example is not prose, however long it may be
2
"""
# A comment that has a line of its own and goes
# on over two lines.
TEXT = """
# what begins like a comment inside of a string is none at all
"""


def double(number):  # a comment beside code is not taken
    """Twice the number that is given, which is a short docstring."""
    return 2 * number


class Empty:
    """A class that has a docstring and nothing else whatsoever."""
'''
MODULE = LibraryModule("package/inner.py", SOURCE, ast.parse(SOURCE))


@pytest.fixture(scope="module")
def found():
    return collected()


def size(lines):
    return len("".join(f"{line}\n" for line in lines).encode())


def test_docstrings_are_folded_to_a_line_a_paragraph():
    assert list(MODULE.docstrings()) == [
        "The first paragraph of the module, which goes on over two lines.",
        "Twice the number that is given, which is a short docstring.",
        "A class that has a docstring and nothing else whatsoever.",
    ]


def test_comments_are_those_with_lines_of_their_own():
    assert list(MODULE.comments()) == [
        "A comment that has a line of its own and goes on over two lines."
    ]


def test_code_has_neither_docstrings_nor_comments():
    code = MODULE.code()
    assert "docstring" not in code
    assert "comment that" not in code
    names = {node.name for node in ast.parse(code).body if hasattr(node, "name")}
    assert names == {"double", "Empty"}
    assert package_of(MODULE.name) == "package"


@pytest.mark.parametrize("text", ["", "Short.", "=" * 60, "x" * 3000, ">>> " + "word " * 20])
def test_what_is_no_prose_is_left_out(text):
    assert list(folded(text)) == []


def test_sources_are_as_large_as_described(found):
    assert {"docstrings", "comments", "code", "characters", "news", "shuffled", "letters"} <= set(
        found.sources
    )
    for name, lines in found.sources.items():
        assert 100_000 <= size(lines) <= 402_500, name
        assert all(line.strip() == line or name == "code" for line in lines), name
        assert not any("\n" in line or not line for line in lines), name


def test_the_target_is_small_and_its_test_text_stands_nowhere_else(found):
    assert len(found.target["train"]) == 200
    assert size(found.target["train"]) < 50_000
    for split in ("dev", "test"):
        assert size(found.target[split]) > 20_000
        held = set(found.target[split])
        assert len(held) == len(found.target[split])
        others = {name: part for name, part in found.target.items() if name != split}
        for name, lines in {**found.sources, **others}.items():
            assert not held.intersection(lines), (split, name)


def test_splits_are_of_different_modules_and_no_source_has_these(found):
    names = module_names()
    assert len(set(names)) == len(names)
    network = [name for name in names if package_of(name) in collecting._PACKAGES]
    modules = [module for module in map(library_module, network) if module is not None]
    test = {line for module in modules[1::4] for line in module.docstrings()}
    assert set(found.target["test"]) == test
    train = {line for module in modules[::2] for line in module.docstrings()}
    assert set(found.target["train"]) < train
    own = {line for module in modules for line in module.code().splitlines() if len(line) > 90}
    assert own
    assert not own.intersection(found.sources["code"])


def test_useless_sources_are_useless(found):
    news, shuffled = found.sources["news"], found.sources["shuffled"]
    assert Counter(" ".join(news[:500]).split()) == Counter(" ".join(shuffled[:500]).split())
    assert sum(a == b for a, b in zip(news, shuffled, strict=False)) < 0.01 * len(news)
    letters = Counter("".join(found.sources["letters"]).replace(" ", ""))
    assert len(letters) == 26
    assert max(letters.values()) < 1.1 * min(letters.values())


def test_no_test_and_no_installed_package_is_read():
    skipped = {"test", "tests", "site-packages", "dist-packages"}
    assert not any(skipped.intersection(Path(name).parts) for name in module_names())


def test_it_is_the_same_again_but_for_a_source_that_this_python_does_not_have(monkeypatch, found):
    monkeypatch.setattr(other_text, "_REFERENCE", "pydoc_data_that_is_not_there.topics")
    again = collected()
    assert again.target == found.target
    kept = [name for name in found.sources if name != "reference"]
    assert list(again.sources) == kept
    assert all(again.sources[name] == found.sources[name] for name in kept)


def test_a_library_without_source_is_refused(monkeypatch, tmp_path):
    (tmp_path / "encodings").mkdir()
    (tmp_path / "os.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "template.py").write_text("#! @PYTHON@\nx = @value@ @\n", encoding="utf-8")
    (tmp_path / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nx = '\xe4'\n")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    read = {name: library_module(name) for name in module_names()}
    assert {name for name, module in read.items() if module is not None} == {"os.py"}
    assert set(read) == {"os.py", "template.py", "latin.py"}
    with pytest.raises(DataError, match=r"installed as \.py files") as raised:
        collected()
    assert "0 bytes" in str(raised.value)
