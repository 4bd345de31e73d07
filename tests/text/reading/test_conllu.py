"""CoNLL-U."""

import re

import pytest

from tawt.errors import ConfigError, DataError
from tawt.text.reading import TaggedSentence, read_conllu

SENTENCES = """\
# sent_id = 1
# text = vámonos al mar
1-2|vámonos|_|_|_|_|_|_|_|_
1|vamos|ir|VERB|V|_|0|root|_|NER=O
2|nos|nosotros|PRON|P|Case=Acc|1|obj|_|_
3-4|al|_|_|_|_|_|_|_|_
3|a|a|ADP|S|_|5|case|_|SpaceAfter=No!NER=B-LOC=x
4|el|el|DET|D|_|5|det|_|NER=
4.1|mar|mar|NOUN|N|_|_|_|1:obl|_

# text = 10 000
1|10 000|10000|NUM|Z|_|0|root|_|Gloss=two  blanks
"""


def conllu(text):
    return text.replace("|", "\t").replace("!", "|")


@pytest.mark.parametrize(("end", "mark"), [("\n", ""), ("\r\n", "\ufeff")])
def test_words_are_the_syntactic_ones(file, end, mark):
    path = file("a.conllu", mark + conllu(SENTENCES).replace("\n", end).rstrip())
    assert list(read_conllu(path)) == [
        TaggedSentence(("vamos", "nos", "a", "el"), ("VERB", "PRON", "ADP", "DET"), 4),
        TaggedSentence(("10 000",), ("NUM",), 12),
    ]
    assert [s.tags for s in read_conllu(path, tag="xpos")] == [("V", "P", "S", "D"), ("Z",)]
    tags = [s.tags for s in read_conllu(path, tag="misc:NER")]
    assert tags == [("O", "O", "B-LOC=x", "O"), ("O",)]


def test_words_and_values_are_left_as_they_are(file):
    path = file("a.conllu", conllu("1|10  000|_|X|_|_|_|_|_|").rstrip() + "\tA=b=c d\n")
    assert next(read_conllu(path)).words == ("10  000",)
    assert next(read_conllu(path, tag="misc:A")).tags == ("b=c d",)


def test_a_misc_key_that_no_word_has(file):
    path = file("a.conllu", conllu(SENTENCES))
    with pytest.raises(DataError, match="no word has 'NR' in its MISC column; did you mean 'NER'"):
        list(read_conllu(path, tag="misc:NR"))


@pytest.mark.parametrize("tag", ["pos", "misc:", ""])
def test_unknown_tags(file, tag):
    with pytest.raises(ConfigError, match="`tag` must be upos, xpos or misc:KEY"):
        list(read_conllu(file("a.conllu", conllu(SENTENCES)), tag=tag))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1|a|a|X", "expected 10 columns separated by tabs, as CoNLL-U has; got 4: '1"),
        ("x|a|a|X|_|_|_|_|_|_", "'x' is no ID of a word; expected 1, 2, …"),
        ("_|a|a|X|_|_|_|_|_|_", "'_' is no ID of a word; expected 1, 2, …"),
        (f"{'1' * 5000}|a|a|X|_|_|_|_|_|_", "is no ID of a word; expected 1, 2, …"),
        ("2-1|a|a|X|_|_|_|_|_|_", "'2-1' is no ID of a word; expected 1, 2, …"),
        ("01|a|a|X|_|_|_|_|_|_", "'01' is no ID of a word; expected 1, 2, …"),
        ("2|a|a|X|_|_|_|_|_|_", "the word has ID 2; expected 1. Is there a blank line missing"),
        ("1|a|a|_|_|_|_|_|_|_", "the word 'a' has no UPOS tag; choose another `tag`"),
        ("1||a|X|_|_|_|_|_|_", "a word is empty or blank: ''."),
        ("1|a|a||_|_|_|_|_|_", "the word 'a' has no UPOS tag"),
    ],
)
def test_problems_are_told_with_their_line(file, line, message):
    path = file("a.conllu", conllu(f"# comment\n\n{line}\n"))
    with pytest.raises(DataError, match=re.escape(f"{path}:3: ") + ".*" + re.escape(message)):
        list(read_conllu(path))


def test_a_missing_blank_line(file):
    word = "1|a|a|X|_|_|_|_|_|_\n"
    with pytest.raises(DataError, match=r"a.conllu:2: the word has ID 1; expected 2."):
        list(read_conllu(file("a.conllu", conllu(word * 2))))


@pytest.mark.parametrize(
    ("mark", "group"),
    [
        ("# newdoc id = weblog-1", "weblog-1"),
        ("#newdoc  id=a = b", "a = b"),
        ("# newdoc", "document 1"),
        ("# newdoc id = ", "document 1"),
        ("# newdoc_id = a", None),
        ("# newpar id = a", None),
    ],
)
def test_the_group_is_the_document(file, mark, group):
    word = "1|a|a|X|_|_|_|_|_|_\n\n"
    path = file("a.conllu", conllu(f"{word}{mark}\n# text = a\n{word}{word}# newdoc\n{word}"))
    last = "document 1" if group is None else "document 2"
    assert [s.group for s in read_conllu(path)] == [None, group, group, last]


def test_names_of_documents_that_no_one_can_read(file):
    path = file("a.conllu", b"\n# newdoc id = +2AA-\n" + conllu("1|a|a|X|_|_|_|_|_|_").encode())
    message = f"{path}:2: the document's name '\\ud800' has a NUL or half of a surrogate pair"
    with pytest.raises(DataError, match=re.escape(message)):
        list(read_conllu(path, encoding="utf-7"))
