"""What is written is read back."""

import io
import re
import sys
import unicodedata

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tawt.errors import DataError
from tawt.text.reading import (
    LabelledText,
    ReadOptions,
    TaggedSentence,
    columns_text,
    csv_text,
    guess_format,
    read,
    read_columns,
    read_conllu,
    read_jsonl,
    read_ontonotes,
    read_table,
    write_columns,
    write_csv,
    write_jsonl,
)

PRINTABLE = [
    chr(c)
    for c in range(sys.maxunicode + 1)
    if chr(c).isprintable() and unicodedata.category(chr(c)) not in {"Zs", "Cs"}
]
CHARACTERS = st.one_of(st.sampled_from("#-\"',._=|()*0a"), st.sampled_from(PRINTABLE))
WORDS = st.text(CHARACTERS, min_size=1, max_size=6)
PAIRS = st.lists(st.tuples(WORDS, st.sampled_from(["O", "B-X", "I-X"])), min_size=1, max_size=5)
TEXTS = st.text(st.one_of(CHARACTERS, st.sampled_from(" \t\n\r\u2028\x85")), max_size=12)
FINITE = st.floats(allow_nan=False, allow_infinity=False)

in_one_folder = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def made(pairs):
    return [TaggedSentence(*map(tuple, zip(*pair, strict=True)), line=0) for pair in pairs]


def content(examples):
    return [
        (x.words, x.tags) if isinstance(x, TaggedSentence) else (x.text, x.second, x.label)
        for x in examples
    ]


@in_one_folder
@given(st.lists(PAIRS, min_size=1, max_size=4))
@example([[("#", "O")], [("#", "O"), ("a", "O")]])
@example([[("#newdoc", "B-X")], [('"', "O")]])
def test_sentences(tmp_path, pairs):
    sentences = made(pairs)
    path = tmp_path / "a.txt"
    write_columns(path, sentences)
    for separator in (None, "\t"):
        back = list(read_columns(path, separator=separator))
        assert content(back) == content(sentences)
    lines = path.read_text().split("\n")
    assert all(lines[s.line - 1].startswith(s.words[0]) for s in back)
    write_jsonl(path, sentences)
    assert content(read_jsonl(path, kind="tagging")) == content(sentences)
    write_csv(path, sentences)
    assert content(read_table(path, kind="tagging")) == content(sentences)
    write_csv(path, sentences, separator="\t")
    assert content(read_table(path, kind="tagging", separator="\t")) == content(sentences)
    for name, writer in (("a.csv", write_csv), ("a.jsonl", write_jsonl), ("a.tsv", write_columns)):
        writer(tmp_path / name, sentences)
        assert content(read(tmp_path / name, kind="tagging")) == content(sentences)


@in_one_folder
@given(st.lists(PAIRS, min_size=1, max_size=4))
def test_sentences_of_conllu_and_ontonotes(tmp_path, pairs):
    sentences = made(pairs)
    path = tmp_path / "a.conllu"
    rows = [
        "".join(
            f"{i}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\tNER={tag}\n"
            for i, (word, tag) in enumerate(p, 1)
        )
        for p in pairs
    ]
    path.write_text("\n".join(rows))
    assert content(read_conllu(path)) == content(sentences)
    assert content(read_conllu(path, tag="misc:NER")) == content(sentences)
    rows = ["".join(f"d 0 0 {word} {tag} * - - - - * -\n" for word, tag in pair) for pair in pairs]
    path.write_text("\n".join(rows))
    assert content(read_ontonotes(path)) == content(sentences)


@in_one_folder
@given(st.lists(st.tuples(TEXTS, TEXTS, WORDS, FINITE), min_size=1, max_size=4), st.booleans())
def test_texts(tmp_path, rows, two):
    classified = [LabelledText(a, b if two else None, c, 0) for a, b, c, _ in rows]
    measured = [LabelledText(a, b if two else None, x, 0) for a, b, _, x in rows]
    for kind, examples in (
        ("pair" if two else "classification", classified),
        ("regression", measured),
    ):
        for name, writer in (("a.csv", write_csv), ("a.jsonl", write_jsonl)):
            writer(tmp_path / name, examples)
            assert content(read(tmp_path / name, kind=kind)) == content(examples)
        write_csv(tmp_path / "a.tsv", examples, separator="\t")
        options = ReadOptions()
        assert guess_format(tmp_path / "a.tsv") == "tsv"
        assert content(read(tmp_path / "a.tsv", kind=kind, options=options)) == content(examples)


def test_what_a_format_cannot_hold():
    blank = [TaggedSentence(("New York",), ("X",), 1)]
    for text in (columns_text, csv_text):
        with pytest.raises(DataError, match="'New York' has a blank in it"):
            list(text(blank))
    mixed = [LabelledText("a", None, "x", 1), LabelledText("a", "b", "x", 1)]
    message = (
        "Expected every example to have ['text', 'label']; one has ['text', 'second', 'label']"
    )
    with pytest.raises(DataError, match=re.escape(message)):
        list(csv_text(mixed))


def test_handles():
    handle = io.StringIO()
    write_columns(handle, [TaggedSentence(("a",), ("X",), 1)])
    assert handle.getvalue() == "a\tX\n\n"


def test_groups_in_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    texts = [LabelledText("a", None, "x", 1, "web"), LabelledText("b", None, "x", 2, "news")]
    write_jsonl(path, texts)
    assert list(read_jsonl(path, kind="classification", fields={"group": "group"})) == texts
    assert content(read_jsonl(path, kind="classification")) == content(texts)
