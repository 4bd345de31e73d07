"""Causal windows: every token of a corpus is predicted exactly once, and every byte counts."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.corpora.shards import encoding
from tawt.corpora.vocabularies import Bytes, Pieces
from tawt.corpora.windows import Windows, base
from tawt.corpora.windows.base import gathered
from tawt.errors import ConfigError
from tests.corpora.files import sentences
from tests.corpora.tokenizers import write_tokenizer
from tests.corpora.windows.shards import shard_of

TEXT = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1)


@settings(max_examples=40)
@given(st.lists(TEXT, max_size=8), st.integers(1, 12), st.integers(1, 20))
def test_every_token_and_every_byte_is_predicted_exactly_once(
    tmp_path_factory, texts, width, chunk
):
    texts = [text for text in texts if text.strip()] + ["é!"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encoding, "_CHARACTERS", chunk)  # documents span chunks and windows
        shard = shard_of(tmp_path_factory.mktemp("corpus"), texts)
    windows = Windows(shard, Bytes(), width=width)
    batch = windows.batch(np.arange(len(windows)))
    predicted, seen = [], []
    for row, length in zip(batch.inputs["tokens"], batch.inputs["lengths"], strict=True):
        assert 2 <= length <= width + 1
        assert (row[length:] == Bytes().padding).all()
        predicted += row[1:length].tolist()
        seen += row[: length - 1].tolist()
    wanted = [1]
    for text in texts:
        wanted += [*(byte + 3 for byte in text.encode()), 1]
    assert predicted == wanted[1:]
    assert seen == wanted[:-1]  # what each is predicted from begins with the one before it
    size = sum(len(text.encode()) + 1 for text in texts)
    assert float(batch.labels.double().sum()) == pytest.approx(size, rel=1e-6)


def test_windows_by_hand(tmp_path):
    windows = Windows(shard_of(tmp_path, ["ab", "c"]), Bytes(), width=3)
    batch = windows.batch(np.array([1, 0]))
    assert batch.inputs["tokens"].tolist() == [[1, 102, 1, 0], [1, 100, 101, 1]]
    assert batch.inputs["lengths"].tolist() == [3, 4]
    assert batch.labels.tolist() == [2.0, 3.0]  # c and the end of its line; a, b and its end
    assert batch.inputs["tokens"].dtype == torch.int64


def test_bytes_of_pieces_add_up_to_those_of_the_text(tmp_path):
    """A piece stands for several bytes: each counts as many as the mean over the corpus."""
    vocabulary, texts = Pieces(str(write_tokenizer(tmp_path / "t"))), sentences(30)
    windows = Windows(shard_of(tmp_path, texts, vocabulary=vocabulary), vocabulary, width=7)
    tokens = sum(len(ids) + 1 for ids in vocabulary.encode(texts))
    size = sum(len(text.encode()) + 1 for text in texts)
    assert windows.predicted == tokens < size
    assert windows.bytes_per_token == size / tokens
    total = windows.batch(np.arange(len(windows))).labels.double().sum()
    assert float(total) == pytest.approx(size, rel=1e-6)


def test_a_corpus_shorter_than_a_window_is_one_window(tmp_path):
    windows = Windows(shard_of(tmp_path, ["ab"]), Bytes(), width=100)
    assert len(windows) == 1
    assert windows.batch(np.array([0])).inputs["lengths"].tolist() == [4]


def test_a_document_without_tokens_still_has_its_end(tmp_path):
    class Deaf(Bytes):
        def encode_joined(self, texts):
            return np.zeros(0, np.uint16), np.zeros(len(texts), np.int64)

    windows = Windows(shard_of(tmp_path, ["ab", "c"], vocabulary=Deaf()), Deaf(), width=4)
    assert windows.batch(np.array([0])).inputs["tokens"].tolist() == [[1, 1, 1, 0, 0]]


def test_groups_are_those_of_the_documents_in_which_windows_begin(tmp_path):
    texts, groups = ["abcd", "e", "fghijk"], ["x", "y", "x"]
    windows = Windows(shard_of(tmp_path, texts, groups=groups), Bytes(), width=3)
    owner = [each for text, each in zip(texts, groups, strict=True) for _ in range(len(text) + 1)]
    assert list(windows.groups()) == [owner[index * 3] for index in range(len(windows))]
    assert Windows(shard_of(tmp_path / "b", texts), Bytes(), width=3).groups() is None


def test_groups_are_four_bytes_a_window_however_many_are_looked_up_at_a_time(tmp_path, monkeypatch):
    texts, groups = ["abcd", "e", "fghijk"] * 7, ["x", "y", "x"] * 7
    windows = Windows(shard_of(tmp_path, texts, groups=groups), Bytes(), width=3)
    whole = windows.groups()
    monkeypatch.setattr(base, "_AT_ONCE", 2)
    parts = windows.groups()
    assert parts.numbers.dtype == np.int32
    assert np.array_equal(parts.numbers, whole.numbers)
    assert parts.names == whole.names


def test_digests_are_of_documents(tmp_path):
    shard = shard_of(tmp_path, ["one", "two", "one"])
    first, second, third = Windows(shard, Bytes(), width=2).digests().tolist()
    assert first == third != second


def test_a_fingerprint_says_tokens_and_cut(tmp_path):
    texts = sentences(5)
    shard, other = shard_of(tmp_path / "a", texts), shard_of(tmp_path / "b", [*texts, "more"])
    again = shard_of(tmp_path / "c", texts)
    found = [Windows(each, Bytes(), width=4).fingerprint() for each in (shard, other, again)]
    assert found[0] == found[2] != found[1]
    assert Windows(shard, Bytes(), width=5).fingerprint() != found[0]


def test_text_is_shown_with_breaks_between_documents_and_cut_if_it_is_long(tmp_path):
    shard = shard_of(tmp_path, ["one  two", "naïve " * 100])
    windows = Windows(shard, Bytes(), width=600)
    assert windows.preview(0).startswith("one two ¶ naïve naïve")
    assert len(windows.preview(0)) == 100
    assert windows.preview(0).endswith("…")
    assert windows.show(0).text.startswith(windows.preview(0)[:-1])
    assert windows.names() is None


def test_what_is_wrong_is_refused(tmp_path):
    shard = shard_of(tmp_path, ["ab"])
    with pytest.raises(ConfigError, match="A window must have at least 1 token; got 0"):
        Windows(shard, Bytes(), width=0)
    with pytest.raises(ConfigError, match="was tokenised with another vocabulary"):
        Windows(shard, Pieces(str(write_tokenizer(tmp_path / "t"))), width=4)


def test_notes_are_what_there_is_and_what_is_odd(tmp_path):
    windows = Windows(shard_of(tmp_path, ["ab", " ", "c"]), Bytes(), width=4)
    assert windows.notes == {"documents": 2, "tokens": 6, "bytes": 5, "skipped": 1}


@settings(max_examples=40)
@given(st.integers(1, 20), st.integers(1, 6), st.lists(st.integers(0, 19), min_size=1))
def test_rows_out_of_a_stream_are_its_slices(size, width, starts):
    stream = np.arange(size, dtype=np.uint16)
    starts = np.array([start % size for start in starts])
    rows, lengths = gathered(stream, starts, width=width, filler=99)
    for row, length, start in zip(rows.tolist(), lengths.tolist(), starts.tolist(), strict=True):
        found = stream[start : start + width].tolist()
        assert row == found + [99] * (width - len(found))
        assert length == len(found)
