"""Tables."""

import re

import pytest

from tawt.errors import DataError
from tawt.text.reading import LabelledText, TaggedSentence, read_table


def test_quoted_newlines_keep_the_line_numbers(file):
    path = file("a.csv", '\ufefftext,label\r\n"a,\r\n""b""",x\r\n\r\nc,y\r\nd\r\n')
    rows = read_table(path, kind="classification")
    assert next(rows) == LabelledText('a,\r\n"b"', None, "x", 2)
    assert next(rows) == LabelledText("c", None, "y", 5)
    with pytest.raises(DataError, match=re.escape(f"{path}:6: expected 2 cells, as in the header")):
        next(rows)


def test_tagging(file):
    path = file("a.tsv", "id\ttags\ttokens\n1\tX Y\ta  b\n2\t\t\n")
    assert list(read_table(path, kind="tagging", separator="\t")) == [
        TaggedSentence(("a", "b"), ("X", "Y"), 2),
        TaggedSentence((), (), 3),
    ]


def test_pairs_regression_and_renamed_columns(file):
    path = file("a.csv", " premise , hypothesis,score\na,b,0.5\n")
    fields = {"label": "score"}
    assert next(read_table(path, kind="regression", fields=fields)).label == 0.5
    assert list(read_table(path, kind="pair", fields=fields)) == [LabelledText("a", "b", "0.5", 2)]


def test_quotes_without_meaning(file):
    path = file("a.tsv", 'sentence\tlabel\n"so he said\t1\n')
    with pytest.raises(DataError, match=re.escape(f"{path}:2: the row that begins here cannot be")):
        list(read_table(path, kind="classification", separator="\t"))
    rows = read_table(path, kind="classification", separator="\t", quote="")
    assert list(rows) == [LabelledText('"so he said', None, "1", 2)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "text;label\na;b\n",
            ":1: in the header there is no field 'text'; there are 'text;label'.",
        ),
        ("text;label\na;b\n", "Or give the table's `separator`."),
        ("text,text,label\na,b,c\n", ":1: the header names 'text' twice; rename one column."),
        ("text,label\na,\n", ":2: a label is empty or blank: ''."),
        (
            'text,label\n"a" b,x\n',
            ":2: the row that begins here cannot be read: ',' expected after",
        ),
        (f'text,label\nok,x\n"{"a" * 200_000}\n', ":3: the row that begins here cannot be read"),
    ],
)
def test_problems_are_told_with_their_line(file, content, message):
    path = file("a.csv", content)
    with pytest.raises(DataError, match=re.escape(message)):
        list(read_table(path, kind="classification"))


def test_as_many_tags_as_words(file):
    path = file("a.csv", "tokens,tags\na b,X\n")
    with pytest.raises(
        DataError, match=r"a.csv:2: expected one tag for each word; got 2 words and 1"
    ):
        list(read_table(path, kind="tagging"))


def test_groups(file):
    path = file("a.csv", "site,text,label,tokens,tags\nweb log,a,x,a b,X Y\n3,b,x,c,X\n")
    fields = {"group": "site"}
    texts = list(read_table(path, kind="classification", fields=fields))
    assert texts == [
        LabelledText("a", None, "x", 2, "web log"),
        LabelledText("b", None, "x", 3, "3"),
    ]
    assert [s.group for s in read_table(path, kind="tagging", fields=fields)] == ["web log", "3"]
    assert [s.group for s in read_table(path, kind="tagging")] == [None, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "text,label\na,x\n",
            ":1: in the header there is no field 'site'; there are 'text', 'label'.",
        ),
        ("text,label,site\na,x, \n", ":2: a group is empty or blank: ''. Fill it in."),
    ],
)
def test_groups_that_are_none(file, content, message):
    path = file("a.csv", content)
    with pytest.raises(DataError, match=re.escape(f"{path}{message}")):
        list(read_table(path, kind="classification", fields={"group": "site"}))
