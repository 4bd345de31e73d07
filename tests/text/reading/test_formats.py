"""Which reader reads a file."""

import re
from pathlib import Path

import pytest

from tawt.errors import ConfigError, DataError
from tawt.text.reading import FORMATS, LabelledText, ReadOptions, guess_format, read

TOKEN = "1\ta\ta\tX\t_\t_\t_\t_\t_\t_\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.conllu", "", "conllu"),
        ("a.v4_gold_conll", "", "ontonotes"),
        ("a.JSONL", "", "jsonl"),
        ("a.ndjson", "", "jsonl"),
        ("a.csv", "", "csv"),
        ("a.tsv", "a\tX\nb\tY\n\nc\tX\n", "columns"),
        ("a.tsv", "a\tX\nb\tY\n", "columns"),
        ("a.tsv", "New York\tX\n\nb\tY\n", "columns"),
        ("a.tsv", "text\tlabel\na\tX\n", "tsv"),
        ("a.tsv", "id\tsentence1\tsentence2\tlabel\n", "tsv"),
        ("a.tsv", "review\tstars\nso it is\t3\n", "tsv"),
        ("a.txt", "#begin document (a);\n", "ontonotes"),
        ("a.txt", '\n{"text": "a"}\n', "jsonl"),
        ("a.txt", f"# sent_id = 1\n{TOKEN}", "conllu"),
        ("a.txt", "text,label\n", "csv"),
        ("a.txt", "text\tlabel\n", "tsv"),
        ("a.conll", "EU NNP B-ORG\n", "columns"),
        ("a", "{ B-X\n} I-X\n", "columns"),
    ],
)
def test_guesses(file, name, content, expected):
    assert guess_format(file(name, content)) == expected
    assert expected in FORMATS


def test_the_kind_of_task_decides_what_the_file_does_not(file):
    path = file("a.tsv", "review\tstars\ngood\t3\n")
    assert guess_format(path, kind="classification") == "tsv"
    assert guess_format(path, kind="tagging") == "columns"
    options = ReadOptions(fields={"text": "review", "label": "stars"})
    assert guess_format(path, options=options) == "tsv"


def test_every_format_has_a_reader(file):
    one = '{"text": "a", "label": "X"}\n'
    assert list(read(file("a", one), kind="classification")) == [LabelledText("a", None, "X", 1)]
    assert next(read(file("a.conllu", TOKEN), kind="tagging")).tags == ("X",)
    assert next(read(file("b", "a_X"), kind="tagging", options=ReadOptions(separator="_")))
    path = file("a_conll", "d 0 0 w NN * - - - - * -")
    assert next(read(path, kind="tagging", options=ReadOptions(layer="predicate"))).tags == ("O",)
    path = file("a.tsv", "text\tlabel\na\tX\n")
    assert next(read(path, kind="classification")).label == "X"
    path = file("b.tsv", "New York\tX\n")
    assert next(read(path, kind="tagging")).words == ("New York",)
    path = file("c.tsv", "a   X\n")
    options = ReadOptions(separator="whitespace")
    assert next(read(path, kind="tagging", options=options)).words == ("a",)


@pytest.mark.parametrize("name", ["tab", "\\t", "\t"])
def test_ways_to_say_tab(file, name):
    options = ReadOptions(format="csv", separator=name)
    path = file("a.txt", "text\tlabel\na, b\tX\n")
    assert next(read(path, kind="classification", options=options)).text == "a, b"


def test_columns_hold_no_texts(file):
    path = file("a.txt", "a X\n")
    with pytest.raises(DataError, match="is in the format columns, which holds tagged words; a"):
        read(path, kind="pair")


@pytest.mark.parametrize("content", ["\n\n", "\ufeff", "-DOCSTART- -X- O\n\n"])
@pytest.mark.parametrize("name", ["a.txt", "a.conllu", "a.jsonl"])
def test_files_without_examples(file, name, content):
    if name != "a.txt" and "DOCSTART" in content:
        return
    path = file(name, content)
    with pytest.raises(DataError, match=re.escape(f"{path} holds no examples; expected at least")):
        list(read(path, kind="tagging"))


def test_a_missing_file_is_told_at_once():
    with pytest.raises(DataError, match=r"nowhere.txt: there is no such file"):
        read(Path("nowhere.txt"), kind="tagging")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "jsnl"}, "There is no format 'jsnl'; did you mean 'jsonl'?"),
        ({"fields": {"txt": "a"}}, "'txt' is none of ours: did you mean 'text'?"),
        ({"separator": ""}, "`separator` must not be empty"),
        ({"quote": "ab"}, "`quote` is one character or none"),
        ({"tag": "deprel"}, "`tag` must be upos, xpos or misc:KEY"),
        ({"layer": "srl"}, "`layer` must be one of"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        ReadOptions(**options)


def test_a_table_has_a_separator_of_one_character(file):
    options = ReadOptions(separator="||")
    with pytest.raises(ConfigError, match="`separator` of a table must be one character"):
        list(read(file("a.csv", "text,label\n"), kind="pair", options=options))
    with pytest.raises(ConfigError, match="There is no kind of task 'taging'; did you mean"):
        read(file("a.csv", "text,label\n"), kind="taging")


def test_a_group_is_one_of_our_fields(file):
    options = ReadOptions(fields={"group": "site"})
    path = file("a.tsv", "site\ttext\tlabel\nweb\ta\tX\n")
    assert next(read(path, kind="classification", options=options)).group == "web"
    path = file("a.conllu", f"# newdoc id = d\n{TOKEN}")
    assert next(read(path, kind="tagging", options=options)).group == "d"
