"""The cache: found again, made again where anything changed, and never half of one."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest

from tawt.corpora.sections import CorpusFiles
from tawt.corpora.shards import Shard, encoding, making, tokenised
from tawt.corpora.shards.writing import ShardWriter
from tawt.corpora.vocabularies import Bytes, Pieces
from tawt.errors import DataError
from tests.corpora.files import sentences, write_lines, write_records
from tests.corpora.tokenizers import write_tokenizer


@pytest.fixture
def corpus(tmp_path):
    return write_lines(tmp_path / "a.txt", sentences(50))


@pytest.fixture
def passes(monkeypatch):
    """How often a corpus was read."""
    count = []
    before = making._make
    monkeypatch.setattr(making, "_make", lambda *given: (count.append(1), before(*given))[1])
    return count


def made(corpus, vocabulary=None, *, split="train", **fields):
    files = CorpusFiles(**{"train": corpus, **fields})
    cache = corpus.parent / "cache"
    return tokenised(files, vocabulary or Bytes(), cache=cache, split=split, workers=1)


def kept(corpus):
    return sorted(each.name for each in (corpus.parent / "cache").glob("*") if each.is_dir())


def test_a_shard_is_made_once(corpus, passes):
    one, two = made(corpus), made(corpus)
    assert one.folder == two.folder
    assert len(passes) == 1


def test_splits_that_are_cut_off_are_made_in_one_pass(corpus, passes):
    fractions = {"held_out": {"dev": 0.2, "test": 0.2}}
    for split in ("dev", "train", "test"):
        made(corpus, split=split, **fractions)
    assert len(passes) == 1


def test_what_is_read_or_how_makes_another_shard(corpus, passes, tmp_path):
    records = write_records(tmp_path / "a.jsonl", [{"text": "a", "body": "b", "g": "c"}])
    ways = [
        {},
        {"limit": 10},
        {"held_out": {"dev": 0.2}},
        {"held_out": {"dev": 0.3}},
        {"documents": "file"},
        {"encoding": "latin-1"},
        {"invalid": "replace"},
        {"train": records},
        {"train": records, "field": "body"},
        {"train": records, "group": "g"},
        {"train": [corpus, records]},
    ]
    folders = {made(corpus, **way).folder for way in ways}
    pieces = Pieces(str(write_tokenizer(tmp_path / "tokenizer")))
    folders.add(made(corpus, pieces).folder)
    assert len(folders) == len(passes) == len(ways) + 1
    assert {made(corpus, **way).folder for way in ways} < folders
    assert len(passes) == len(ways) + 1


def test_a_file_that_changes_is_read_again(corpus, passes):
    before = made(corpus).tokens.tolist()
    write_lines(corpus, sentences(50, seed=1))
    after = made(corpus).tokens.tolist()
    assert before != after
    content = corpus.read_bytes()
    corpus.write_bytes(content[:-2] + b"x\n")  # of the same size
    assert made(corpus).tokens.tolist() != after
    assert len(passes) == 3


def test_a_file_more_in_a_folder_is_read(corpus, tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    corpus.rename(folder / "a.txt")
    before = made(folder).index.documents
    write_lines(folder / "b.txt", ["one more"])
    assert made(folder).index.documents == before + 1


def test_a_file_that_changes_while_it_is_read_leaves_no_shard(corpus, monkeypatch):
    before = making.read

    def read(*given, **how):
        yield from before(*given, **how)
        with corpus.open("a") as file:
            file.write("more\n")

    monkeypatch.setattr(making, "read", read)
    with pytest.raises(DataError, match=r"a\.txt changed while it was being read; run again"):
        made(corpus)
    assert kept(corpus) == [".locks"]


# Writers that end early


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_writer_that_is_stopped_leaves_nothing(corpus, monkeypatch, error):
    def stop(*_):
        raise error

    monkeypatch.setattr(ShardWriter, "finish", stop)
    with pytest.raises(error):
        made(corpus, held_out={"dev": 0.2})
    assert kept(corpus) == [".locks"]
    monkeypatch.undo()
    made(corpus, held_out={"dev": 0.2}).verify()


def test_a_full_disk_is_said_in_one_line(corpus, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ShardWriter, "add", full)
    with pytest.raises(DataError, match="No space left on device; make room"):
        made(corpus)
    assert kept(corpus) == [".locks"]


SLOW = """
import sys, time
from pathlib import Path
from tawt.corpora import Bytes, CorpusFiles, tokenised
from tawt.corpora.shards import encoding, making
corpus, where = Path(sys.argv[1]), sys.argv[2]
encoding._DOCUMENTS = 10
before = getattr(making.Router if where == "add" else making, where)
def slow(*given, **how):
    done = before(*given, **how)
    print("here", flush=True)
    time.sleep(0.3 if where == "add" else 60)
    return done
