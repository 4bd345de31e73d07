"""Column files, as of CoNLL-2000 and CoNLL-2003: a word a line, a blank line after a sentence.

A line that begins with `#` may be a comment or a word, as `#` is a word too. It is taken for a
comment only before the first word of a sentence, and there only if it has another number of
columns than the first line without `#`, or, where columns are separated by blanks, reads
`# key = value`, `# newdoc` or `# newpar`. Within a sentence every line is a word.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.errors import DataError
from tawt.text.reading.checks import checked_word
from tawt.text.reading.documents import Documents
from tawt.text.reading.examples import TaggedSentence
from tawt.text.reading.lines import read_lines
from tawt.text.reading.looking import ColumnSample
from tawt.text.reading.problems import problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLANK = " \t\r\n\f\v"
"""Not every Unicode space: a no-break space may be part of a word."""
RUN = re.compile(r"[ \t]+")
"""What stands between columns, where nothing else is said to."""
METADATA = re.compile(r"#[ \t]+([^ \t]+ = |newdoc\b|newpar\b)")
"""The start of a line that is a comment by what it says."""
DOCUMENT = "-DOCSTART-"
"""The start of a line between documents."""
_LOOKED_AT = 2000  # lines, to see what columns hold


def read_columns(
    path: Path,
    *,
    separator: str | None = None,
    word_column: int | None = None,
    tag_column: int | None = None,
    encoding: str = "utf-8",
    documents: Documents | None = None,
) -> Iterator[TaggedSentence]:
    r"""The sentences of a column file, one by one.

    Args:
        path: The file. `-DOCSTART-` lines are left out; so are comments (see the module). After the
            first of them, or the first `# newdoc`, a sentence's group is its document.
        separator: What stands between columns; by default any run of blanks and tabs.
        word_column: Which column is the word, from 0, or from -1 backwards. By default the first,
            which then must not number the rows.
        tag_column: Which column is the tag; by default the last.
        encoding: The file's encoding.
        documents: Names documents; its own by default, which begins with the first.

    Raises:
        DataError: If lines have different numbers of columns, a word is empty, words are numbers
            that count, and the like.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "train.txt")
        ...     _ = path.write_text("EU NNP B-ORG\nrejects VBZ O\n\n! . O\n")
        ...     for sentence in read_columns(path):
        ...         print(sentence)
        TaggedSentence(words=('EU', 'rejects'), tags=('B-ORG', 'O'), line=1, group=None)
        TaggedSentence(words=('!',), tags=('O',), line=4, group=None)
    """
    _check_words(path, separator, encoding, word_column, tag_column)
    columns = _Columns.chosen(path, separator, word_column, tag_column)
    width = _width(columns, encoding)
    documents = documents or Documents()
    group: str | None = None
    words: list[str] = []
    tags: list[str] = []
    start = 0
    for number, line in read_lines(path, encoding=encoding):
        if not line.strip(BLANK) or line.startswith(DOCUMENT):
            if words:
                yield TaggedSentence(tuple(words), tuple(tags), start, group)
                words, tags = [], []
            if line.startswith(DOCUMENT):
                group = documents.begin(path=path, line=number)
            continue
        cells = columns.split(line)
        if not words:
            if columns.is_comment(line, cells, width):
                group = documents.after(line, group, path=path, line=number)
                continue
            start = number
        width = width or len(cells)
        word, tag = columns.pick(cells, width, number, encoding=encoding)
        words.append(word)
        tags.append(tag)
    if words:
        yield TaggedSentence(tuple(words), tuple(tags), start, group)


def sample_columns(
    path: Path, *, separator: str | None = None, encoding: str = "utf-8"
) -> ColumnSample:
    """The first sentences of a file, as they would be split; nothing in them is checked.

    Args:
        path: The file.
        separator: What stands between columns; by default any run of blanks and tabs.
        encoding: The file's encoding.
    """
    columns = _Columns.chosen(path, separator, None, None)
    sentences: list[list[list[str]]] = [[]]
    for _, line in itertools.islice(read_lines(path, encoding=encoding), _LOOKED_AT):
        if not line.strip(BLANK) or line.startswith(DOCUMENT):
            sentences.append([])
        elif sentences[-1] or not line.startswith("#"):
            sentences[-1].append(columns.split(line))
    return ColumnSample([rows for rows in sentences if rows])


def suggestion_for(sample: ColumnSample) -> str:
    """Which columns to name instead, and what they hold; empty where nothing can be said."""
    word, tag = sample.suggested()
    if word is None or tag is None:
        return ""
    return (
        f"`word_column: {word}` (with {sample.described(word)}) and `tag_column: {tag}` (with "
        f"{sample.described(tag)})"
    )


def _check_words(
    path: Path,
    separator: str | None,
    encoding: str,
    word_column: int | None,
    tag_column: int | None,
) -> None:
    if word_column is not None:
        return
    sample = sample_columns(path, separator=separator, encoding=encoding)
    if not sample.counts(0):
        return
    word, _ = sample.suggested()
    instead = suggestion_for(sample) if tag_column is None else ""
    if not instead and word is not None:
        instead = f"`word_column: {word}` (with {sample.described(word)})"
    raise DataError(
        f"{path}: the first column holds running numbers ({sample.described(0)}, …), and words "
        f"were expected there; give {instead or 'the `word_column`'}. If these are the words, say "
        "so with "
        "`word_column: 0`."
    )


@dataclass(frozen=True)
class _Columns:
    path: Path
    separator: str | None
    word: int
    tag: int

    @classmethod
    def chosen(
        cls, path: Path, separator: str | None, word: int | None, tag: int | None
    ) -> _Columns:
        return cls(path, separator, word or 0, -1 if tag is None else tag)

    def split(self, line: str) -> list[str]:
        line = line.rstrip("\n")
        if self.separator is None:
            return RUN.split(line.strip(BLANK))
        return [cell.strip(BLANK) for cell in line.split(self.separator)]

    def is_comment(self, line: str, cells: list[str], width: int | None) -> bool:
        if not line.startswith("#"):
            return False
        if self.separator is None and METADATA.match(line):
            return True
        # Without any line that does not begin with "#", two columns are a word and its tag.
        return len(cells) < 2 if width is None else len(cells) != width

    def pick(self, cells: list[str], width: int, line: int, *, encoding: str) -> tuple[str, str]:
        if len(cells) != width or width < 2:
            raise self.ragged(cells, width, line, encoding=encoding)
        for name, index in (("word_column", self.word), ("tag_column", self.tag)):
            if not -width <= index < width:
                raise problem(
                    self.path,
                    line,
                    f"`{name}` is {index}, but there are {width} columns; expected {-width} to "
                    f"{width - 1}.",
                )
        if self.word % width == self.tag % width:
            raise problem(
                self.path,
                line,
                f"`word_column` {self.word} and `tag_column` {self.tag} are the same of {width} "
                "columns; choose two.",
            )
        tag = checked_word(cells[self.tag], path=self.path, line=line, what="tag")
        if RUN.search(tag):
            raise problem(
                self.path,
                line,
                f"the tag {shown(tag)} has a blank in it; if columns are separated by blanks, give "
                "`separator: whitespace`.",
            )
        return checked_word(cells[self.word], path=self.path, line=line), tag

    def ragged(self, cells: list[str], width: int, line: int, *, encoding: str) -> DataError:
        """What to say of a line that has another number of columns than the first."""
        between = "blanks or tabs" if self.separator is None else repr(self.separator)
        remedy = "Mend the line, or give the file's `separator`."
        if self.separator is None and (by_tabs := _width_by_tabs(self.path, encoding)):
            remedy = f"With tabs alone between them every line has {by_tabs}, and blanks are part "
            remedy += "of words: give `separator: tab`."
        return problem(
            self.path,
            line,
            f"expected {width if width > 1 else 'at least 2'} columns separated by {between}; "
            f"got {len(cells)}: {shown((self.separator or ' ').join(cells))}. {remedy}",
        )


def _width_by_tabs(path: Path, encoding: str) -> int | None:
    """How many columns every line has if they are cut at tabs, where that is the same number."""
    sample = sample_columns(path, separator="\t", encoding=encoding)
    widths = {len(cells) for rows in sample.sentences for cells in rows}
    return widths.pop() if len(widths) == 1 and min(widths) > 1 else None


def _width(columns: _Columns, encoding: str) -> int | None:
    """How many columns the file has: as its first line that is surely no comment."""
    for _, line in read_lines(columns.path, encoding=encoding):
        if line.strip(BLANK) and not line.startswith(("#", DOCUMENT)):
            return len(columns.split(line))
    return None
