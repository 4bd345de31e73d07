"""Small valid files of every format, and what can happen to them.

A case is drawn from a seed alone: a format, one of its files, and a few mutations of its bytes, of
its lines or of what it means.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import random

COLUMNS = (
    "EU NNP B-ORG\nrejects VBZ O\nGerman JJ B-MISC\n\n"
    "Peter NNP B-PER\nBlackburn NNP I-PER\n\nBrussels NNP B-LOC\n, , O\nfive CD O\n"
)
CONLLU = "".join(
    "\t".join([number, form, form.lower(), upos, xpos, "_", "_", "_", "_", misc]) + "\n"
    if number
    else "\n"
    for number, form, upos, xpos, misc in [
        ("1-2", "du", "_", "_", "_"),
        ("1", "de", "ADP", "P", "NER=O"),
        ("2", "le", "DET", "D", "NER=B-X|SpaceAfter=No"),
        ("", "", "", "", ""),
        ("1", "Anna", "PROPN", "N", "NER=B-PER"),
        ("2", "court", "VERB", "V", "_"),
    ]
)
ONTONOTES = (
    "#begin document (bc/cctv);\n"
    "bc/cctv 0 0 Ann NNP (TOP* - - - - (PERSON) * -\n"
    "bc/cctv 0 1 ran VBD *) run 01 - - * (V*) -\n\n"
    "bc/cctv 0 0 New NNP * - - - - (GPE* -\n"
    "bc/cctv 0 1 York NNP * - - - - *) -\n#end document\n"
)


def lines_of(*records):
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)


TAGGED = lines_of(
    {"tokens": ["EU", "rejects"], "tags": ["B-ORG", "O"]},
    {"tokens": ["Peter", "naïve", "日本"], "tags": ["B-PER", "O", "I-LOC"]},
    {"tokens": ["."], "tags": ["O"]},
)
LABELLED = lines_of(
    {"text": "good", "label": "pos"}, {"text": "so bad", "label": 0}, {"text": "ok", "label": 1.0}
)
PAIRS = lines_of(
    {"premise": "a b", "hypothesis": "b", "label": "yes"},
    {"premise": "c", "hypothesis": "d", "label": "no"},
)
NUMBERS = lines_of({"text": "good", "label": 4.5}, {"text": "bad", "label": "-1e3"})
TABLE = 'text,label\r\n"Good, ""very""\ngood",pos\r\nBad,neg\r\n'
WIDE = "sentence1\tsentence2\tlabel\na b\tb\t1\nc\td\t0\n"
TOKENS = "tokens,tags\nEU rejects,B-ORG O\nPeter,B-PER\n"


@dataclass(frozen=True)
class Format:
    """A format with a file of it.

    Attributes:
        name: Of the file.
        content: Of the file.
        kind: Of the task.
        options: Of the command line.
    """

    name: str
    content: bytes
    kind: str = "tagging"
    options: tuple = ()


FORMATS = [
    Format("train.txt", COLUMNS.encode()),
    Format("train.tsv", COLUMNS.replace(" ", "\t").encode()),
    Format("train.txt", COLUMNS.encode(), options=("--tag-column", "1")),
    Format("train.conllu", CONLLU.encode()),
    Format("train.conllu", CONLLU.encode(), options=("--tag", "misc:NER")),
    Format("train.gold_conll", ONTONOTES.encode(), options=("--layer", "ner")),
    Format("train.gold_conll", ONTONOTES.encode(), options=("--layer", "predicate")),
    Format("train.jsonl", TAGGED.encode()),
    Format("train.jsonl", LABELLED.encode(), "classification"),
    Format("train.jsonl", PAIRS.encode(), "pair"),
    Format("train.jsonl", NUMBERS.encode(), "regression"),
    Format("train.csv", TABLE.encode(), "classification"),
    Format("train.csv", TOKENS.encode()),
    Format("train.tsv", WIDE.encode(), "pair"),
    Format("train.tsv", WIDE.encode(), "regression", ("--quote", "")),
    Format("train", COLUMNS.encode("utf-16"), options=("--encoding", "utf-16")),
    Format("train.txt", COLUMNS.encode("latin-1"), options=("--encoding", "latin-1")),
]

SPECIAL = [
    *(b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xc2\x85", b"\xe2\x80\xa8", b"\r"),
    *(b"\x1b[31m", b"\x1b]0;owned\x07", b"\x9b2J", b"\x0b", b"\x0c", b"\x1c", b"\xc2\xa0", b'"'),
    *(
        b"#",
        b"# newdoc id = x\n",
        b"-DOCSTART- -X- O\n",
        b"\n\n\n",
        b"\t\t",
        b"\\ud800",
        b"\\u0000",
    ),
    *(b"NaN", b"-Infinity", b"1e999", b"null", b"true", b"{", b"}", b"[" * 3000, b"9" * 5000),
    *(b"I-", b"E-X", b"1.1", b"0", b"-1", b"x" * 20000, b" " * 20000, b"=" * 300, b"|a=b|"),
    *("\u202e".encode(), "\ud83d".encode("utf-8", "surrogatepass"), "é".encode("latin-1")),
]


def mutated(draw: random.Random, content: bytes, others: list[bytes]) -> bytes:
    """The content after a few things went wrong."""
    changes = [*_OF_BYTES, *_OF_LINES, *_OF_MEANING]
    for _ in range(draw.choice([0, 1, 1, 1, 2, 2, 3, 5])):
        content = draw.choice(changes)(draw, content, others)
    return content


def _flip(draw, content, others):
    if not content:
        return content
    at = draw.randrange(len(content))
    return content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]


def _span(draw, content):
    start = draw.randint(0, len(content))
    return start, min(len(content), start + draw.choice([1, 2, 5, 20, 1000]))


def _truncate(draw, content, others):
    return content[: draw.randint(0, len(content))]


def _delete(draw, content, others):
    start, end = _span(draw, content)
    return content[:start] + content[end:]


def _duplicate(draw, content, others):
    start, end = _span(draw, content)
    return content[:end] + content[start:end] * draw.choice([1, 1, 30]) + content[end:]


def _splice(draw, content, others):
    start, end = _span(draw, content)
    other = draw.choice(others)
    a, b = _span(draw, other)
    return content[:start] + other[a:b] + content[end:]


def _insert(draw, content, others):
    at = draw.randint(0, len(content))
    return content[:at] + draw.choice(SPECIAL) + content[at:]


def _at_start(draw, content, others):
    return draw.choice(SPECIAL) + content


def _lines(function):
    def changed(draw, content, others):
        lines = content.split(b"\n")
        function(draw, lines)
        return b"\n".join(lines)

    return changed


@_lines
def _drop_line(draw, lines):
    del lines[draw.randrange(len(lines))]


@_lines
def _twice(draw, lines):
    at = draw.randrange(len(lines))
    lines.insert(at, lines[at])


@_lines
def _swap(draw, lines):
    a, b = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


@_lines
def _blank(draw, lines):
    lines.insert(draw.randint(0, len(lines)), draw.choice([b"", b" ", b"\t", b"\xc2\xa0"]))


@_lines
def _no_blanks(draw, lines):
    lines[:] = [line for line in lines if line.strip()]


@_lines
def _extra_cell(draw, lines):
    at = draw.randrange(len(lines))
    lines[at] += draw.choice([b" x", b"\tx", b",x", b"\t"])


@_lines
def _missing_cell(draw, lines):
    at = draw.randrange(len(lines))
    between = draw.choice([b"\t", b" ", b","])
    lines[at] = lines[at].rpartition(between)[0]


def _ends(draw, content, others):
    return content.replace(b"\n", draw.choice([b"\r\n", b"\r", b"\n\r", b"\n\n"]))


def _recoded(draw, content, others):
    name = draw.choice(["utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7", "latin-1"])
    return content.decode("utf-8", "replace").encode(name, "replace")


@_lines
def _numbered(draw, lines):
    number = 0
    for at, line in enumerate(lines):
        number = number + 1 if line.strip() else 0
        lines[at] = b"%d\t%s" % (number, line) if line.strip() else line


@_lines
def _one_label(draw, lines):
    for at, line in enumerate(lines):
        if line.strip():
            lines[at] = line + draw.choice([b"\ts", b" s"])


def _nothing(draw, content, others):
    return draw.choice([b"", b"\n", b"\n\n\n", b"#\n", b"-DOCSTART-\n", b"\xef\xbb\xbf"])


_OF_BYTES = [_flip, _flip, _truncate, _delete, _duplicate, _splice, _insert, _insert, _at_start]
_OF_LINES = [
    *(_drop_line, _twice, _swap, _blank, _no_blanks, _extra_cell, _missing_cell),
    *(_ends, _recoded),
]
_OF_MEANING = [_numbered, _one_label, _nothing]


def archive(**arrays) -> bytes:
    """An `.npz` file."""
    file = io.BytesIO()
    (np.savez_compressed if len(arrays["labels"]) % 2 else np.savez)(file, **arrays)
    return file.getvalue()


def arrays(draw: random.Random) -> bytes:
    """An `.npz` file of any type and shape, most of them strange."""
    rows = draw.choice([1, 2, 6, 6, 7])
    shape = draw.choice([(rows, 4), (rows, 4), (rows, 0), (rows,), (rows, 2, 2), (rows + 1, 4), ()])
    types = ["<f4", "<f4", ">f8", "g", "?", "u8", "c8", "S3", "U2", "M8[s]", "f2", "i1"]
    inputs = np.arange(int(np.prod(shape))).reshape(shape).astype(draw.choice(types))
    if inputs.dtype.kind == "f" and inputs.size and draw.random() < 0.2:
        inputs[(0,) * inputs.ndim] = draw.choice([np.nan, np.inf, -np.inf, 6e4])
    labels = np.array([draw.choice([0, 1, 2]) for _ in range(rows)])
    labels = labels.astype(draw.choice(["<i8", "<i8", ">i4", "u1", "f8", "g", "U1", "?"]))
    if draw.random() < 0.1:
        labels = np.full(rows, draw.choice([0, -1, 2**40]))
    names = {"inputs": inputs, "labels": labels}
    if draw.random() < 0.2:
        names["groups"] = draw.choice([labels, np.array(["a"] * rows), np.zeros((rows, 2))])
    if draw.random() < 0.1:
        names["label"] = names["inputs"]
        del names["inputs"]
    return archive(**names)
