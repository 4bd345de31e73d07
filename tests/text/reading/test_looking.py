"""Columns that are hardly what they are taken for."""

import pytest

from tawt.errors import DataError
from tawt.text.reading import ReadOptions, read, read_columns
from tawt.text.reading.columns import sample_columns
from tawt.text.reading.looking import ColumnSample

DANISH = (
    "1\tPå\tO\tO#O\ts\n2\tFyn\tB-LOC\tB-LOC#O\ts\n3\t.\tO\tO#O\ts\n\n"
    "1\tAnna\tB-PER\tB-PER#O\ts\n2\tog\tO\tO#O\ts\n3\tBo\tB-PER\tB-PER#O\ts\n4\tkom\tO\tO#O\ts\n"
)


def column(*sentences):
    return ColumnSample([[[cell] for cell in sentence.split()] for sentence in sentences])


@pytest.mark.parametrize(
    ("sentences", "counts"),
    [
        (["1 2 3", "1 2"], True),
        (["0 1 2", "0 1"], True),
        (["1 2 3", "4 5"], True),
        (["1", "2", "3"], True),
        (["1-2 1 2 3 3.1 4", "1 2"], True),
        ([*["1 2 3 4"] * 19, "2 3"], True),
        (["1 2"], False),
        (["1 2 3", "1 2 4"], False),
        (["3 2 1", "1 2"], False),
        (["one 2 3", "in 1999"], False),
        (["1", "1", "1", "1"], False),
        (["01 02 03"], False),
    ],
)
def test_numbers_that_count(sentences, counts):
    assert column(*sentences).counts(0) is counts


def test_words_that_count_are_refused_with_the_columns_that_make_sense(file):
    path = file("ddt.tsv", DANISH)
    with pytest.raises(DataError) as raised:
        list(read_columns(path, separator="\t"))
    message = str(raised.value)
    assert "the first column holds running numbers ('1', '2', '3', …)" in message
    assert "`word_column: 1` (with 'På', 'Fyn', '.')" in message
    assert "`tag_column: 2` (with 'O', 'B-LOC', 'B-PER')" in message
    assert "`word_column: 0`" in message


def test_a_column_that_is_named_is_not_doubted(file):
    path = file("ddt.tsv", DANISH)
    options = ReadOptions(word_column=1, tag_column=2)
    first = next(iter(read(path, kind="tagging", options=options)))
    assert first.words == ("På", "Fyn", ".")
    numbers = next(iter(read(path, kind="tagging", options=ReadOptions(word_column=0))))
    assert numbers.words == ("1", "2", "3")


def test_a_tag_column_alone_is_no_word_column(file):
    with pytest.raises(DataError, match="`word_column: 1`") as raised:
        list(read(file("a.tsv", DANISH), kind="tagging", options=ReadOptions(tag_column=2)))
    assert "`tag_column:" not in str(raised.value)


def test_where_no_column_has_words(file):
    with pytest.raises(DataError, match="give the `word_column`"):
        list(read_columns(file("a.txt", "1 7\n2 8\n3 9\n")))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n. . O O\n", (0, 3)),
        ("d 0 EU NNP\nd 1 rejects VBZ\nd 2 it VBZ\n", (2, 3)),
        ("1 2\n2 3\n", (None, None)),
        ("a x\n", (None, None)),
    ],
)
def test_which_columns_make_sense(file, content, expected):
    assert sample_columns(file("a.txt", content)).suggested() == expected
