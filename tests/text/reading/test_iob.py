"""Tags of spans."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOBES, Entities

from tawt.errors import DataError
from tawt.text.reading import TagCounts, TaggedSentence, check_tags, is_iob

PATH = Path("a.tsv")


def sentence(tags):
    return TaggedSentence(tuple(f"w{i}" for i in range(len(tags))), tuple(tags), 7)


def repaired(*tags):
    counts = TagCounts()
    return check_tags(sentence(tags), path=PATH, invalid="repair", counts=counts).tags, counts


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["I-X"], ["B-X"]),
        (["O", "I-X", "I-X"], ["O", "B-X", "I-X"]),
        (["B-X", "I-Y", "I-Y"], ["B-X", "B-Y", "I-Y"]),
        (["I-X", "I-X", "B-X", "I-X"], ["B-X", "I-X", "B-X", "I-X"]),
        (["O", "E-X"], ["O", "B-X"]),
        (["S-X", "E-X"], ["B-X", "B-X"]),
    ],
)
def test_invalid_sequences(tags, expected):
    assert repaired(*tags) == (tuple(expected), TagCounts(repaired=1))


def test_a_repair_keeps_line_and_group():
    given_one = TaggedSentence(("a",), ("I-X",), 7, "web")
    found = check_tags(given_one, path=PATH, invalid="repair", counts=TagCounts())
    assert found == TaggedSentence(("a",), ("B-X",), 7, "web")


@pytest.mark.parametrize("prefixes", ["BIES", "BILU"])
def test_bioes_is_converted(prefixes):
    b, i, e, s = prefixes
    tags = [f"{b}-X", f"{i}-X", f"{e}-X", f"{s}-X", "O", f"{b}-Y", f"{e}-Y"]
    expected = ("B-X", "I-X", "I-X", "B-X", "O", "B-Y", "I-Y")
    assert repaired(*tags) == (expected, TagCounts(converted=1))


def test_refused_with_its_line():
    counts = TagCounts()
    with pytest.raises(
        DataError,
        match=re.escape(
            "a.tsv:7: the tags of this sentence are not IOB2: 'I-Y' (word 2, 'w1') after 'B-X'; "
            "expected 'B-Y'. Mend it, or let it be repaired with `invalid: repair`."
        ),
    ):
        check_tags(sentence(["B-X", "I-Y"]), path=PATH, invalid="refuse", counts=counts)
    assert counts == TagCounts(refused=1)
    with pytest.raises(DataError, match=r"'I-X' .* after the start of the sentence"):
        check_tags(sentence(["I-X"]), path=PATH, invalid="refuse", counts=counts)


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ({"B-X"}, True),
        ({"O", "I-X", "S-Y"}, True),
        ({"O"}, False),
        (set(), False),
        ({"B", "I", "O"}, False),
        ({"B-", "O"}, False),
        ({"B-X", "NOUN"}, False),
        ({"B-X", "X"}, False),
    ],
)
def test_is_iob(tags, expected):
    assert is_iob(tags) is expected


@given(st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y"]), min_size=1, max_size=12))
def test_a_repair_keeps_the_spans_that_the_evaluation_reads(tags):
    fixed, _ = repaired(*tags)
    assert get_entities(list(fixed)) == get_entities(tags)
    again, counts = repaired(*fixed)
    assert again == fixed
    assert counts == TagCounts()


@given(st.lists(st.tuples(st.sampled_from("OXY"), st.integers(1, 4)), min_size=1, max_size=6))
def test_a_conversion_keeps_the_spans(spans):
    tags = []
    for name, length in spans:
        middle = [f"I-{name}"] * (length - 2)
        span = [f"S-{name}"] if length == 1 else [f"B-{name}", *middle, f"E-{name}"]
        tags += ["O"] if name == "O" else span
    fixed, counts = repaired(*tags)
    ours = {(name, start, end + 1) for name, start, end in get_entities(list(fixed))}
    theirs = {e.to_tuple()[1:] for e in Entities([tags], IOBES).entities[0]}
    assert ours == theirs
    assert counts.repaired == 0
