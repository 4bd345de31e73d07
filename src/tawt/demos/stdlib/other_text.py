"""Text that is no module's prose: the language reference, names, tables, and what is generated."""

from __future__ import annotations

import importlib.util
import string
import sys
import sysconfig
import unicodedata
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from tawt.demos.grammar import generate
from tawt.demos.stdlib.paragraphs import folded
from tawt.streams import stream

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_REFERENCE = "pydoc_data.topics"
_AT_ONCE = 200  # sentences


def reference() -> Iterator[str]:
    """Paragraphs of the language reference, which `help()` shows; nothing where it is missing."""
    try:
        missing = importlib.util.find_spec(_REFERENCE) is None
    except ModuleNotFoundError:  # the package above it is missing already
        missing = True
    topics: dict[str, str] = {} if missing else import_module(_REFERENCE).topics
    for name in sorted(topics):
        yield from folded(topics[name])


def characters() -> Iterator[str]:
    """Names of characters, a few to a line; those of the large East Asian blocks say nothing."""
    names = (unicodedata.name(chr(code), "") for code in range(sys.maxunicode + 1))
    listed = [name for name in names if name and not name.startswith(("CJK", "HANGUL SYLLABLE"))]
    for first in range(0, len(listed), 4):
        yield ", ".join(listed[first : first + 4])


def tables() -> Iterator[str]:
    """Lines of the tables by which text in old encodings is decoded."""
    folder = Path(sysconfig.get_path("stdlib"), "encodings")
    for path in sorted(folder.glob("*.py")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
        yield from (line.strip() for line in lines if "->" in line or line.strip().startswith("0x"))


def news() -> Iterator[str]:
    """Sentences of the generated grammar, without end."""
    for part in count():
        for sentence in generate(_AT_ONCE, seed=part, register="news"):
            yield " ".join(sentence.words)


def shuffled(lines: Iterable[str]) -> Iterator[str]:
    """The same lines with the words of each in another order.

    Args:
        lines: Of another corpus.
    """
    draw = stream(0, "library", "shuffled")
    for line in lines:
        words = line.split()
        yield " ".join(words[place] for place in draw.permutation(len(words)))


def letters() -> Iterator[str]:
    """Letters and blanks that mean nothing, without end."""
    draw = stream(0, "library", "letters")
    signs = [*string.ascii_lowercase, *" " * 5]
    while True:
        drawn = draw.integers(len(signs), size=draw.integers(40, 200))
        yield " ".join("".join(signs[place] for place in drawn).split())
