"""Labelled text files, read line by line and exact about where a problem is."""

from tawt.text.reading.columns import read_columns
from tawt.text.reading.conllu import read_conllu
from tawt.text.reading.doubts import doubts
from tawt.text.reading.examples import KINDS, Example, LabelledText, TaggedSentence, TaskKind
from tawt.text.reading.formats import read
from tawt.text.reading.guessing import guess_format
from tawt.text.reading.hub import read_hub
from tawt.text.reading.iob import Invalid, TagCounts, check_tags, is_iob
from tawt.text.reading.jsonl import read_jsonl
from tawt.text.reading.ontonotes import LAYERS, read_ontonotes
from tawt.text.reading.options import FORMATS, ReadOptions
from tawt.text.reading.previews import preview
from tawt.text.reading.report import ReadReport, labels_of
from tawt.text.reading.splits import SplitFiles, Splits, load
from tawt.text.reading.tables import read_table
from tawt.text.reading.writing import (
    columns_text,
    csv_text,
    jsonl_text,
    write_columns,
    write_csv,
    write_jsonl,
)

__all__ = [
    "FORMATS",
    "KINDS",
    "LAYERS",
    "Example",
    "Invalid",
    "LabelledText",
    "ReadOptions",
    "ReadReport",
    "SplitFiles",
    "Splits",
    "TagCounts",
    "TaggedSentence",
    "TaskKind",
    "check_tags",
    "columns_text",
    "csv_text",
    "doubts",
    "guess_format",
    "is_iob",
    "jsonl_text",
    "labels_of",
    "load",
    "preview",
    "read",
    "read_columns",
    "read_conllu",
    "read_hub",
    "read_jsonl",
    "read_ontonotes",
    "read_table",
    "write_columns",
    "write_csv",
    "write_jsonl",
]
