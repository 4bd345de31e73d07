"""Masked windows for encoders: what is asked about them, and where."""

import numpy as np
import pytest
import torch

from tawt.corpora import Bytes, CorpusFiles, MaskedWindows, tokenised
from tawt.corpora.windows import NOT_ASKED
from tawt.corpora.windows.framed import Frame, FramedWindows
from tawt.errors import ConfigError

FRAME = Frame((200, 201), (202,))
TEXT = "".join(f"line {number} of a text\n" for number in range(40))


@pytest.fixture(scope="module")
def shard(tmp_path_factory):
    folder = tmp_path_factory.mktemp("framed")
    (folder / "a.txt").write_text(TEXT)
    return tokenised(CorpusFiles(train=folder / "a.txt"), Bytes(), cache=folder / "cache")


def framed(shard, **values):
    return FramedWindows(shard, Bytes(), **{"max_length": 23, "frame": FRAME, **values})


def undone(batch):
    """The rows with the true tokens put back, by the slowest way."""
    rows = batch.inputs.ids.tolist()
    for row, places, answers in zip(
        rows, batch.inputs.places.tolist(), batch.labels.tolist(), strict=True
    ):
        for place, answer in zip(places, answers, strict=True):
            if answer != NOT_ASKED:
                row[place] = answer
    return [row[:length] for row, length in zip(rows, batch.inputs.lengths.tolist(), strict=True)]


def test_windows_are_the_text_between_the_special_tokens(shard):
    windows = framed(shard)
    every = undone(windows.batch(np.arange(len(windows))))
    assert all(tuple(row[:2]) == FRAME.before and row[-1:] == [202] for row in every)
    assert [token for row in every for token in row[2:-1]] == shard.tokens.tolist()


def test_every_full_window_is_asked_about_the_same_share(shard):
    for share, wanted in ((0.15, 3), (0.5, 10), (0.001, 1)):
        windows = framed(shard, share=share)
        batch = windows.batch(np.arange(len(windows)))
        assert batch.labels.shape == batch.inputs.places.shape == (len(windows), wanted)
        asked = (batch.labels != NOT_ASKED).sum(dim=1)
        assert asked.tolist()[:-1] == [wanted] * (len(windows) - 1)
        assert batch.places.tolist() == asked.tolist()


def test_shapes_do_not_depend_on_what_is_in_a_window(shard):
    windows = framed(shard)
    shapes = set()
    for index in range(len(windows)):
        batch = windows.batch(np.array([index]))
        tensors = (batch.inputs.ids, batch.inputs.places, batch.labels)
        shapes |= {tuple(tensor.shape[1:]) for tensor in tensors}
    assert shapes == {(23,), (3,)}


def test_separators_are_never_asked_about_and_places_are_told_once(shard):
    windows = framed(shard, share=0.6)
    batch = windows.batch(np.arange(len(windows)))
    asked = batch.labels != NOT_ASKED
    assert not (batch.labels == windows.vocabulary.separator).any()
    for places, row in zip(batch.inputs.places, asked, strict=True):
        found = places[row].tolist()
        assert found == sorted(set(found))
        assert min(found) >= 2
    assert not batch.inputs.places[~asked].any()


def test_most_of_what_is_asked_about_is_masked(shard):
    windows = framed(shard, share=0.5)
    batches = [windows.batch(np.arange(first, first + 20)) for first in range(15)]
    asked = []
    for batch in batches:
        known = batch.labels != NOT_ASKED
        asked.append((batch.inputs.ids.gather(1, batch.inputs.places)[known], batch.labels[known]))
    seen, true = (torch.cat(part) for part in zip(*asked, strict=True))
    masked, same = (seen == Bytes.mask).float().mean(), (seen == true).float().mean()
    assert 0.77 < masked < 0.83
    assert 0.07 < same < 0.13


def test_the_draw_depends_on_the_seed_and_the_batch(shard):
    windows, other = framed(shard), framed(shard, seed=1)
    some = np.array([3, 5])
    assert torch.equal(windows.batch(some).inputs.places, windows.batch(some).inputs.places)
    assert not torch.equal(windows.batch(some).inputs.places, other.batch(some).inputs.places)
    alone = windows.batch(np.array([3])).inputs.places
    assert not torch.equal(windows.batch(some).inputs.places[:1], alone)


def test_fingerprints_tell_how_they_are_cut_and_asked_about(shard):
    kinds = [
        framed(shard),
        framed(shard, max_length=24),
        framed(shard, share=0.3),
        framed(shard, frame=Frame((200,), (202,))),
        MaskedWindows(shard, Bytes(), width=20),
    ]
    assert len({windows.fingerprint() for windows in kinds}) == len(kinds)
    assert framed(shard).fingerprint() == framed(shard, seed=7).fingerprint()
    assert framed(shard).names() is None


def test_a_row_that_special_tokens_fill_is_refused(shard):
    with pytest.raises(ConfigError, match=r"`model.max_length` is 3, and all of it"):
        framed(shard, max_length=3)


def test_an_encoder_may_have_no_special_tokens(shard):
    windows = framed(shard, frame=Frame())
    batch = windows.batch(np.arange(len(windows)))
    assert [token for row in undone(batch) for token in row] == shard.tokens.tolist()
