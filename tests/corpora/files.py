"""Corpora on disk that several tests read."""

import gzip
import json

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from tawt.corpora.reading import read
from tawt.corpora.sections import CorpusFiles

TEXTS = ["one", "two words", "", "naïve café 日本語 😀", "  ", "the\tend"]
"""Documents of one line, of which two are empty."""


def write_lines(path, texts, *, end="\n"):
    content = "".join(f"{text}{end}" for text in texts).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_records(path, records):
    return write_lines(path, [json.dumps(record) for record in records])


def write_parquet(path, **columns):
    parquet.write_table(pa.table(columns), path)
    return path


def whole_documents(files, **how):
    """Texts and groups, the parts of long documents put together again."""
    found, open_text = [], ""
    for text, group, ends in read(files, **how):
        open_text += text
        if ends:
            found.append((open_text, group))
            open_text = ""
    assert not open_text
    return found


def texts_of(path, **fields):
    return [text for text, _ in whole_documents(CorpusFiles(train=path, **fields))]


def sentences(count, *, seed=0, words=("the", "cat", "sat", "on", "a", "mat", "and", "dog")):
    draw = np.random.default_rng(seed)
    return [" ".join(draw.choice(words, draw.integers(3, 12))) for _ in range(count)]
