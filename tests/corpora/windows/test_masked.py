"""Masked windows: what is asked, what is shown in its place, and that draws have no state."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.corpora.vocabularies import Bytes, Pieces
from tawt.corpora.windows import NOT_ASKED, MaskedWindows
from tawt.corpora.windows.masked import mixed
from tawt.errors import ConfigError
from tests.corpora.files import sentences
from tests.corpora.tokenizers import write_tokenizer, write_word_pieces
from tests.corpora.windows.shards import shard_of

MASK = Bytes().mask


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    return shard_of(tmp_path_factory.mktemp("corpus"), sentences(3000))


def drawn(windows, indices=None):
    batch = windows.batch(np.arange(len(windows)) if indices is None else np.array(indices))
    return (*(batch.inputs[name].numpy() for name in ("tokens", "answers", "lengths")), batch)


def test_windows_are_the_stream_but_for_what_is_asked(shard):
    windows = MaskedWindows(shard, Bytes(), width=50)
    tokens, answers, lengths, batch = drawn(windows)
    asked = answers != NOT_ASKED
    true = np.where(asked, answers, tokens)
    places = np.arange(50) < lengths[:, None]
    np.testing.assert_array_equal(true[places], shard.tokens)
    assert (tokens[~places] == Bytes().padding).all()
    assert not asked[~places].any()
    counts = asked.sum(axis=1) * windows.bytes_per_token
    np.testing.assert_allclose(batch.labels.numpy(), counts, rtol=1e-6)


def test_shares_are_those_of_bert(shard):
    tokens, answers, _, _ = drawn(MaskedWindows(shard, Bytes(), width=64))
    can = shard.tokens != Bytes().separator
    asked = answers != NOT_ASKED
    count = int(asked.sum())
    assert count / can.sum() == pytest.approx(0.15, abs=4 * np.sqrt(0.15 * 0.85 / can.sum()))
    shown, true = tokens[asked], answers[asked]
    noise = 4 / np.sqrt(count)
    assert (shown == MASK).mean() == pytest.approx(0.8, abs=0.4 * noise)
    # A random one may be the true one, once in 256 times.
    assert (shown == true).mean() == pytest.approx(0.1 + 0.1 / 256, abs=0.3 * noise)
    others = shown[(shown != MASK) & (shown != true)]
    assert len(others) / count == pytest.approx(0.1, abs=0.3 * noise)
    assert len(np.unique(others)) > 240  # all of them are drawn


@settings(max_examples=40)
@given(
    st.lists(st.sampled_from(["a", "bc", "def ghi"]), min_size=1, max_size=6),
    st.integers(1, 9),
    st.floats(0.001, 0.999),
    st.integers(0, 2**63),
    st.booleans(),
)
def test_no_special_token_is_ever_asked_or_drawn_and_one_token_always_is(
    tmp_path_factory, texts, width, share, seed, fixed
):
    corpus = shard_of(tmp_path_factory.mktemp("corpus"), texts)
    windows = MaskedWindows(corpus, Bytes(), width=width, share=share, seed=seed, fixed=fixed)
    tokens, answers, lengths, _ = drawn(windows)
    asked = answers != NOT_ASKED
    stream = np.zeros(len(windows) * width, np.int64)
    stream[: len(corpus.tokens)] = corpus.tokens
    plain = (stream >= 3) & (stream < MASK)
    assert not (asked & ~plain.reshape(-1, width)).any()
    assert (asked.any(axis=1) == plain.reshape(-1, width).any(axis=1)).all()
    random = tokens[asked & (tokens != MASK)]
    assert ((random >= 3) & (random < MASK)).all()
    assert lengths.sum() == len(corpus.tokens)


@pytest.mark.parametrize("write", [write_tokenizer, write_word_pieces])
def test_special_pieces_are_neither_asked_nor_drawn(tmp_path, write):
    vocabulary = Pieces(str(write(tmp_path / "t")))
    corpus = shard_of(tmp_path, [*sentences(50), "日本語 unknown 😀"], vocabulary=vocabulary)
    tokens, answers, _, _ = drawn(MaskedWindows(corpus, vocabulary, width=10, share=0.9))
    asked = answers != NOT_ASKED
    assert not np.isin(answers[asked], list(vocabulary.specials)).any()
    random = tokens[asked & (tokens != vocabulary.mask)]
    assert not np.isin(random, list(vocabulary.specials)).any()


def test_a_draw_is_the_same_every_time(shard):
    one, two = (MaskedWindows(shard, Bytes(), width=20, seed=3) for _ in range(2))
    for first, second in zip(drawn(one, [4, 9]), drawn(two, [4, 9]), strict=False):
        if isinstance(first, np.ndarray):
            np.testing.assert_array_equal(first, second)


def differ(one, two):
    return not np.array_equal(one[1], two[1])


def test_fixed_questions_depend_on_the_window_and_not_on_the_batch(shard):
    windows = MaskedWindows(shard, Bytes(), width=20, fixed=True)
    alone, among = drawn(windows, [7]), drawn(windows, [3, 7, 5])
    np.testing.assert_array_equal(alone[0][0], among[0][1])
    np.testing.assert_array_equal(alone[1][0], among[1][1])
    # Windows of the same text are asked about different places.
    same = shard_of(shard.folder.parent / "same", ["abcdefg"] * 50)
    answers = drawn(MaskedWindows(same, Bytes(), width=8, fixed=True))[1][1:]
    assert len(np.unique(answers != NOT_ASKED, axis=0)) > 5


def test_other_questions_are_asked_in_another_batch_and_with_another_seed(shard):
    windows = MaskedWindows(shard, Bytes(), width=40)
    assert differ(drawn(windows, [7]), [each[:1] for each in drawn(windows, [7, 5])[:3]])
    other = MaskedWindows(shard, Bytes(), width=40, seed=1)
    assert differ(drawn(windows, [7]), drawn(other, [7]))


def test_places_are_asked_about_equally_often(shard):
    windows = MaskedWindows(shard, Bytes(), width=32)
    counts = np.zeros(32)
    draw = np.random.default_rng(0)
    for _ in range(100):
        answers = drawn(windows, draw.integers(0, len(windows) - 1, 32))[1]
        counts += (answers != NOT_ASKED).sum(axis=0)
    assert counts.std() / counts.mean() < 4 / np.sqrt(counts.mean())


def test_bytes_of_what_is_asked_add_up_over_the_corpus(tmp_path):
    vocabulary, texts = Pieces(str(write_tokenizer(tmp_path / "t"))), sentences(20)
    corpus = shard_of(tmp_path, texts, vocabulary=vocabulary)
    windows = MaskedWindows(corpus, vocabulary, width=9)
    tokens = sum(map(len, vocabulary.encode(texts)))
    assert windows.bytes_per_token == pytest.approx(sum(map(len, texts)) / tokens)


def test_groups_are_those_of_the_documents_in_which_windows_begin(tmp_path):
    texts, groups = ["abcd", "e", "fghijk"], ["x", "y", "z"]
    corpus = shard_of(tmp_path, texts, groups=groups)
    windows = MaskedWindows(corpus, Bytes(), width=3)
    # The stream: ␟abcd␟e␟fghijk␟; the first separator is the first document's.
    owner = ["x"] * 6 + ["y"] * 2 + ["z"] * 7
    assert list(windows.groups()) == [owner[index * 3] for index in range(len(windows))]


@pytest.mark.parametrize("share", [0.0, 1.0, -1, 2.0])
def test_a_share_out_of_range_is_refused(shard, share):
    with pytest.raises(ConfigError, match="The masked share must lie between 0 and 1"):
        MaskedWindows(shard, Bytes(), width=8, share=share)


def test_a_vocabulary_without_a_mask_is_refused(tmp_path):
    place = write_tokenizer(tmp_path / "t", specials=("<end>",), eos_token="<end>")
    vocabulary = Pieces(str(place))
    with pytest.raises(ConfigError, match="this one has none; choose the tokenizer of a model"):
        MaskedWindows(shard_of(tmp_path, ["a"], vocabulary=vocabulary), vocabulary, width=8)


def test_split_mix_is_the_one_that_was_published():
    """The first numbers of the generator with seed 1234567 (Vigna's splitmix64.c)."""
    step = np.uint64(0x9E3779B97F4A7C15)
    seeds = np.uint64(1234567) + step * np.arange(3, dtype=np.uint64)
    wanted = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert mixed(seeds).tolist() == wanted
