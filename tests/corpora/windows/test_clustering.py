"""Clusters of windows: what is alike is together, and a corpus of any size fits in memory."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest

from tawt.corpora.vocabularies import Bytes, Pieces
from tawt.corpora.windows import MaskedWindows, Windows, clustering
from tawt.corpora.windows.clustering import clusters, run_counts
from tawt.errors import ConfigError
from tests.corpora.files import sentences
from tests.corpora.tokenizers import write_tokenizer
from tests.corpora.windows.shards import shard_of

ENGLISH = ("the", "cat", "sat", "on", "a", "mat", "and", "then", "went", "home")
FRENCH = ("le", "chat", "est", "assis", "sur", "un", "tapis", "puis", "rentre", "chez")


def two_languages(folder, *, times=1, vocabulary=None):
    """A corpus of both, and which language each of its documents is in."""
    languages = ["english", "french"] * (20 * times)
    words = {"english": ENGLISH, "french": FRENCH}
    texts = [
        " ".join(sentences(20, seed=number, words=words[language]))
        for number, language in enumerate(languages)
    ]
    return shard_of(folder, texts, groups=languages, vocabulary=vocabulary or Bytes())


def agreement(windows, numbers):
    """The share of windows that are with most of their language."""
    languages = windows.groups().numbers
    tables = [np.bincount(languages[numbers == number]) for number in np.unique(numbers)]
    return sum(int(table.max()) for table in tables) / len(numbers)


@pytest.mark.parametrize("kind", [Windows, MaskedWindows])
@pytest.mark.parametrize("tokenizer", ["bytes", "pieces"])
def test_two_languages_are_two_clusters(tmp_path, kind, tokenizer):
    vocabulary = Bytes()
    if tokenizer == "pieces":
        vocabulary = Pieces(str(write_tokenizer(tmp_path / "t")))
    shard = two_languages(tmp_path / "shards", vocabulary=vocabulary)
    windows = kind(shard, vocabulary, width=32 if tokenizer == "pieces" else 100)
    numbers = clusters(windows, 2, seed=0)
    assert numbers.dtype == np.int32
    assert numbers.shape == (len(windows),)
    assert {*numbers.tolist()} == {0, 1}
    assert agreement(windows, numbers) > 0.9  # some windows are half of each


def test_what_is_not_in_the_sample_goes_to_the_nearest(tmp_path, monkeypatch):
    windows = Windows(two_languages(tmp_path), Bytes(), width=100)
    monkeypatch.setattr(clustering, "_SAMPLE", 30)
    assert len(windows) > 100
    assert agreement(windows, clusters(windows, 2, seed=0)) > 0.9


def test_the_same_seed_finds_the_same_however_many_windows_are_read_at_a_time(
    tmp_path, monkeypatch
):
    windows = Windows(two_languages(tmp_path), Bytes(), width=60)
    first, again = (clusters(windows, 5, seed=3) for _ in range(2))
    monkeypatch.setattr(clustering, "_TOKENS_AT_ONCE", 5000)
    in_blocks = clusters(windows, 5, seed=3)
    assert np.array_equal(first, again)
    assert np.array_equal(first, in_blocks)


def test_runs_are_counted_as_a_dictionary_counts_them(tmp_path):
    windows = Windows(shard_of(tmp_path, ["abcab", "cabca", "ab"]), Bytes(), width=6)
    counts = run_counts(windows, np.arange(len(windows)))
    stream = windows.shard.tokens.tolist()[1:]
    for index, found in enumerate(counts):
        tokens = stream[index * 6 : index * 6 + 6]  # the last window is shorter
        runs = Counter(
            tuple(tokens[start : start + length])
            for length in (1, 2, 3)
            for start in range(len(tokens) - length + 1)
        )
        assert sorted(found[found > 0].tolist()) == sorted(map(float, runs.values()))


def test_windows_narrower_than_a_run_have_the_runs_that_fit(tmp_path):
    windows = Windows(shard_of(tmp_path, ["abab", "cdcd"]), Bytes(), width=2)
    assert run_counts(windows, np.array([0])).sum() == 3
    assert len(clusters(windows, 2, seed=0)) == len(windows)


@pytest.mark.parametrize(("texts", "most"), [(["abc"], 1), (["aaaaaaa"] * 40, 1), (["ab"] * 9, 1)])
def test_equal_windows_make_no_clusters(tmp_path, texts, most):
    windows = Windows(shard_of(tmp_path, texts), Bytes(), width=len(texts[0]) + 1)
    assert len(np.unique(clusters(windows, 8, seed=0))) == most


def test_no_more_clusters_than_windows_are_looked_at(tmp_path, monkeypatch):
    windows = Windows(two_languages(tmp_path), Bytes(), width=20)
    monkeypatch.setattr(clustering, "_SAMPLE", 30)
    with pytest.raises(ConfigError, match=r"found in 30 of them, .* got 31\. Lower") as caught:
        clusters(windows, 31, seed=0)
    assert caught.value.place == ("weighting", "group", "count")


def test_memory_grows_by_bytes_a_window(tmp_path, monkeypatch):
    monkeypatch.setattr(clustering, "_SAMPLE", 50)
    monkeypatch.setattr(clustering, "_TOKENS_AT_ONCE", 1 << 15)
    peaks, sizes = [], []
    for times in (1, 1, 8):  # the first warms up
        windows = Windows(two_languages(tmp_path / str(times), times=times), Bytes(), width=30)
        tracemalloc.start()
        clusters(windows, 4, seed=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        sizes.append(len(windows))
        tracemalloc.stop()
    assert sizes[2] > 6 * sizes[1]
    assert peaks[2] - peaks[1] < 50 * (sizes[2] - sizes[1])
