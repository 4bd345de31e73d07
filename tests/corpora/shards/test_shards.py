"""A corpus as one stream of tokens: its parts, its splits, and groups."""

import itertools
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tawt.corpora.reading import documents
from tawt.corpora.sections import CorpusFiles
from tawt.corpora.shards import TokenisingProgress, encoding, making, tokenised
from tawt.corpora.vocabularies import Bytes, Pieces
from tawt.errors import DataError
from tawt.tasks.examples import digests_of
from tests.corpora.files import TEXTS, sentences, texts_of, write_lines, write_records
from tests.corpora.tokenizers import write_tokenizer

KEPT = [text for text in TEXTS if text.strip()]


def made(path, *, split="train", vocabulary=None, workers=1, cache=None, **fields):
    files = CorpusFiles(train=path, **fields)
    cache = cache or path.parent / "cache"
    return tokenised(files, vocabulary or Bytes(), cache=cache, split=split, workers=workers)


def texts_in(shard, vocabulary=None):
    count = shard.index.documents
    return [(vocabulary or Bytes()).decode(shard.document(number)) for number in range(count)]


def assert_sound(shard, texts, vocabulary=None):
    """Everything that the shard says, worked out slowly from the texts."""
    vocabulary = vocabulary or Bytes()
    stream, ends = [vocabulary.separator], []
    for text in texts:
        stream += [*vocabulary.encode([text])[0].tolist(), vocabulary.separator]
        ends.append(len(stream))
    assert shard.tokens.tolist() == stream
    assert shard.ends.tolist() == ends
    compared = ["".join(re.split("[ \t\n\r\v\f]", text)).encode().lower() for text in texts]
    assert shard.digests.tolist() == digests_of(compared).tolist()
    lines = [line for text in texts if "\n" in text for line in text.split("\n")]
    kept = ["".join(re.split("[ \t\n\r\v\f]", line)).encode().lower() for line in lines]
    kept = [line for line in kept if len(line) >= 16]
    assert shard.lines.tolist() == digests_of(kept).tolist()
    index = shard.index
    assert (index.documents, index.tokens) == (len(texts), len(stream))
    assert index.bytes == sum(len(text.encode()) + 1 for text in texts)
    shard.verify()


def test_a_shard_by_hand(tmp_path):
    shard = made(write_lines(tmp_path / "a.txt", ["ab", "", "é"]))
    assert shard.tokens.tolist() == [1, 100, 101, 1, 198, 172, 1]
    assert shard.ends.tolist() == [4, 7]
    assert (shard.index.bytes, shard.index.skipped) == (6, 1)
    assert shard.document(1).tolist() == [198, 172]


def test_all_documents_are_there_and_empty_ones_are_counted(tmp_path):
    shard = made(write_lines(tmp_path / "a.txt", TEXTS))
    assert_sound(shard, KEPT)
    assert shard.index.skipped == len(TEXTS) - len(KEPT)


