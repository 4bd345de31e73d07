"""CoNLL-U, the format of Universal Dependencies.

Each line is parsed by the `conllu` library. Its incremental parser works on whole sentences and
forgets which line they came from, so lines are grouped into sentences here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from conllu.exceptions import ParseException
from conllu.parser import DEFAULT_FIELDS, parse_id_value, parse_line, parse_nullable_value

from tawt.errors import ConfigError, DataError, suggestion
from tawt.text.reading.checks import checked_word
from tawt.text.reading.documents import Documents
from tawt.text.reading.examples import TaggedSentence
from tawt.text.reading.lines import read_lines
from tawt.text.reading.problems import problem, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conllu.models import Token

_MISC = "misc:"
_BLANKS = re.compile(r" {2,}")  # the library would take them for a tab
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
        token = _token(line.rstrip("\n"), path=path, line=number)
        if isinstance(token["id"], tuple):  # a multiword token or an empty node
            continue
        _check_order(token["id"], len(words) + 1, path=path, line=number)
        start = start if words else number
        words.append(checked_word(token["form"], path=path, line=number))
        tags.append(checked_word(tags_of(token, number), path=path, line=number, what="tag"))
    if words:
        yield TaggedSentence(tuple(words), tuple(tags), start, group)
    tags_of.check_seen()


class _Tags:
    """The tag of a token; remembers which MISC keys there were."""

    def __init__(self, path: Path, tag: str) -> None:
        check_tag(tag)
        self.path = path
        self.key = tag.removeprefix(_MISC) if tag.startswith(_MISC) else None
        self.column = tag
        self.seen: set[str] = set()

    def __call__(self, token: Token, line: int) -> str:
        if self.key is not None:
            misc = token["misc"]
            if len(self.seen) < _MOST_KEYS or self.key in misc:
                self.seen.update(misc)
            return misc.get(self.key) or "O"
        tag = parse_nullable_value(token[self.column])
        if tag is None:
            raise problem(
                self.path,
                line,
                f"the word {shown(token['form'])} has no {self.column.upper()} tag; choose another "
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
    if tag not in {"upos", "xpos"} and not (tag.startswith(_MISC) and tag != _MISC):
        raise ConfigError(f"`tag` must be upos, xpos or misc:KEY; got {tag!r}.", place=("tag",))


def _token(text: str, *, path: Path, line: int) -> Token:
    cells = text.split("\t")
    if len(cells) != len(DEFAULT_FIELDS):
        raise problem(
            path,
            line,
            f"expected {len(DEFAULT_FIELDS)} columns separated by tabs, as CoNLL-U has; got "
            f"{len(cells)}: {shown(text)}. If this is no CoNLL-U, give `format: columns`.",
        )
    parsers: dict[str, Callable[[list[str], int], Any]] = {"id": _id, "misc": _misc}
    try:
        return parse_line(_BLANKS.sub(" ", text), DEFAULT_FIELDS, parsers)
    except (ParseException, ValueError) as error:  # a ValueError from an ID of endless digits
        raise problem(
            path, line, f"{shown(cells[0])} is no ID of a word; expected 1, 2, …"
        ) from error


def _id(cells: list[str], index: int) -> int | tuple[int, str, int]:
    value = parse_id_value(cells[index])
    if value is None:
        raise ParseException("there is no ID")
    return value


def _check_order(found: int, expected: int, *, path: Path, line: int) -> None:
    if found != expected:
        raise problem(
            path,
            line,
            f"the word has ID {found}; expected {expected}. Is there a blank line missing, or one "
            "too many?",
        )


def _misc(cells: list[str], index: int) -> dict[str, str]:
    """The MISC column; the library's own parser cuts a value short at a second `=`."""
    parts = (part.partition("=") for part in cells[index].split("|") if part != "_")
    return {key.strip(): value.strip() for key, _, value in parts}
