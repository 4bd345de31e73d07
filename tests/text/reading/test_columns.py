"""Column files."""

import re

import pytest

from tawt.errors import DataError
from tawt.text.reading import TaggedSentence, read_columns

CONLL_2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O

# NN B-NP O
1 CD I-NP O
"""


def pairs(sentences):
    return [list(zip(s.words, s.tags, strict=True)) for s in sentences]


def test_conll_2003(file):
    path = file("train.txt", CONLL_2003)
    assert list(read_columns(path)) == [
        TaggedSentence(("EU", "rejects"), ("B-ORG", "O"), 3, "document 1"),
        TaggedSentence(("#", "1"), ("O", "O"), 6, "document 1"),
    ]
    assert [s.tags for s in read_columns(path, tag_column=1)] == [("NNP", "VBZ"), ("NN", "CD")]
    assert next(read_columns(path, tag_column=-2)).tags == ("B-NP", "B-VP")
    assert next(read_columns(path, word_column=2)).words == ("B-NP", "B-VP")


@pytest.mark.parametrize(
    "content",
    [
        "a\tX\nb\tY\n\nc\tX\n\n",
        "a\tX\r\nb\tY\r\n\r\nc\tX\r\n",
        "\ufeffa\tX\nb\tY\n\nc\tX",
        "a X\nb   Y\n \t \n\n\nc\t \tX",
        "\n\na\tX\nb\tY\n\nc\tX\n\n\n\n",
    ],
)
def test_line_ends_marks_and_blank_lines_do_not_matter(file, content):
    sentences = read_columns(file("a.txt", content))
    assert pairs(sentences) == [[("a", "X"), ("b", "Y")], [("c", "X")]]


def test_words_may_have_a_no_break_space(file):
    path = file("a.txt", "10\xa0000 NUM\n")
    assert pairs(read_columns(path)) == [[("10\xa0000", "NUM")]]


def test_a_given_separator_keeps_blanks_in_words(file):
    path = file("a.tsv", "New York\tB-LOC\n")
    assert pairs(read_columns(path, separator="\t")) == [[("New York", "B-LOC")]]


@pytest.mark.parametrize("separator", [None, "\t"])
def test_comments(file, separator):
    path = file(
        "a.tsv",
        "# sent_id = 1\n# newdoc\n# a longer comment\nx\tX\n#\tSYM\n\n"
        "# text = y\n#\tSYM\ny\tY\n\n#hash\tNN\n",
    )
    assert pairs(read_columns(path, separator=separator)) == [
        [("x", "X"), ("#", "SYM")],
        [("#", "SYM"), ("y", "Y")],
        [("#hash", "NN")],
    ]


def test_a_file_of_hashes_only(file):
    assert pairs(read_columns(file("a.txt", "# SYM\n#x NN\n"))) == [[("#", "SYM"), ("#x", "NN")]]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            "a X\nb X Y\n",
            {},
            ":2: expected 2 columns separated by blanks or tabs; got 3: 'b X Y'. Mend the "
            "line, or give the file's `separator`.",
        ),
        (
            "a\tX\n\nb\n",
            {"separator": "\t"},
            ":3: expected 2 columns separated by '\\t'; got 1: 'b'. Mend the line, or "
            "give the file's `separator`.",
        ),
        ("word\n", {}, ":1: expected at least 2 columns separated by blanks or tabs; got 1"),
        ("a X\n", {"tag_column": 2}, ":1: `tag_column` is 2, but there are 2 columns; expected -2"),
        ("a X\n", {"word_column": 1}, ":1: `word_column` 1 and `tag_column` -1 are the same of 2"),
        ("a\tX\n\tX\n", {"separator": "\t"}, ":2: a word is empty or blank: ''. Fill it in."),
        ("a\tX\nb\t\n", {"separator": "\t"}, ":2: a tag is empty or blank: ''."),
        ("a\tX\n\u2003\tX\n", {"separator": "\t"}, ":2: a word is empty or blank: '\\u2003'."),
        ("a\tX Y\n", {"separator": "\t"}, ":1: the tag 'X Y' has a blank in it; if columns are"),
    ],
)
def test_problems_are_told_with_their_line(file, content, options, message):
    path = file("a.txt", content)
    with pytest.raises(DataError, match=re.escape(f"{path}{message}")):
        list(read_columns(path, **options))


def test_words_and_tags_are_held_once(file):
    first, second = read_columns(file("a.txt", "word TAG\n\nword TAG\n"))
    assert first.words[0] is second.words[0]
    assert first.tags[0] is second.tags[0]


def test_sentences_come_before_the_problem(file):
    sentences = read_columns(file("a.txt", "a X\n\nb\n"))
    assert next(sentences).words == ("a",)
    with pytest.raises(DataError, match=r"a\.txt:3"):
        next(sentences)


def groups(sentences):
    return [sentence.group for sentence in sentences]


def test_the_group_is_the_document(file):
    path = file("a.txt", "a X\n-DOCSTART- O\n\nb X\n\nc X\n-DOCSTART- O\nd X\n")
    sentences = list(read_columns(path))
    assert groups(sentences) == [None, "document 1", "document 1", "document 2"]
    assert sentences[1].group is sentences[2].group


@pytest.mark.parametrize("separator", [None, "\t"])
def test_documents_named_in_comments(file, separator):
    path = file(
        "a.tsv",
        "# newdoc id = web log/1 \n# text = a\na\tX\n\nb\tX\n#newdoc\tX\n\n"
        "# newdoc\nc\tX\n\n# newdocument = 3\nd\tX\n",
    )
    found = groups(read_columns(path, separator=separator))
    assert found == ["web log/1", "web log/1", "document 2", "document 2"]


def test_sentences_without_documents_have_no_group(file):
    assert groups(read_columns(file("a.txt", "# text = a\na X\n\nb X\n"))) == [None, None]


@pytest.mark.parametrize(
    ("text", "line"), [("He\tO\nNew York\tB-LOC\n", 2), ("New York\tB-LOC\nis\tO\n", 2)]
)
def test_a_blank_inside_a_word_suggests_tabs(file, text, line):
    with pytest.raises(DataError, match=rf":{line}: expected .*every line has 2.*separator: tab`"):
        list(read_columns(file("data.txt", text)))


def test_no_tabs_are_suggested_where_they_would_not_help(file):
    with pytest.raises(DataError, match="Mend the line") as error:
        list(read_columns(file("data.txt", "He O\nNew York B-LOC\n")))
    assert "tab`" not in str(error.value)