@settings(max_examples=25)
@given(
    texts=st.lists(st.text(st.sampled_from("ab é"), max_size=40), min_size=1, max_size=12),
    longest=st.integers(5, 50),
    chunk=st.integers(1, 60),
)
def test_chunks_and_parts_of_documents_change_nothing(tmp_path_factory, texts, longest, chunk):
    path = write_lines(tmp_path_factory.mktemp("corpus") / "a.txt", [*texts, "the last"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "LONGEST", longest)
        patch.setattr(documents, "_NEAR", 4)
        patch.setattr(encoding, "_CHARACTERS", chunk)
        shard = made(path, workers=2)
    # A blank document that is longer than a part is not seen to be blank.
    kept = [text for text in texts if text.strip() or len(text) > longest]
    assert_sound(shard, [*kept, "the last"])


@pytest.mark.parametrize("pieces", [False, True])
def test_several_workers_make_the_same_shard_as_one(tmp_path, monkeypatch, pieces):
    monkeypatch.setattr(encoding, "_DOCUMENTS", 7)
    vocabulary = Pieces(str(write_tokenizer(tmp_path / "tokenizer"))) if pieces else Bytes()
    path = write_lines(tmp_path / "a.txt", sentences(300))
    one, four = (
        made(
            path,
            vocabulary=vocabulary,
            workers=workers,
            cache=tmp_path / str(workers),
            held_out={"dev": 0.2},
        )
        for workers in (1, 4)
    )
    names = sorted(file.name for file in one.folder.iterdir())
    assert names == sorted(file.name for file in four.folder.iterdir())
    for name in names:
        assert (one.folder / name).read_bytes() == (four.folder / name).read_bytes()


def test_a_shard_of_pieces(tmp_path):
    vocabulary = Pieces(str(write_tokenizer(tmp_path / "tokenizer")))
    texts = sentences(40, seed=3)
    assert_sound(
        made(write_lines(tmp_path / "a.txt", texts), vocabulary=vocabulary), texts, vocabulary
    )


def test_a_text_that_looks_like_a_separator_ends_no_document(tmp_path):
    vocabulary = Pieces(str(write_tokenizer(tmp_path / "tokenizer")))
    shard = made(write_lines(tmp_path / "a.txt", ["one<end>two"]), vocabulary=vocabulary)
    assert (shard.tokens == vocabulary.separator).sum() == 2
    assert texts_in(shard, vocabulary) == ["one<end>two"]


def test_replaced_characters_are_counted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\xff\xffb\nc\xff\n\xc3\xa9\n")
    shard = made(path, invalid="replace")
    assert shard.index.replaced == 3
    assert_sound(shard, ["a\ufffd\ufffdb", "c\ufffd", "é"])


def test_groups_of_documents(tmp_path):
    records = [{"text": text, "g": "ab"[number % 2]} for number, text in enumerate(TEXTS)]
    shard = made(write_records(tmp_path / "a.jsonl", records), group="g")
    wanted = [record["g"] for record in records if record["text"].strip()]
    assert [shard.group_names[code] for code in shard.members] == wanted
    assert shard.index.groups == 2
    plain = made(write_records(tmp_path / "b.jsonl", records))
    assert (plain.members, plain.group_names) == (None, ())


def test_groups_of_every_name(tmp_path):
    names = ["é", "half \ud800", "", "a\nb"]
    path = write_records(tmp_path / "a.jsonl", [{"text": "x", "g": name} for name in names])
    shard = made(path, group="g", invalid="replace")
    assert list(shard.group_names) == ["é", "half \ufffd", "", "a\nb"]
    with pytest.raises(DataError, match=r"a\.jsonl:2: the field 'g' is not UTF-8"):
        made(path, group="g")


# Splits


def split_texts(path, **fields):
    shards = {s: made(path, split=s, **fields) for s in ("train", *fields["held_out"])}
    for shard in shards.values():
        shard.verify()
    return {split: texts_in(shard) for split, shard in shards.items()}


def by_hand(texts, *, dev, test):
    """The split of each text from its digest: dev from below, test from above."""
    shares = digests_of([text.encode() for text in texts]) / 2**64
    return {
        "train": [t for t, s in zip(texts, shares, strict=True) if dev <= s < 1 - test],
        "dev": [t for t, s in zip(texts, shares, strict=True) if s < dev],
        "test": [t for t, s in zip(texts, shares, strict=True) if s >= 1 - test],
    }


def test_a_documents_own_text_says_its_split(tmp_path):
    texts = sentences(400)
    found = split_texts(write_lines(tmp_path / "a.txt", texts), held_out={"dev": 0.1, "test": 0.2})
    assert found == by_hand(texts, dev=0.1, test=0.2)
    assert 20 <= len(found["dev"]) <= 60
    assert 55 <= len(found["test"]) <= 105


def test_splits_do_not_depend_on_files_their_order_or_other_text(tmp_path):
    texts = sentences(200)
    fractions = {"held_out": {"dev": 0.2, "test": 0.2}}
    one = split_texts(write_lines(tmp_path / "a.txt", texts), **fractions)
    write_lines(tmp_path / "b.txt", [*texts[100:], "more of it"])
    write_lines(tmp_path / "c.txt", texts[:100])
    files = CorpusFiles(train=[tmp_path / "b.txt", tmp_path / "c.txt"], **fractions)
    for split, wanted in one.items():
        shard = tokenised(files, Bytes(), cache=tmp_path / "cache", split=split)
        assert set(texts_in(shard)) - {"more of it"} == set(wanted)


def test_a_fraction_for_test_moves_no_document_of_dev(tmp_path):
    path = write_lines(tmp_path / "a.txt", sentences(200))
    alone = split_texts(path, held_out={"dev": 0.2})["dev"]
    assert split_texts(path, held_out={"dev": 0.2, "test": 0.3})["dev"] == alone


def test_the_same_document_is_on_one_side_alone(tmp_path):
    texts = sentences(60) * 3
    found = split_texts(write_lines(tmp_path / "a.txt", texts), held_out={"dev": 0.3})
    assert not set(found["train"]) & set(found["dev"])


def test_a_long_document_is_in_one_split_as_a_whole(tmp_path, monkeypatch):
    texts = sentences(80)
    monkeypatch.setattr(documents, "LONGEST", 15)
    monkeypatch.setattr(documents, "_NEAR", 5)
    monkeypatch.setattr(encoding, "_CHARACTERS", 40)
    path = write_lines(tmp_path / "a.txt", texts)
    found = split_texts(path, held_out={"dev": 0.3, "test": 0.3})
    assert sorted(itertools.chain(*found.values())) == sorted(texts)
    dev = made(path, split="dev", held_out={"dev": 0.3, "test": 0.3})
    assert_sound(dev, [text for text in texts if text in set(found["dev"])])


def test_documents_that_are_held_out_are_among_those_of_a_limit(tmp_path):
    texts = sentences(100)
    path = write_lines(tmp_path / "a.txt", texts)
    found = split_texts(path, held_out={"dev": 0.3}, limit=40)
    assert sorted(found["train"] + found["dev"]) == sorted(texts[:40])


@pytest.mark.parametrize(
    ("texts", "counted"), [(["one", "two"], "2 documents"), (["one"], "1 document")]
)
def test_a_fraction_that_leaves_nothing_is_said(tmp_path, texts, counted):
    path = write_lines(tmp_path / "a.txt", texts)
    with pytest.raises(DataError, match=f"has {counted}, and `held_out` leaves none of them for"):
        made(path, held_out={"dev": 1e-9})
    assert not [each for each in (tmp_path / "cache").iterdir() if each.name != ".locks"]


# What is refused, and what is told


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("\n \n", "has no text: all of its 2 documents are empty."),
        ("\n", "has no text: its only document is empty."),
        ("", "is empty; expected text."),
    ],
)
def test_no_text_is_refused(tmp_path, content, words):
    (tmp_path / "a.txt").write_text(content)
    with pytest.raises(DataError) as raised:
        made(tmp_path / "a.txt")
    assert words in str(raised.value)


def test_a_folder_of_empty_files_is_refused(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts/a.txt").touch()
    with pytest.raises(DataError, match="texts has no text: it has no documents"):
        made(tmp_path / "texts")


def test_progress_grows_to_all_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr(making._Reporter, "_EVERY", 0.0)
    monkeypatch.setattr(encoding, "_DOCUMENTS", 10)
    path = write_lines(tmp_path / "a.txt", sentences(55))
    told: list[TokenisingProgress] = []
    files = CorpusFiles(train=path, held_out={"dev": 0.2})
    tokenised(files, Bytes(), cache=tmp_path / "cache", workers=1, on_progress=told.append)
    sizes = [each.documents for each in told]
    assert sizes == sorted(sizes)
    assert sizes[-1] == len(texts_of(path)) == 55
    assert told[-1].bytes == told[-1].total == path.stat().st_size


def test_a_shard_is_pickled_as_the_name_of_its_folder(tmp_path):
    shard = made(write_lines(tmp_path / "a.txt", sentences(2000)))
    assert len(shard.tokens) > 10_000
    content = pickle.dumps(shard)
    assert len(content) < 2000
    np.testing.assert_array_equal(pickle.loads(content).tokens, shard.tokens)
