"""Sentences as rows of pieces: every word answered once, by the row that shows most around it."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.errors import ConfigError
from tawt.text.tokens import WordPieces
from tests.text.encoders import ARCHITECTURES, WORDS, letters_tokenizer, write_encoder

LETTERS = letters_tokenizer()
PAD, UNK, CLS, SEP = range(4)
NOTHING = "\u200b"  # of no width: the tokenizer has no piece for it

words = st.one_of(
    st.text("abc", min_size=1, max_size=6), st.sampled_from([NOTHING, NOTHING * 3, "z", "a-b"])
)
sentences = st.lists(words, min_size=1, max_size=25)


def pieces_by_hand(tokenizer, sentence):
    """Pieces of each word by itself; the unknown piece where there would be none."""
    alone = [tokenizer(word, add_special_tokens=False)["input_ids"] for word in sentence]
    return [found or [tokenizer.unk_token_id] for found in alone]


def joined(parts):
    return list(itertools.chain(*parts))


def cut(sentence, **options):
    return next(WordPieces(LETTERS, **options).rows([sentence]))


def windows_by_hand(length, room, overlap):
    """Where windows start: a step at a time, the last one at the end."""
    starts = [0]
    while starts[-1] + room < length:
        starts.append(min(starts[-1] + room - overlap, length - room))
    return starts


def context(place, start, *, room, length):
    """How far a piece is from the nearest edge of a window that hides something."""
    left = math.inf if start == 0 else place - start
    right = math.inf if start + room == length else start + room - 1 - place
    return min(left, right)


def start_of(row, firsts):
    return firsts[row.words[0]] - (row.places[0] - 1)


# One row


@given(sentence=sentences)
def test_a_sentence_that_fits_is_one_row_of_the_words_pieces(sentence):
    by_word = pieces_by_hand(LETTERS, sentence)
    (row,) = cut(sentence, max_length=200)
    assert row.ids.tolist() == [CLS, *joined(by_word), SEP]
    assert row.words.tolist() == list(range(len(sentence)))
    starts = np.cumsum([1, *map(len, by_word)])
    assert row.places.tolist() == starts[:-1].tolist()


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_pieces_are_what_the_tokenizer_gives(name, tmp_path):
    from tawt.text.encoding import load_tokenizer

    tokenizer = load_tokenizer(write_encoder(name, tmp_path))
    made = WordPieces(tokenizer, max_length=500).rows(WORDS)
    for sentence, (row,) in zip(WORDS, made, strict=True):
        theirs = tokenizer(sentence, is_split_into_words=True)
        assert row.ids.tolist() == theirs["input_ids"]
        owners = theirs.word_ids()
        assert row.places.tolist() == [owners.index(word) for word in range(len(sentence))]


@settings(max_examples=200)
@given(sentence=st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=6))
def test_any_text_may_be_a_word(sentence):
    rows = cut(sentence, max_length=8)
    answered = [word for row in rows for word in row.words.tolist()]
    assert answered == list(range(len(sentence)))
    if not any(special in word for word in sentence for special in ("[CLS]", "[SEP]", "[PAD]")):
        for row in rows:
            assert not {CLS, SEP, PAD} & set(row.ids[row.places].tolist())


def test_words_without_pieces_become_the_unknown_piece():
    sentence = [NOTHING, "ab", NOTHING, NOTHING, "c", NOTHING]
    (row,) = cut(sentence, max_length=20)
    assert LETTERS.convert_ids_to_tokens(row.ids) == [
        *("[CLS]", "[UNK]", "a", "##b", "[UNK]", "[UNK]", "c", "[UNK]", "[SEP]"),
    ]
    assert row.places.tolist() == [1, 2, 4, 5, 6, 7]


def test_a_word_that_looks_like_a_special_piece_is_still_a_word():
    (row,) = cut(["a", "[SEP]", "b"], max_length=20)
    assert row.words.tolist() == [0, 1, 2]


def test_an_empty_sentence_is_a_row_without_words():
    (row,) = cut([], max_length=8)
    assert row.ids.tolist() == [CLS, SEP]
    assert row.words.tolist() == row.places.tolist() == []


def test_many_sentences_are_cut_as_each_alone():
    many = [["abc"[: 1 + number % 3]] * (1 + number % 7) for number in range(2500)]
    together = list(WordPieces(LETTERS, max_length=9).rows(many))
    assert len(together) == len(many)
    for number in (0, 1, 1023, 1024, 2047, 2048, 2499):
        alone = cut(many[number], max_length=9)
        assert [row.ids.tolist() for row in together[number]] == [r.ids.tolist() for r in alone]


# Windows


@settings(max_examples=300)
@given(
    sentence=sentences,
    max_length=st.integers(3, 20),
    overlap=st.none() | st.integers(0, 30),
)
def test_every_word_is_answered_once_in_order_with_most_context(sentence, max_length, overlap):
    by_word = pieces_by_hand(LETTERS, sentence)
    pieces = joined(by_word)
    firsts = np.cumsum([0, *map(len, by_word)])[:-1]
    room = max_length - 2
    rows = cut(sentence, max_length=max_length, overlap=overlap)

    answered = [word for row in rows for word in row.words.tolist()]
    assert answered == list(range(len(sentence)))
    if len(pieces) <= room:
        return
    shared = min(room - 1, room // 4 if overlap is None else overlap)
    grid = windows_by_hand(len(pieces), room, shared)
    for row in rows:
        start = start_of(row, firsts)
        assert start in grid
        assert row.ids.tolist() == [CLS, *pieces[start : start + room], SEP]
        for word, place in zip(row.words, row.places, strict=True):
            assert row.ids[place] == by_word[word][0]
            inside = [s for s in grid if s <= firsts[word] < s + room]
            contexts = [context(firsts[word], s, room=room, length=len(pieces)) for s in inside]
            ours = context(firsts[word], start, room=room, length=len(pieces))
            assert ours == max(contexts)


def test_windows_by_hand():
    # Room for 4 pieces, 2 of them shared: windows at 0, 2, 4 and 5. Word 2 has one piece after it
    # in the first and none before it in the second; word 6 is one from an edge in the last two.
    rows = cut(list("abcabcabc"), max_length=6, overlap=2)
    assert [row.words.tolist() for row in rows] == [[0, 1, 2], [3, 4], [5, 6], [7, 8]]
    assert [row.places.tolist() for row in rows] == [[1, 2, 3], [2, 3], [2, 3], [3, 4]]


def test_windows_without_overlap_are_neighbours():
    rows = cut(list("abcabcab"), max_length=6, overlap=0)
    assert [row.words.tolist() for row in rows] == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_window_without_a_words_beginning_is_left_out():
    (first, last) = cut(["a", "b" * 12, "c"], max_length=6, overlap=0)
    assert first.words.tolist() == [0, 1]
    assert last.words.tolist() == [2]


def test_windows_are_counted():
    pieces = WordPieces(LETTERS, max_length=6)
    list(pieces.rows([list("abc"), list("abcabc"), list("abcabcabc")]))
    assert (pieces.windowed, pieces.cut_words, pieces.cut_sentences) == (2, 0, 0)


# Truncation


@given(sentence=sentences, max_length=st.integers(3, 20))
def test_truncation_keeps_the_words_that_begin_in_time(sentence, max_length):
    by_word = pieces_by_hand(LETTERS, sentence)
    pieces = WordPieces(LETTERS, max_length=max_length, long="truncate")
    ((row,),) = pieces.rows([sentence])
    before = [sum(map(len, by_word[:word])) for word in range(len(sentence))]
    kept = [word for word in range(len(sentence)) if before[word] < max_length - 2]
    assert row.words.tolist() == kept
    assert row.ids.tolist() == [CLS, *joined(by_word)[: max_length - 2], SEP]
    assert pieces.cut_words == len(sentence) - len(kept)
    assert pieces.windowed == 0


def test_truncation_counts_sentences_that_lose_no_word_too():
    pieces = WordPieces(LETTERS, max_length=5, long="truncate")
    list(pieces.rows([["a", "bbbb"], ["a", "b", "c", "a"], ["a"]]))
    assert (pieces.cut_sentences, pieces.cut_words) == (2, 1)


def test_no_room_for_a_word_is_refused():
    with pytest.raises(ConfigError, match="leaves no room"):
        WordPieces(LETTERS, max_length=2)
    assert len(cut(["a", "b"], max_length=3)) == 2
