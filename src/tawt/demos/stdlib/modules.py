"""The modules of the standard library: where their source is, and what of it is prose."""

from __future__ import annotations

import ast
import hashlib
import re
import sysconfig
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tawt.demos.stdlib.paragraphs import folded

if TYPE_CHECKING:
    from collections.abc import Iterator

_SKIPPED = frozenset(
    {
        *("test", "tests", "idle_test", "site-packages", "dist-packages"),
        *("idlelib", "lib2to3", "turtledemo", "ensurepip", "pydoc_data", "encodings"),
    }
)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_COMMENT = re.compile(r"^\s*#+(?!!)\s?(.*)$")


@dataclass(frozen=True)
class LibraryModule:
    r"""The source of one module.

    Args:
        name: Its path below the library, such as `asyncio/events.py`.
        source: Its text.
        tree: The same, parsed.

    Example:
        >>> source = '"The first paragraph of a module, which is long enough."\n# short\nx = 1'
        >>> module = LibraryModule("a.py", source, ast.parse(source))
        >>> list(module.docstrings()), list(module.comments()), module.code()
        (['The first paragraph of a module, which is long enough.'], [], 'x = 1')
    """

    name: str
    source: str
    tree: ast.Module

    def docstrings(self) -> Iterator[str]:
        """Paragraphs of its docstrings; examples for doctest are none."""
        for node in ast.walk(self.tree):
            if isinstance(node, _DOCUMENTED):
                yield from folded(ast.get_docstring(node) or "")

    def comments(self) -> Iterator[str]:
        """Paragraphs of comments that have lines of their own."""
        lines = [
            "" if number in self._inside_strings else _comment(line)
            for number, line in enumerate(self.source.splitlines(), start=1)
        ]
        yield from folded("\n".join(lines))

    def code(self) -> str:
        """The module without docstrings and comments."""
        bare = ast.parse(self.source)
        for node in ast.walk(bare):
            if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        return ast.unparse(bare)

    @cached_property
    def _inside_strings(self) -> frozenset[int]:
        """Numbers of the lines that a string of several lines covers."""
        return frozenset(
            number
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Constant | ast.JoinedStr)
            for number in range(node.lineno + 1, (node.end_lineno or 0) + 1)
        )


def module_names() -> list[str]:
    """Every module whose source is there, in an order that mixes packages and is always the same.

    Tests, packages that were installed, and tables are left out.
    """
    folder = Path(sysconfig.get_path("stdlib"))
    names = [path.relative_to(folder) for path in folder.rglob("*.py")]
    wanted = [name.as_posix() for name in names if not _SKIPPED.intersection(name.parts)]
    return sorted(wanted, key=lambda name: hashlib.sha256(name.encode()).digest())


def library_module(name: str) -> LibraryModule | None:
    """The module, or none if it is in another encoding or for another Python (a template, say).

    Args:
        name: One of `module_names`.
    """
    content = Path(sysconfig.get_path("stdlib"), name).read_bytes()
    try:
        source = content.decode()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they would be about the library's own source
            return LibraryModule(name, source, ast.parse(source))
    except (SyntaxError, UnicodeDecodeError):
        return None


def package_of(name: str) -> str:
    """The top-level name that a module belongs to.

    Example:
        >>> package_of("asyncio/events.py"), package_of("ssl.py")
        ('asyncio', 'ssl')
    """
    return Path(name).parts[0].removesuffix(".py")


def _comment(line: str) -> str:
    found = _COMMENT.match(line)
    return found[1] if found else ""
