"""JSON lines."""

import json
import re

import pytest

from tawt.errors import DataError
from tawt.text.reading import LabelledText, TaggedSentence, read_jsonl


def test_tagging(file):
    path = file("a.jsonl", '\ufeff{"tokens": ["EU", "New York"], "tags": ["X", "Y"]}\r\n\r\n')
    assert list(read_jsonl(path, kind="tagging")) == [
        TaggedSentence(("EU", "New York"), ("X", "Y"), 1)
    ]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ('"pos"', "pos"),
        ('" pos "', "pos"),
        ("1", "1"),
        ("1.0", "1"),
        ("0.5", "0.5"),
        ("true", "true"),
    ],
)
def test_labels_of_classification_are_names(file, label, expected):
    path = file("a.jsonl", f'\n{{"text": " a ", "label": {label}}}')
    assert list(read_jsonl(path, kind="classification")) == [LabelledText(" a ", None, expected, 2)]


@pytest.mark.parametrize(
    ("first", "second"),
    [("text", "second"), ("sentence1", "sentence2"), ("premise", "hypothesis")],
)
@pytest.mark.parametrize(("kind", "label"), [("pair", "1"), ("regression", 1.0)])
def test_two_texts(file, first, second, kind, label):
    path = file("a.jsonl", f'{{"{second}": "b", "{first}": "a", "label": 1}}')
    assert list(read_jsonl(path, kind=kind)) == [LabelledText("a", "b", label, 1)]


def test_regression_of_one_text(file):
    path = file("a.jsonl", '{"sentence": "a", "label": "2.5"}')
    assert list(read_jsonl(path, kind="regression")) == [LabelledText("a", None, 2.5, 1)]


def test_renamed_fields(file):
    path = file("a.jsonl", '{"q1": "a", "q2": "b", "same": 0, "text": "no"}')
    fields = {"text": "q1", "second": "q2", "label": "same"}
    assert list(read_jsonl(path, kind="pair", fields=fields)) == [LabelledText("a", "b", "0", 1)]


@pytest.mark.parametrize(
    ("kind", "line", "message"),
    [
        (
            "tagging",
            '{"tokens": ["a"], "tags": []}',
            "one tag for each word; got 1 words and 0 tags",
        ),
        ("tagging", '{"tokens": [1], "tags": ["X"]}', "a word must be a string; got 1."),
        ("tagging", '{"tokens": [" "], "tags": ["X"]}', "a word is empty or blank: ' '."),
        ("tagging", '{"tokens": ["a"], "tags": [null]}', "a tag must be a string; got null."),
        ("tagging", '{"tokens": "a", "tags": ["X"]}', "'tokens' must be a list with an entry for"),
        ("tagging", '{"tokens": ["\\u0000"], "tags": ["X"]}', "has a NUL or half of a surrogate"),
        (
            "tagging",
            '{"tokens": ["\\ud800"], "tags": ["X"]}',
            "word '\\ud800' has a NUL or half of",
        ),
        (
            "tagging",
            '{"words": ["a"]}',
            "there is no field 'tags'; there are 'words'. Say which one is the tags with "
            "`fields: {tags: NAME}`.",
        ),
        ("classification", '{"text": "a"}', "there is no field 'label'; there are 'text'."),
        (
            "classification",
            '{"text": "a", "label": null}',
            "must be a string or a number; got null",
        ),
        ("classification", '{"text": "a", "label": " "}', "a label is empty or blank: ''."),
        ("classification", '{"text": 3, "label": "x"}', "a text must be a string; got 3."),
        (
            "classification",
            '{"text": "a", "text": "b"}',
            "the key 'text' occurs twice in one object",
        ),
        (
            "classification",
            '{"text": "a", "label": NaN}',
            "NaN is no JSON number; give a finite one",
        ),
        ("classification", '{"text": "a", "label": 1e999}', "a string or a number; got inf."),
        ("pair", '{"text": "a", "second": null, "label": 1}', "the second text, 'second', is null"),
        ("pair", '{"text": "a", "label": 1}', "there is no field 'second'"),
        ("regression", '{"text": "a", "label": "x"}', "must be a finite number; got 'x'."),
        ("regression", '{"text": "a", "label": true}', "must be a finite number; got True."),
        ("regression", '{"text": "a", "label": "1_0"}', "must be a finite number; got '1_0'."),
        ("regression", '{"text": "a", "label": 1e999}', "must be a finite number; got inf."),
        ("regression", '{"text": "a"}', "there is no field 'label'"),
        ("pair", '{"text": "a"', "this is not JSON: Expecting ',' delimiter at column 13."),
        ("pair", "[1]", "expected a JSON object, {…}; got a list."),
        ("pair", "[" * 100_000, "has a number too long, or is too deep."),
        ("pair", "1" * 5000, "has a number too long, or is too deep."),
    ],
)
def test_problems_are_told_with_their_line(file, kind, line, message):
    path = file("a.jsonl", f"\n\n{line}\n")
    with pytest.raises(DataError, match=re.escape(f"{path}:3: ") + ".*" + re.escape(message)):
        list(read_jsonl(path, kind=kind))


