"""The documents of a split, from whatever they are stored in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.corpora.reading.documents import without_blank
from tawt.corpora.reading.fields import Fields
from tawt.corpora.reading.jsonl import read_jsonl
from tawt.corpora.reading.plain import read_plain
from tawt.corpora.reading.sources import sources_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tawt.corpora.reading.documents import Document
    from tawt.corpora.reading.sources import Source
    from tawt.corpora.sections import CorpusFiles
    from tawt.tasks import SplitName


def read(files: CorpusFiles, *, split: SplitName = "train") -> Iterator[Document]:
    """The documents of a split's files; a long one in parts.

    Those that `held_out` cuts off are among the documents of `train`, and empty ones too.

    Args:
        files: Of the corpus.
        split: Which split.

    Raises:
        DataError: If a file cannot be read.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tawt.corpora.sections import CorpusFiles
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = Path(folder, "a.txt").write_text("one")
        ...     _ = Path(folder, "b.txt").write_text("two")
        ...     [document.text for document in read(CorpusFiles(train=Path(folder, "*.txt")))]
        ['one', 'two']
    """
    every = (
        document
        for source in sources_of(files, split=split)
        for document in _documents(source, files, split)
    )
    has_limit = files.limit is not None and getattr(files, split) in (None, files.train)
    return _first(every, files.limit) if has_limit and files.limit is not None else every


def _documents(source: Source, files: CorpusFiles, split: SplitName) -> Iterator[Document]:
    if source.format == "text":
        return read_plain(
            source.path,
            documents=files.documents,
            encoding=files.encoding,
            invalid=files.invalid,
        )
    fields = Fields(text=files.field, group=files.group, invalid=files.invalid)
    if source.format == "jsonl":
        return read_jsonl(source.path, fields=fields, encoding=files.encoding)
    from tawt.corpora.reading.tables import read_dataset, read_parquet  # pyarrow takes a second

    if source.format == "parquet":
        return read_parquet(source.path, fields=fields)
    is_own = split != "train" and getattr(files, split) is not None
    return read_dataset(
        source.path,
        fields=fields,
        split=split if is_own else files.split,
        streaming=files.streaming,
    )


def _first(documents: Iterator[Document], count: int) -> Iterator[Document]:
    """As many as end, of those that hold text."""
    for document in without_blank(documents):
        if document is None:
            continue
        yield document
        count -= document.ends
        if count == 0:
            return
