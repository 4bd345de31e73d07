"""The rule that raw sentences are cut into words by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tawt.text.predicting import split_words


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("", []),
        (" \t ", []),
        ("EU rejects it.", ["EU", "rejects", "it", "."]),
        ("Don’t, o'clock", ["Don’t", ",", "o'clock"]),
        ("rock-'n'-roll", ["rock", "-", "'", "n", "'", "-", "roll"]),
        ("well-known -- 'quoted'", ["well-known", "-", "-", "'", "quoted", "'"]),
        ("1,000.50 a.b 1, 2", ["1,000.50", "a", ".", "b", "1", ",", "2"]),
        ("$5 (50%)!", ["$", "5", "(", "50", "%", ")", "!"]),
        ("cafe\u0301 नमस्ते", ["cafe\u0301", "नमस्ते"]),
        ("ok 👍🏽 ❤\ufe0f", ["ok", "👍", "🏽", "❤\ufe0f"]),
        ("10\u00a0000", ["10", "000"]),
        ("snake_case", ["snake_case"]),
    ],
)
def test_words_and_signs(sentence, words):
    assert list(split_words(sentence)) == words


@given(st.text())
def test_nothing_is_lost_but_blanks(sentence):
    words = split_words(sentence)
    assert "".join(words) == "".join(sentence.split())
    assert all(word and not any(sign.isspace() for sign in word) for word in words)
