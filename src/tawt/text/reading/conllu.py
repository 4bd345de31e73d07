"""CoNLL-U, the format of Universal Dependencies: a word a line, ten columns between tabs.

The columns are ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS and MISC; `_` stands for
nothing. `docs/decisions/012-conllu.md` says why they are read here and not by a library.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tawt.errors import ConfigError, DataError, suggestion
from tawt.text.reading.checks import checked_word
from tawt.text.reading.documents import Documents
from tawt.text.reading.examples import TaggedSentence
from tawt.text.reading.lines import read_lines
from tawt.text.reading.problems import problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_COLUMNS = 10
_FORM, _LAST = 1, 9
_TAGS = {"upos": 3, "xpos": 4}
_MISC = "misc:"
# Nine digits are plenty: Python refuses to make a number of five thousand.
_WORD = re.compile(r"0|[1-9][0-9]{0,8}")
_MULTIWORD = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_NODE = re.compile(r"[0-9]{1,9}\.[1-9][0-9]{0,8}")
_MOST_KEYS = 100  # as many are remembered, to suggest one


def read_conllu(
    path: Path,
    *,
    tag: str = "upos",
    encoding: str = "utf-8",
    documents: Documents | None = None,
) -> Iterator[TaggedSentence]:
    r"""The sentences of a CoNLL-U file, one by one, as syntactic words.

    Lines of multiword tokens (`1-2`) and of empty nodes (`1.1`) are left out. A word without the
    MISC key that was asked for is tagged `O`, but a file in which no word has it is refused. A
    sentence's group is its document, from the first `# newdoc` on.

    Args:
        path: The file.
        tag: What is the tag: `upos`, `xpos`, or `misc:KEY`.
        encoding: The file's encoding.
        documents: Names documents; its own by default, which begins with the first.

    Raises:
        DataError: If a line has not ten columns, IDs are out of order, or there is no tag.
        ConfigError: If `tag` is none of these.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> lines = ["1-2 au _ _ _", "1 à à ADP _", "2 le le DET _"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "fr.conllu")
        ...     rest = " _ _ _ _ _".replace(" ", "\t")
        ...     _ = path.write_text("".join(x.replace(" ", "\t") + rest + "\n" for x in lines))
        ...     list(read_conllu(path))
        [TaggedSentence(words=('à', 'le'), tags=('ADP', 'DET'), line=2, group=None)]
    """
    tags_of = _Tags(path, tag)
    documents = documents or Documents()
    group: str | None = None
    words: list[str] = []
    tags: list[str] = []
    start = 0
    for number, line in read_lines(path, encoding=encoding):
        if line.startswith("#"):
            group = documents.after(line, group, path=path, line=number)
            continue
        if not line.strip():
            if words:
                yield TaggedSentence(tuple(words), tuple(tags), start, group)
                words, tags = [], []
            continue
        cells = _cells(line.rstrip("\n"), path=path, line=number)
        if not _is_word(cells[0], path=path, line=number):
            continue
        _check_order(int(cells[0]), len(words) + 1, path=path, line=number)
        start = start if words else number
        words.append(checked_word(cells[_FORM], path=path, line=number))
        tags.append(checked_word(tags_of(cells, number), path=path, line=number, what="tag"))
    if words:
        yield TaggedSentence(tuple(words), tuple(tags), start, group)
    tags_of.check_seen()


class _Tags:
    """The tag of a word; remembers which MISC keys there were."""

    def __init__(self, path: Path, tag: str) -> None:
        check_tag(tag)
        self.path = path
        self.key = tag.removeprefix(_MISC) if tag.startswith(_MISC) else None
        self.column = tag
        self.seen: set[str] = set()

    def __call__(self, cells: Sequence[str], line: int) -> str:
        if self.key is not None:
            misc = _misc(cells[_LAST])
            if len(self.seen) < _MOST_KEYS or self.key in misc:
                self.seen.update(misc)
            return misc.get(self.key) or "O"
        tag = cells[_TAGS[self.column]]
        if tag in ("", "_"):
            raise problem(
                self.path,
                line,
                f"the word {shown(cells[_FORM])} has no {self.column.upper()} tag; choose another "
                "`tag`, or fill it in.",
            )
        return tag

    def check_seen(self) -> None:
        if self.key is not None and self.key not in self.seen:
            hint = suggestion(self.key, sorted(self.seen)) if self.seen else "the column is empty."
            raise DataError(f"{self.path}: no word has {self.key!r} in its MISC column; {hint}")


def check_tag(tag: str) -> None:
    """Refuse what names no column of CoNLL-U that can hold a tag.

    Raises:
        ConfigError: If it is not `upos`, `xpos` or `misc:KEY`.

    Example:
        >>> check_tag("misc:NER")
    """
    if tag not in _TAGS and not (tag.startswith(_MISC) and tag != _MISC):
        raise ConfigError(f"`tag` must be upos, xpos or misc:KEY; got {tag!r}.", place=("tag",))


def _cells(text: str, *, path: Path, line: int) -> list[str]:
    cells = text.split("\t")
    if len(cells) != _COLUMNS:
        raise problem(
            path,
            line,
            f"expected {_COLUMNS} columns separated by tabs, as CoNLL-U has; got {len(cells)}: "
            f"{shown(text)}. If this is no CoNLL-U, give `format: columns`.",
        )
    return cells


def _is_word(identity: str, *, path: Path, line: int) -> bool:
    """Whether a line is a word's, and not that of a multiword token or of an empty node."""
    if _WORD.fullmatch(identity):
        return True
    several = _MULTIWORD.fullmatch(identity)
    if (several and int(several[1]) <= int(several[2])) or _EMPTY_NODE.fullmatch(identity):
        return False
    raise problem(path, line, f"{shown(identity)} is no ID of a word; expected 1, 2, …")


def _check_order(found: int, expected: int, *, path: Path, line: int) -> None:
    if found != expected:
        raise problem(
            path,
            line,
            f"the word has ID {found}; expected {expected}. Is there a blank line missing, or one "
            "too many?",
        )


def _misc(cell: str) -> dict[str, str]:
    """The MISC column's `KEY=VALUE|KEY=VALUE`; a value may have `=` in it."""
    parts = (part.partition("=") for part in cell.split("|") if part != "_")
    return {key.strip(): value.strip() for key, _, value in parts}