def test_a_field_that_was_named_must_be_there(file):
    path = file("a.jsonl", '{"text": "a", "label": 1}')
    with pytest.raises(DataError, match="there is no field 'other'"):
        list(read_jsonl(path, kind="regression", fields={"second": "other"}))


GROUPS = [
    ('"web"', "web"),
    ('" web log "', "web log"),
    ("3", "3"),
    ("3.0", "3"),
    ("0.5", "0.5"),
    ("true", "true"),
]


@pytest.mark.parametrize(("value", "expected"), GROUPS)
@pytest.mark.parametrize("kind", ["tagging", "classification", "regression"])
def test_groups(file, kind, value, expected):
    known = '"tokens": ["a"], "tags": ["X"], "text": "a", "label": 1'
    path = file("a.jsonl", f'{{{known}, "site": {value}}}\n' * 2)
    first, second = read_jsonl(path, kind=kind, fields={"group": "site"})
    assert first.group == expected
    assert first.group is second.group
    assert next(read_jsonl(path, kind=kind)).group is None


def test_groups_are_read_only_if_asked_for(file):
    path = file("a.jsonl", '{"text": "a", "label": "x", "group": []}')
    assert list(read_jsonl(path, kind="classification")) == [LabelledText("a", None, "x", 1)]


def test_a_label_may_be_the_group(file):
    path = file("a.jsonl", '{"text": "a", "label": 1}')
    fields = {"group": "label"}
    assert next(read_jsonl(path, kind="regression", fields=fields)) == LabelledText(
        "a", None, 1.0, 1, "1"
    )


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (', "site": null', "a group must be a string or a number; got null."),
        (', "site": ["web"]', "a group must be a string or a number; got a list."),
        (', "site": 1e999', "a group must be a string or a number; got inf."),
        (', "site": " "', "a group is empty or blank: ''. Fill it in."),
        (', "site": "\\ud800"', "the group '\\ud800' has a NUL or half of a surrogate pair"),
        (
            "",
            "there is no field 'site'; there are 'text', 'label'. Say which one is the group with "
            "`fields: {group: NAME}`.",
        ),
    ],
)
def test_groups_that_are_none(file, group, message):
    path = file("a.jsonl", f'\n{{"text": "a", "label": "x"{group}}}')
    with pytest.raises(DataError, match=re.escape(f"{path}:2: {message}")):
        list(read_jsonl(path, kind="classification", fields={"group": "site"}))


@pytest.mark.parametrize(
    ("kind", "record", "meant"),
    [
        ("tagging", {"text": "good", "label": "yes"}, "classification"),
        ("tagging", {"premise": "a", "hypothesis": "b", "label": "yes"}, "pair"),
        ("classification", {"tokens": ["a"], "tags": ["O"]}, "tagging"),
    ],
)
def test_a_forgotten_kind_is_suggested(tmp_path, kind, record, meant):
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(DataError, match=f"give `kind: {meant}`"):
        list(read_jsonl(path, kind=kind))
