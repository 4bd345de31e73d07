"""JSON lines: fields, nested ones, groups, and what is no record."""

import json

import pytest

from tawt.corpora.reading import documents
from tawt.corpora.sections import CorpusFiles
from tawt.errors import DataError
from tests.corpora.files import texts_of, whole_documents, write_lines, write_records

NESTED = [
    {"body": {"text": "one"}, "meta": {"from": "web"}},
    {"body": {"text": ""}, "meta": {"from": "web"}},
    {"body": {"text": None}, "meta": {"from": 3}},
    {"body": {"text": "two\nlines"}, "meta": {"from": "books"}},
]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_fields_within_fields_and_groups(tmp_path, name):
    files = CorpusFiles(
        train=write_records(tmp_path / name, NESTED), field="body.text", group="meta.from"
    )
    assert whole_documents(files) == [
        ("one", "web"),
        ("", "web"),
        ("", "3"),
        ("two\nlines", "books"),
    ]


def test_a_name_with_a_dot_is_a_name_first(tmp_path):
    records = [{"a.b": "flat", "a": {"b": "nested"}}]
    assert texts_of(write_records(tmp_path / "a.jsonl", records), field="a.b") == ["flat"]


def test_a_long_document_keeps_its_group_in_every_part(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "LONGEST", 10)
    path = write_records(tmp_path / "a.jsonl", [{"text": "x" * 35, "g": "web"}])
    assert whole_documents(CorpusFiles(train=path, group="g")) == [("x" * 35, "web")]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"text": "a"', "expected a JSON object on every line; "),
        ("[1, 2]", "expected an object with fields; got a list."),
        ('{"txt": "a"}', "there is no field 'text'; did you mean 'txt'?"),
        ("{}", "there is no field 'text'; it has none."),
        ('{"text": 3}', "the field 'text' must be text; got 3."),
        ('{"text": "half \\ud800"}', "the field 'text' is not UTF-8; set `invalid: replace`"),
        ("[" * 100_000, "expected a JSON object on every line"),
    ],
)
def test_a_line_that_is_no_document_is_named(tmp_path, line, words):
    path = write_lines(tmp_path / "a.jsonl", ['{"text": "fine"}', "", line])
    with pytest.raises(DataError) as raised:
        texts_of(path)
    assert str(raised.value).startswith(f"{path}:3: ")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_group_must_be_a_name(tmp_path):
    path = write_records(tmp_path / "a.jsonl", [{"text": "a", "g": ["x"]}])
    with pytest.raises(DataError, match=r"a\.jsonl:1: the group 'g' must be a name; got a list"):
        texts_of(path, group="g")


def test_a_missing_group_is_named(tmp_path):
    path = write_records(tmp_path / "a.jsonl", [{"text": "a"}])
    with pytest.raises(DataError, match="there is no field 'g'"):
        texts_of(path, group="g")


def test_halves_of_pairs_are_replaced_and_pairs_are_kept(tmp_path):
    line = '{"text": "half \\ud800, whole \\ud83d\\ude00, \\uDC00"}'
    path = write_lines(tmp_path / "a.jsonl", [line])
    assert texts_of(path, invalid="replace") == ["half \ufffd, whole 😀, \ufffd"]


def test_escaped_and_plain_text_are_the_same(tmp_path):
    text = "naïve 日本語 😀 \u2028 \x85"
    escaped = write_lines(tmp_path / "a.jsonl", [json.dumps({"text": text})])
    plain = write_lines(tmp_path / "b.jsonl", [json.dumps({"text": text}, ensure_ascii=False)])
    assert texts_of(escaped) == texts_of(plain) == [text]
