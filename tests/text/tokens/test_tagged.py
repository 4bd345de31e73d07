"""Tagged sentences in batches, against a loop over words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.tasks.examples import Subset
from tawt.text.reading import TaggedSentence
from tawt.text.tokens import NO_TAG, TaggedSentences, WordPieces
from tests.text.encoders import letters_tokenizer

LETTERS = letters_tokenizer()
PAD, CLS, SEP = 0, 2, 3
POSITIONS = {"O": 0, "B-X": 1, "I-X": 2, "B-NEW": 3}  # the last is of held-out examples only

tagged = st.lists(
    st.tuples(st.sampled_from(["a", "bc", "cab", "\u200b"]), st.sampled_from(list(POSITIONS))),
    min_size=1,
    max_size=12,
)


def sentence(pairs):
    words, tags = zip(*pairs, strict=True)
    return TaggedSentence(words, tags, line=1)


def examples(sentences, *, max_length=64, **options):
    pieces = WordPieces(LETTERS, max_length=max_length, **options)
    return TaggedSentences(sentences, POSITIONS, pieces, padding=PAD)


def test_a_batch_by_hand():
    made = examples([sentence([("ab", "B-X"), ("c", "I-X")]), sentence([("a", "O")])])
    batch = made.batch(np.array([1, 0]))
    ids, lengths, types, level = batch.inputs
    a, b, c = LETTERS.convert_tokens_to_ids(["a", "##b", "c"])
    assert ids.tolist() == [[CLS, a, SEP, 0, 0, 0, 0, 0], [CLS, a, b, c, SEP, 0, 0, 0]]
    assert lengths.tolist() == [3, 5]
    assert (types, level) == (None, "words")
    no = NO_TAG
    tags = [[no, 0, no, no, no, no, no, no], [no, 1, no, 2, no, no, no, no]]
    assert batch.labels.tags.tolist() == tags
    assert batch.labels.share.item() == pytest.approx(2 / 3)  # sentences to words
    assert batch.labels.sentence.tolist() == [0, 1]


def test_windows_of_a_sentence_are_rows_that_belong_together():
    long = sentence([("a", "O")] * 5 + [("b", "B-X")])
    made = examples([sentence([("c", "O")]), long], max_length=6, overlap=0)
    assert len(made) == 2
    assert made.lengths.tolist() == [3, 6]
    batch = made.batch(np.array([1, 0, 1]))
    assert batch.labels.sentence.tolist() == [0, 0, 1, 2, 2]
    assert batch.labels.share.item() == pytest.approx(2 / 7)
    words = (batch.labels.tags != NO_TAG).sum(dim=1)
    assert words.tolist() == [3, 3, 1, 3, 3]  # the last window reaches back to be full


@settings(max_examples=100)
@given(
    sentences=st.lists(tagged, min_size=1, max_size=6),
    max_length=st.integers(4, 24),
    data=st.data(),
)
def test_tags_stand_at_the_words_first_pieces(sentences, max_length, data):
    given_ones = [sentence(pairs) for pairs in sentences]
    made = examples(given_ones, max_length=max_length)
    chosen = data.draw(st.lists(st.integers(0, len(made) - 1), min_size=1, max_size=8))
    batch = made.batch(np.array(chosen))
    cutter = WordPieces(LETTERS, max_length=max_length)
    rows = [
        (owner, row)
        for owner, index in enumerate(chosen)
        for row in next(cutter.rows([given_ones[index].words]))
    ]
    assert batch.labels.sentence.tolist() == [owner for owner, _ in rows]
    assert batch.inputs.ids.shape == batch.labels.tags.shape
    assert batch.inputs.ids.shape[1] <= max(max_length, 8)
    for position, (owner, row) in enumerate(rows):
        expected = [NO_TAG] * batch.inputs.ids.shape[1]
        for place, word in zip(row.places, row.words, strict=True):
            expected[place] = POSITIONS[given_ones[chosen[owner]].tags[word]]
        assert batch.labels.tags[position].tolist() == expected
        assert batch.inputs.ids[position, : len(row.ids)].tolist() == row.ids.tolist()
        assert batch.inputs.lengths[position] == len(row.ids)
    words = sum(map(len, sentences))
    assert batch.labels.share.item() == pytest.approx(len(sentences) / words)


def test_with_own_means_a_sentence_is_the_mean_over_its_words():
    long, short = sentence([("a", "O")] * 5 + [("b", "B-X")]), sentence([("c", "O")])
    made = examples([short, long, sentence([("a", "O")] * 2)], max_length=6, overlap=0)
    alone = made.with_own_means()
    batch = alone.batch(np.array([1, 2, 0]))
    assert batch.labels.share.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 2, 1])
    assert batch.labels.sentence.tolist() == [0, 0, 1, 2]
    assert made.batch(np.array([1])).labels.share.item() == pytest.approx(3 / 9)  # as it was
    assert alone.fingerprint() == made.fingerprint()
    part = Subset(made, np.array([2, 0])).with_own_means()
    assert part.batch(np.array([1, 0])).labels.share.tolist() == pytest.approx([1, 1 / 2])


def test_words_that_are_cut_off_are_counted_and_do_not_count():
    pieces = WordPieces(LETTERS, max_length=5, long="truncate")
    long, short = sentence([("a", "O")] * 7), sentence([("a", "O")] * 2)
    first = TaggedSentences([long], POSITIONS, pieces, padding=PAD)
    second = TaggedSentences([short, long, long], POSITIONS, pieces, padding=PAD)
    assert (first.cut_words, second.cut_words) == (4, 8)
    assert second.batch(np.array([0])).labels.share.item() == pytest.approx(3 / (2 + 3 + 3))


def test_batches_are_no_wider_than_an_encoder_takes():
    made = examples([sentence([("a", "O")] * 40)], max_length=33)
    assert made.batch(np.array([0])).inputs.ids.shape == (2, 33)


def test_fingerprints_tell_words_tags_and_their_names_apart():
    base = [sentence([("a", "O"), ("b", "B-X")]), sentence([("c", "O")])]
    known = {examples(base).fingerprint()}
    assert examples(list(base)).fingerprint() in known
    others = [
        base[::-1],
        [sentence([("a", "O"), ("c", "B-X")]), base[1]],
        [sentence([("a", "O"), ("b", "I-X")]), base[1]],
        [sentence([("a", "O"), ("b", "B-X"), ("c", "O")])],
        base[:1],
    ]
    for other in others:
        found = examples(other).fingerprint()
        assert found not in known
        known.add(found)
    renamed = {"O": 0, "B-Y": 1}
    pairs = [TaggedSentence(("a", "b"), ("O", "B-Y"), 1), TaggedSentence(("c",), ("O",), 1)]
    pieces = WordPieces(LETTERS, max_length=64)
    assert TaggedSentences(pairs, renamed, pieces, padding=PAD).fingerprint() not in known
