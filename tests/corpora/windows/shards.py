"""Shards of a few documents, for tests of windows."""

from tawt.corpora.sections import CorpusFiles
from tawt.corpora.shards import tokenised
from tawt.corpora.vocabularies import Bytes
from tests.corpora.files import write_lines, write_records


def shard_of(folder, texts, *, groups=None, vocabulary=None):
    """A shard of these documents."""
    folder.mkdir(parents=True, exist_ok=True)
    if groups is None:
        files = CorpusFiles(train=write_lines(folder / "a.txt", texts))
    else:
        records = [{"text": t, "g": g} for t, g in zip(texts, groups, strict=True)]
        files = CorpusFiles(train=write_records(folder / "a.jsonl", records), group="g")
    return tokenised(files, vocabulary or Bytes(), cache=folder / "cache", workers=1)
