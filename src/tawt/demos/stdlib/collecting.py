"""The corpora of the demonstration: a small target, and the sources that might help it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tawt.demos.stdlib import other_text
from tawt.demos.stdlib.modules import library_module, module_names, package_of
from tawt.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tawt.demos.stdlib.modules import LibraryModule

TARGET, NEAR = "network", "docstrings"
"""Names of the target, and of the source that the demonstration cannot do without."""

_PACKAGES = frozenset(
    {
        *("asyncio", "concurrent", "email", "ftplib", "http", "imaplib", "poplib", "select"),
        *("selectors", "smtplib", "socket", "socketserver", "ssl", "urllib", "wsgiref", "xmlrpc"),
    }
)
"""Modules of networks: the target is made of their docstrings, and no source of anything theirs."""

_TARGET_LINES = 200
_LEAST, _MOST = 100_000, 400_000  # bytes of a source
_GENERATED = 200_000  # of one whose sentences take their time
_LEAST_HELD_OUT = 10_000  # bytes of dev and of test


@dataclass(frozen=True)
class Collected:
    """Lines of text, a paragraph each.

    Example:
        >>> Collected(target={"train": ["It opens a socket."]}, sources={}).target["train"]
        ['It opens a socket.']
    """

    target: Mapping[str, list[str]]
    """By split: train (about 200), dev, test."""
    sources: Mapping[str, list[str]]
    """By name."""


@dataclass
class _Corpus:
    """Lines that are added until there are enough."""

    most: int = _MOST
    lines: list[str] = field(default_factory=list)
    size: int = 0

    @property
    def is_full(self) -> bool:
        return self.size >= self.most

    def add(self, lines: Iterable[str]) -> None:
        for line in lines:
            if self.is_full:
                return
            self.lines.append(line)
            self.size += _size([line])


def collected() -> Collected:
    """The target and its sources; the same ones on every machine with this version of Python.

    The target is made of docstrings of network modules, and its splits are of different modules.
    No source has text of these modules. A source of which there is too little is left out.

    Raises:
        DataError: There are too few docstrings: the library's source is not installed.
    """
    network, prose = _read_modules()
    target = _split(network)
    sources = dict(_others(prose, held={line for lines in target.values() for line in lines}))
    too_few = len(target["train"]) < _TARGET_LINES or NEAR not in sources
    if too_few or any(_size(target[split]) < _LEAST_HELD_OUT for split in ("dev", "test")):
        raise DataError(
            "The corpora are made from the docstrings of Python's standard library, and there are "
            f"too few: {_size(prose[NEAR].lines):,} bytes, expected at least {_LEAST:,}. Use a "
            "Python whose library is installed as .py files, docstrings included."
        )
    return Collected(target, sources)


def _read_modules() -> tuple[list[LibraryModule], dict[str, _Corpus]]:
    """The modules of networks, and the prose and code of enough others."""
    network, prose = [], {name: _Corpus() for name in (NEAR, "comments", "code")}
    for name in module_names():
        is_network = package_of(name) in _PACKAGES
        if not is_network and all(corpus.is_full for corpus in prose.values()):
            continue
        module = library_module(name)
        if module is None:
            continue
        if is_network:
            network.append(module)
            continue
        prose[NEAR].add(module.docstrings())
        prose["comments"].add(module.comments())
        if not prose["code"].is_full:
            prose["code"].add(filter(None, module.code().splitlines()))
    return network, prose


def _split(modules: list[LibraryModule]) -> dict[str, list[str]]:
    """Docstrings of every other module to train on, of the others to hold out."""
    held_out: dict[str, None] = {}
    found: dict[str, list[str]] = {}
    for split, first, every in (("test", 1, 4), ("dev", 3, 4), ("train", 0, 2)):
        lines = [line for module in modules[first::every] for line in module.docstrings()]
        found[split] = [line for line in dict.fromkeys(lines) if line not in held_out]
        held_out |= dict.fromkeys(found[split])
    train = found["train"]
    wanted = min(_TARGET_LINES, len(train))
    found["train"] = [train[place * len(train) // wanted] for place in range(wanted)]
    return found


def _others(prose: Mapping[str, _Corpus], *, held: set[str]) -> Iterator[tuple[str, list[str]]]:
    """All sources that are large enough, without lines of the target."""
    corpora = dict(prose)
    for name, text in (
        ("reference", other_text.reference()),
        ("characters", other_text.characters()),
        ("tables", other_text.tables()),
        ("letters", other_text.letters()),
    ):
        corpora[name] = _Corpus()
        corpora[name].add(text)
    news = _Corpus(_GENERATED)
    news.add(other_text.news())
    corpora |= {"news": news, "shuffled": _Corpus(lines=[*other_text.shuffled(news.lines)])}
    for name, corpus in corpora.items():
        lines = [line for line in _once(name, corpus.lines) if line not in held]
        if _size(lines) >= _LEAST:
            yield name, lines


def _once(name: str, lines: list[str]) -> list[str]:
    """Prose without what it repeats, such as licences; code is left as it is."""
    return lines if name == "code" else list(dict.fromkeys(lines))


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)