setattr(making.Router if where == "add" else making, where, slow)
files = CorpusFiles(train=corpus, held_out={"dev": 0.2})
tokenised(files, Bytes(), cache=corpus.parent / "cache", workers=1)
"""


def begun(corpus, where):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SLOW, str(corpus), where],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "here\n"
    return process


@pytest.mark.crash
@pytest.mark.parametrize("where", ["add", "_name"])
def test_nothing_of_a_killed_writer_is_ever_read(corpus, where):
    process = begun(corpus, where)  # in the middle of the text, or between two splits
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    left = [name for name in kept(corpus) if name.endswith(".partial")]
    assert left
    fractions = {"held_out": {"dev": 0.2}}
    train, dev = made(corpus, **fractions), made(corpus, split="dev", **fractions)
    for shard in (train, dev):
        shard.verify()
    assert train.index.documents + dev.index.documents == 50
    assert not [name for name in kept(corpus) if name.endswith(".partial")]


@pytest.mark.crash
def test_whoever_asks_while_another_makes_it_waits_and_finds_it(corpus, passes):
    process = begun(corpus, "add")
    shard = made(corpus, held_out={"dev": 0.2})
    assert process.wait(timeout=60) == 0
    process.stdout.close()
    assert not passes
    shard.verify()


def _make_together(corpus, barrier, queue):
    encoding._DOCUMENTS = 5
    barrier.wait()
    shard = made(corpus)
    queue.put((str(shard.folder), shard.folder.stat().st_ino, shard.index.tokens_sha256))


@pytest.mark.crash
def test_processes_that_begin_at_once_end_with_one_shard(corpus):
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    barrier, queue = context.Barrier(3), context.Queue()
    processes = [
        context.Process(target=_make_together, args=(corpus, barrier, queue)) for _ in range(3)
    ]
    for process in processes:
        process.start()
    found = {queue.get(timeout=60) for _ in processes}
    for process in processes:
        process.join()
    assert len(found) == 1
    Shard(made(corpus).folder).verify()


# Damage


def test_every_file_that_is_short_or_gone_is_found_when_a_shard_is_opened(tmp_path):
    records = [{"text": text, "g": "a"} for text in sentences(9)]
    shard = made(write_records(tmp_path / "a.jsonl", records), group="g")
    for path in sorted(shard.folder.glob("*.bin")):
        content = path.read_bytes()
        for broken in (content[:-1], content + b"\0", b"", None):
            path.unlink()
            if broken is not None:
                path.write_bytes(broken)
            with pytest.raises(DataError) as raised:
                made(tmp_path / "a.jsonl", group="g")
            assert f"{shard.folder} is damaged: {path.name}" in str(raised.value)
            assert "Delete that folder, and it is made again." in str(raised.value)
        path.write_bytes(content)
    made(tmp_path / "a.jsonl", group="g")


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", None])
def test_an_index_that_is_none_is_found(corpus, content):
    index = made(corpus).folder / "index.json"
    index.unlink()
    if content is not None:
        index.write_bytes(content)
    with pytest.raises(DataError, match="is damaged: "):
        made(corpus)


def test_an_index_that_was_edited_is_found(corpus):
    index = made(corpus).folder / "index.json"
    index.write_text(index.read_text().replace('"bytes"', '"bytes" ').replace("1", "2", 1))
    with pytest.raises(DataError, match="is damaged: "):
        made(corpus)


@pytest.mark.parametrize("name", ["tokens.bin", "ends.bin"])
def test_a_bit_that_is_flipped_is_found_by_reading_all(corpus, name):
    shard = made(corpus)
    path = shard.folder / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2 // 8 * 8 + 7 * (name == "ends.bin")] ^= 0x80
    path.write_bytes(content)
    with pytest.raises(DataError, match="is damaged: "):
        made(corpus).verify()


def test_groups_that_cannot_be_read_are_found(tmp_path):
    corpus = write_records(tmp_path / "a.jsonl", [{"text": "a", "g": "b"}])
    shard = made(corpus, group="g")
    (shard.folder / "groups.json").write_text("[")
    with pytest.raises(DataError, match="is damaged: "):
        _ = Shard(shard.folder).group_names


def test_a_cache_that_cannot_be_written_is_said(corpus, monkeypatch):
    (corpus.parent / "cache").write_text("a file")
    with pytest.raises(Exception, match=r"Cannot lock .*cache") as raised:
        made(corpus)
    assert "\n" not in str(raised.value)


def test_waiting_costs_no_time_where_nobody_writes(corpus):
    made(corpus)
    start = time.monotonic()
    made(corpus)
    assert time.monotonic() - start < 1
    assert os.environ.get("TOKENIZERS_PARALLELISM") is None
