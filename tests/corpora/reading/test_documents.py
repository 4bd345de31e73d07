"""Long documents, in parts that depend on their own text alone."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.corpora.reading import documents
from tawt.corpora.reading.documents import Document, Growing, in_parts, without_blank

LONGEST = 40


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr(documents, "LONGEST", LONGEST)
    monkeypatch.setattr(documents, "_NEAR", 10)


def grown(bits, **how):
    document = Growing(**how)
    return [*(part for bit in bits for part in document.add(bit)), *document.end()]


def cut_slowly(text):
    """Parts of at most `LONGEST` characters, each cut before the last blank of its last ten."""
    parts = []
    while len(text) > LONGEST:
        place = LONGEST
        for at in range(LONGEST - 1, LONGEST - 10, -1):
            if text[at].isspace() and not text[at - 1].isspace():
                place = at
                break
        parts.append(text[:place])
        text = text[place:]
    return [*parts, text]


TEXT = st.text(st.sampled_from("abé \n"), max_size=200)


@settings(max_examples=60)
@given(TEXT, st.lists(st.integers(0, 200), max_size=5))
def test_where_a_document_is_cut_depends_on_its_text_alone(text, places):
    places = sorted({0, *(min(place, len(text)) for place in places), len(text)})
    bits = [text[start:end] for start, end in pairwise(places)]
    parts = grown(bits)
    assert "".join(part.text for part in parts) == text
    assert [part.text for part in parts] == cut_slowly(text)
    assert [part.ends for part in parts] == [False] * (len(parts) - 1) + [True]
    assert list(in_parts(text, "a")) == [part._replace(group="a") for part in parts]


def test_a_document_ends_before_a_blank_that_is_near():
    text = "x" * 34 + " yyy zzzzzzzzzzzzzz"
    assert [part.text for part in in_parts(text)] == ["x" * 34 + " yyy", " zzzzzzzzzzzzzz"]


def test_an_ending_is_taken_off_the_last_part():
    assert grown(["ab\n"], ending="\n") == [Document("ab")]
    assert grown(["ab\n\n"], ending="\n") == [Document("ab\n")]


def test_blank_documents_are_left_out_and_parts_of_long_ones_are_not():
    parts = [Document("a", ends=False), Document(" "), Document("\n"), Document("b")]
    assert list(without_blank(parts)) == [*parts[:2], None, parts[3]]


def test_a_document_of_many_lines_takes_time_in_proportion_to_its_length(monkeypatch):
    """Lines once were appended to a growing text: 2 MB took 13 times what they do now."""
    monkeypatch.setattr(documents, "LONGEST", 2**20)

    def seconds(count):
        start = time.process_time()
        assert sum(len(part.text) for part in grown(["line\n"] * count)) == 5 * count
        return time.process_time() - start

    short = min(seconds(20_000) for _ in range(3))
    assert seconds(400_000) < 20 * short * 5
