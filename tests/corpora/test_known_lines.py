"""Lines that a corpus should not have, against a search by hand."""

import pytest

from tawt.corpora import Bytes, CorpusFiles, tokenised
from tawt.corpora.reading import Document, KnownLines, KnownLineSearch, read
from tawt.corpora.reading.documents import LONGEST
from tawt.errors import DataError

HELD_OUT = ["The cat sat .", "A [[ dog ]] barked\nat <<noon>>!", ":-)"]


def searched(documents, *, removes=True, texts=HELD_OUT):
    search = KnownLineSearch(KnownLines.of(texts, removes=removes))
    found = [(each.text, each.ends) for each in search.through(documents)]
    return found, search.count


@pytest.mark.parametrize(
    "line",
    ["The cat sat .", "the cat sat", "THE  CAT, SAT!", "The\u00a0cat sat.", "a dog barked at noon",
     "A dog barked", "at noon"],
)  # fmt: skip
def test_typography_case_and_marks_do_not_hide_a_line(line):
    assert searched([Document(line), Document("else")]) == ([("else", True)], 1)


@pytest.mark.parametrize("line", ["The cat sat down.", "cat sat", ":-)", "", "Noon."])
def test_other_lines_stay(line):
    assert searched([Document(line)]) == ([(line, True)], 0)


def test_lines_are_taken_out_of_documents():
    found, count = searched([Document("one\nthe cat sat.\ntwo"), Document("at noon\nat noon")])
    assert found == [("one\ntwo", True)]
    assert count == 3


def test_they_are_only_counted_where_that_is_wanted():
    documents = [Document("one\nthe cat sat.\ntwo"), Document("The cat sat.")]
    assert searched(documents, removes=False) == ([(each.text, True) for each in documents], 2)


def test_a_document_in_parts_still_ends():
    parts = [Document("a", ends=False), Document("the cat sat")]
    assert searched(parts) == ([("a", False), ("the cat sat", True)], 0)  # half of a line
    parts = [Document("the cat sat\n", ends=False), Document("b")]
    assert searched(parts) == ([("", False), ("b", True)], 1)
    parts = [Document("a\n", ends=False), Document("at noon\nthe cat sat")]
    assert searched(parts) == ([("a\n", False), ("", True)], 2)


def test_a_long_document_is_searched_too(tmp_path):
    line = "word " * 1000
    whole = "\n".join([line] * (LONGEST // 4000) + ["the cat sat"])
    (tmp_path / "a.txt").write_text(whole)
    files = CorpusFiles(train=tmp_path / "a.txt", documents="file")
    found, count = searched(read(files))
    assert count == 1
    assert "cat" not in "".join(text for text, _ in found)


def test_shards_are_made_without_them_and_say_how_many(tmp_path):
    (tmp_path / "a.txt").write_text("one\nThe cat sat\ntwo\n")
    files = CorpusFiles(train=tmp_path / "a.txt")

    def made(known):
        return tokenised(files, Bytes(), cache=tmp_path / "cache", known=known)

    plain = made(None)
    without = made(KnownLines.of(HELD_OUT, removes=True))
    counted = made(KnownLines.of(HELD_OUT, removes=False))
    assert Bytes().decode(without.document(0)) == "one"
    assert Bytes().decode(without.document(1)) == "two"
    assert [each.index.documents for each in (plain, without, counted)] == [3, 2, 3]
    assert [each.index.known for each in (plain, without, counted)] == [0, 1, 1]
    assert len({each.folder for each in (plain, without, counted)}) == 3
    assert made(KnownLines.of(reversed(HELD_OUT), removes=True)).folder == without.folder
    assert made(KnownLines.of(["else"], removes=True)).folder != without.folder


def test_a_corpus_of_nothing_else_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("The cat sat\nat noon\n")
    files = CorpusFiles(train=tmp_path / "a.txt")
    with pytest.raises(DataError, match="has no text but 2 lines that are held out"):
        tokenised(
            files, Bytes(), cache=tmp_path / "cache", known=KnownLines.of(HELD_OUT, removes=True)
        )
