"""OntoNotes 5.0 in the form of CoNLL-2012 (files named `*_conll`).

Columns: document, part, number, word, part of speech, parse, predicate lemma, frameset, sense,
speaker, named entity, one for each predicate's arguments, coreference. Their number differs from
sentence to sentence, never within one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tawt.errors import ConfigError
from tawt.text.reading.checks import checked_word
from tawt.text.reading.documents import Documents
from tawt.text.reading.examples import TaggedSentence
from tawt.text.reading.lines import read_lines
from tawt.text.reading.problems import problem, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LAYERS = ("pos", "predicate", "ner")
_WORD, _POS, _FRAMESET, _ENTITY = 3, 4, 7, 10
_FEWEST = 12  # eleven, and coreference
_ENTITY_BEGINS = re.compile(r"\(([^()*\s]+)(\*|\*?\))")
_DOCUMENT_BEGINS = re.compile(r"#begin document\b[ \t]*(?:\((.*)\))?")
_Row = tuple[int, list[str]]


def read_ontonotes(
    path: Path,
    *,
    layer: str = "pos",
    encoding: str = "utf-8",
    documents: Documents | None = None,
) -> Iterator[TaggedSentence]:
    r"""The sentences of a CoNLL-2012 file, one by one.

    A sentence's group is its document; the parts of a document are one group.

    Args:
        path: The file.
        layer: What is the tag. `pos`: the part of speech. `predicate`: `B-V` for a word that has
            a frameset, else `O`; the lemma column is filled also for nouns that have a word
            sense but no frameset, and those are no predicates of the semantic roles. `ner`: named
            entities in IOB2.
        encoding: The file's encoding.
        documents: Names documents; its own by default, which begins with the first.

    Raises:
        DataError: If rows of a sentence differ in length, brackets are nested or never closed, or
            the words are still `[WORD]`.
        ConfigError: If there is no such layer.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> rows = ["d 0 0 Ann NNP * - - - - (PERSON) -", "d 0 1 ran VBD * run 01 - - * -"]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "d.v4_gold_conll")
        ...     _ = path.write_text("#begin document (d);\n" + "\n".join(rows) + "\n")
        ...     next(read_ontonotes(path, layer="ner"))
        ...     next(read_ontonotes(path, layer="predicate")).tags
        TaggedSentence(words=('Ann', 'ran'), tags=('B-PERSON', 'O'), line=2, group='d')
        ('O', 'B-V')
    """
    check_layer(layer)
    documents = documents or Documents()
    group: str | None = None
    rows: list[_Row] = []
    for number, line in read_lines(path, encoding=encoding):
        cells = line.split()
        if not cells or line.startswith("#"):
            if rows:
                yield _sentence(rows, path, layer, group)
                rows = []
            if begins := _DOCUMENT_BEGINS.match(line):
                group = documents.begin(begins[1] or "", path=path, line=number)
            continue
        _check_width(cells, rows, path=path, line=number)
        rows.append((number, cells))
    if rows:
        yield _sentence(rows, path, layer, group)


def check_layer(layer: str) -> None:
    """Refuse a layer that there is not.

    Raises:
        ConfigError: If it is not one of `LAYERS`.

    Example:
        >>> check_layer("ner")
    """
    if layer not in LAYERS:
        raise ConfigError(
            f"`layer` must be one of {', '.join(LAYERS)}; got {layer!r}.", place=("layer",)
        )


def _check_width(cells: list[str], rows: Sequence[_Row], *, path: Path, line: int) -> None:
    expected = len(rows[0][1]) if rows else _FEWEST
    if len(cells) < _FEWEST or (rows and len(cells) != expected):
        raise problem(
            path,
            line,
            f"expected {'' if rows else 'at least '}{expected} columns, as CoNLL-2012 has; got "
            f"{len(cells)}: {shown(' '.join(cells))}. Mend the line, or give another `format`.",
        )


def _sentence(rows: Sequence[_Row], path: Path, layer: str, group: str | None) -> TaggedSentence:
    words = [checked_word(cells[_WORD], path=path, line=line) for line, cells in rows]
    if all(word == "[WORD]" for word in words):
        raise problem(
            path,
            rows[0][0],
            "the words are not filled in ([WORD]); run skeleton2conll on your copy of OntoNotes.",
        )
    if layer == "pos":
        tags = [checked_word(cells[_POS], path=path, line=line) for line, cells in rows]
    elif layer == "predicate":
        tags = ["O" if cells[_FRAMESET] == "-" else "B-V" for _, cells in rows]
    else:
        tags = _entities(rows, path)
    return TaggedSentence(tuple(words), tuple(tags), rows[0][0], group)


def _entities(rows: Sequence[_Row], path: Path) -> list[str]:
    """IOB2 from brackets: `(ORG*`, `*`, `*)` is three words, `(GPE)` one."""
    tags: list[str] = []
    inside = ""
    for line, cells in rows:
        cell = cells[_ENTITY]
        begins = _ENTITY_BEGINS.fullmatch(cell)
        if begins and not inside:
            tags.append(f"B-{begins[1]}")
            inside = "" if cell.endswith(")") else begins[1]
        elif cell in {"*", "*)"} and inside:
            tags.append(f"I-{inside}")
            inside = "" if cell == "*)" else inside
        elif cell in {"*", "-"} and not inside:
            tags.append("O")
        else:
            within = f"inside {inside}" if inside else "outside any entity"
            raise problem(
                path,
                line,
                f"the named entity {shown(cell)} cannot stand {within}; expected (TYPE*, *, *) or "
                "(TYPE), not nested.",
            )
    if inside:
        raise problem(path, rows[-1][0], f"the sentence ends inside {inside}; expected *) before.")
    return [checked_word(tag, path=path, line=rows[0][0]) for tag in tags]
