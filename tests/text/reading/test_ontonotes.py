"""OntoNotes in the form of CoNLL-2012."""

import re

import pytest

from tawt.errors import ConfigError, DataError
from tawt.text.reading import TaggedSentence, read_ontonotes

DOCUMENT = """\
#begin document (bc/cctv/00/cctv_0000); part 000
bc/cctv/00/cctv_0000 0 0 The DT (TOP(S(NP(NP* - - - Speaker#1 (ORG* (ARG0* * (12
bc/cctv/00/cctv_0000 0 1 Bank NNP *) bank - 2 Speaker#1 * * * -
bc/cctv/00/cctv_0000 0 2 of IN (PP* - - - Speaker#1 * * * -
bc/cctv/00/cctv_0000 0 3 Ghana NNP (NP*))) - - - Speaker#1 *) *) * 12)
bc/cctv/00/cctv_0000 0 4 lent VBD (VP* lend 01 1 Speaker#1 * (V*) * -
bc/cctv/00/cctv_0000 0 5 Ann NNP (NP*) - - - Speaker#1 (PERSON) (ARG2*) * -

bc/cctv/00/cctv_0000 0 0 # NN (TOP* - - - Speaker#1 * -
bc/cctv/00/cctv_0000 0 1 Peru NNP *) - - - Speaker#1 (GPE*) -

#end document
#begin document (bc/cctv/00/cctv_0000); part 001
bc/cctv/00/cctv_0000 1 0 Yes UH (TOP(INTJ*)) - - - Speaker#2 * -
#end document
"""


def row(entity="*", word="w"):
    return f"d 0 0 {word} NN * - - - - {entity} -\n"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("layer", "tags"),
    [
        ("pos", [("DT", "NNP", "IN", "NNP", "VBD", "NNP"), ("NN", "NNP"), ("UH",)]),
        ("predicate", [("O", "O", "O", "O", "B-V", "O"), ("O", "O"), ("O",)]),
        ("ner", [("B-ORG", "I-ORG", "I-ORG", "I-ORG", "O", "B-PERSON"), ("O", "B-GPE"), ("O",)]),
    ],
)
def test_layers(file, end, layer, tags):
    path = file("a.v4_gold_conll", DOCUMENT.replace("\n", end))
    words = [("The", "Bank", "of", "Ghana", "lent", "Ann"), ("#", "Peru"), ("Yes",)]
    assert list(read_ontonotes(path, layer=layer)) == [
        TaggedSentence(*parts, "bc/cctv/00/cctv_0000")
        for parts in zip(words, tags, (2, 9, 14), strict=True)
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (row("(ORG*") + row("(GPE)"), ":2: the named entity '(GPE)' cannot stand inside ORG;"),
        (row("(ORG(GPE*"), ":1: the named entity '(ORG(GPE*' cannot stand outside any entity;"),
        (row("(ORG*") + row() + "\n" + row(), ":2: the sentence ends inside ORG; expected *)"),
        (row("*)"), ":1: the named entity '*)' cannot stand outside any entity; expected (TYPE*"),
        (row("(*"), ":1: the named entity '(*' cannot stand outside"),
        (row("(ORG*") + row("-"), ":2: the named entity '-' cannot stand inside ORG;"),
        (row() + row("* *"), ":2: expected 12 columns, as CoNLL-2012 has; got 13: "),
        ("#begin\na b c\n", ":2: expected at least 12 columns, as CoNLL-2012 has; got 3: 'a b c'."),
        (row(word="[WORD]"), ":1: the words are not filled in ([WORD]); run skeleton2conll"),
    ],
)
def test_problems_are_told_with_their_line(file, content, message):
    path = file("a_conll", content)
    with pytest.raises(DataError, match=re.escape(f"{path}{message}")):
        list(read_ontonotes(path, layer="ner"))


def test_unknown_layers(file):
    with pytest.raises(ConfigError, match="`layer` must be one of pos, predicate, ner; got 'srl'"):
        list(read_ontonotes(file("a_conll", DOCUMENT), layer="srl"))


@pytest.mark.parametrize(
    ("mark", "group"),
    [
        ("#begin document (a/b_1); part 003", "a/b_1"),
        ("#begin document (nw (old)); part 000", "nw (old)"),
        ("#begin document", "document 1"),
        ("#begin document ();", "document 1"),
        ("#end document", None),
    ],
)
def test_the_group_is_the_document(file, mark, group):
    path = file("a_conll", f"{row()}{mark}\n{row()}\n{row()}")
    assert [s.group for s in read_ontonotes(path)] == [None, group, group]
