"""Corpora tokenised once: found if they are there, made if they are not."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tawt.corpora.reading import KnownLines, KnownLineSearch, read, sources_of
from tawt.corpora.reading.sources import stamp
from tawt.corpora.shards.encoding import encoded
from tawt.corpora.shards.routing import Router
from tawt.corpora.shards.shard import FORMAT, Shard
from tawt.corpora.shards.writing import ShardWriter
from tawt.errors import DataError
from tawt.files.locks import locked
from tawt.paths import unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tawt.corpora.sections import CorpusFiles
    from tawt.corpora.vocabularies import Vocabulary
    from tawt.tasks import SplitName

_LOCKS = ".locks"
_PARTIAL = ".partial"


@dataclass(frozen=True, kw_only=True)
class TokenisingProgress:
    """How far tokenising has come."""

    documents: int
    tokens: int
    bytes: int
    """Of text."""
    total: int | None
    """Bytes of all files, where they are plain text; else it is unknown."""


def tokenised(
    files: CorpusFiles,
    vocabulary: Vocabulary,
    *,
    cache: Path,
    split: SplitName = "train",
    known: KnownLines | None = None,
    workers: int | None = None,
    on_progress: Callable[[TokenisingProgress], None] | None = None,
) -> Shard:
    r"""A split of a corpus as tokens, made once and found from then on.

    It is made again where files, vocabulary or what is read of them has changed. What `held_out`
    cuts off is made in one pass with the rest. Several processes may ask for the same at once: one
    makes it, the others wait.

    Args:
        files: Of the corpus.
        vocabulary: What turns text into tokens.
        cache: Folder that shards are kept in; made if it is not there.
        split: Which split.
        known: Lines to be looked for, and left out if they say so.
        workers: Threads that tokenise; as many as there are cores by default.
        on_progress: Told how far it has come, some times a second at most.

    Raises:
        DataError: If a file cannot be read, there is no text, or what was made is damaged.

    Example:
        >>> from tawt.corpora import Bytes, CorpusFiles
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "a.txt")
        ...     _ = path.write_text("ab\nc\n")
        ...     shard = tokenised(CorpusFiles(train=path), Bytes(), cache=Path(folder, "cache"))
        ...     shard.tokens.tolist(), shard.ends.tolist(), shard.index.bytes
        ([1, 100, 101, 1, 102, 1], [4, 6], 5)
    """
    if split not in files.splits:
        raise DataError(f"The corpus has no {split}; give `{split}`, or `held_out`.")
    is_held_out = getattr(files, split) is None
    root: SplitName = "train" if is_held_out else split
    key = _key(files, vocabulary, root, known)
    folder = cache / f"{key}-{split}"
    if not folder.exists():
        # Held while others wait: they find the shard when they get the lock.
        with locked(cache / _LOCKS / key, wait_unless=lambda: False):
            if not folder.exists():
                _sweep(cache, key)
                _make(files, vocabulary, cache / key, root, known, _threads(workers), on_progress)
    return Shard(folder)


def _key(
    files: CorpusFiles, vocabulary: Vocabulary, root: SplitName, known: KnownLines | None
) -> str:
    """What tells one pass over a corpus from another; the splits it makes share it."""
    said = files.model_dump(
        mode="json", include={"documents", "field", "group", "split", "encoding", "invalid"}
    )
    if root == "train":
        said |= {"limit": files.limit, "held_out": dict(sorted(files.held_out.items()))}
    sources = [[source.format, stamp(source)] for source in sources_of(files, split=root)]
    searched = None if known is None else known.fingerprint
    whole = [FORMAT, root, said, sources, vocabulary.fingerprint, searched]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:24]


def _make(
    files: CorpusFiles,
    vocabulary: Vocabulary,
    place: Path,
    root: SplitName,
    known: KnownLines | None,
    workers: int,
    on_progress: Callable[[TokenisingProgress], None] | None,
) -> None:
    """Make the shards of a pass: each takes its name when all are whole."""
    splits: list[SplitName] = [root]
    if root == "train":
        splits += [split for split in ("dev", "test") if split in files.held_out]
    report = _Reporter(on_progress, _total(files, root))
    with contextlib.ExitStack() as stack:
        folders = {split: stack.enter_context(_partial(place, split)) for split in splits}
        writers = {
            split: stack.enter_context(ShardWriter(folder, vocabulary))
            for split, folder in folders.items()
        }
        router = Router(writers, held_out=files.held_out if root == "train" else {})
        search = KnownLineSearch(known or KnownLines.of((), removes=False))
        documents = read(files, split=root)
        if known is not None:
            documents = search.through(documents)
        for chunk in encoded(documents, vocabulary, workers=workers):
            router.add(chunk, count_replaced=files.invalid == "replace")
            report.maybe(list(writers.values()))
        writers[root].known = search.count
        _check_documents(files, root, writers)
        if _key(files, vocabulary, root, known) != place.name:
            raise DataError(
                f"{_shown(files, root)} changed while it was being read; run again when nothing "
                "writes to it."
            )
        for writer in writers.values():
            writer.finish()
        for split, folder in folders.items():
            _name(folder, place.with_name(f"{place.name}-{split}"))
        report.now(list(writers.values()))


def _check_documents(
    files: CorpusFiles, root: SplitName, writers: Mapping[SplitName, ShardWriter]
) -> None:
    shown = _shown(files, root)
    documents = sum(writer.documents for writer in writers.values())
    if not documents and (known := writers[root].known):
        raise DataError(
            f"{shown} has no text but {known} lines that are held out; give text that is not."
        )
    if not documents:
        skipped = sum(writer.skipped for writer in writers.values())
        found = "it has no documents"
        if skipped:
            found = f"all of its {skipped} documents are empty"
        if skipped == 1:
            found = "its only document is empty"
        raise DataError(f"{shown} has no text: {found}.")
    for split, writer in writers.items():
        if not writer.documents:
            counted = f"{documents} document{'' if documents == 1 else 's'}"
            raise DataError(
                f"{shown} has {counted}, and `held_out` leaves none of them for "
                f"{split}; give more text, or another fraction."
            )


def _shown(files: CorpusFiles, root: SplitName) -> str:
    given = getattr(files, root)
    return ", ".join(map(str, given[:3])) if isinstance(given, list) else str(given)


def _name(folder: Path, final: Path) -> None:
    """Give a whole shard its name; one that is there already stays as it is."""
    if final.exists():
        shutil.rmtree(folder)
    else:
        folder.rename(final)


@contextlib.contextmanager
def _partial(place: Path, split: SplitName) -> Iterator[Path]:
    """A folder beside, which is gone afterwards unless it was given another name."""
    try:
        name = tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}-{split}.", suffix=_PARTIAL)
    except OSError as error:
        raise DataError(unreadable(place.parent, error)) from error
    folder = Path(name)
    folder.chmod(0o755)
    try:
        yield folder
    except OSError as error:
        raise DataError(
            f"Could not write {place}-{split}: {error.strerror or error}; make room (or fix the "
            "permissions), and run again."
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(cache: Path, key: str) -> None:
    """Remove what a killed process left; only who holds the lock may."""
    for left in cache.glob(f".{key}-*{_PARTIAL}"):
        shutil.rmtree(left, ignore_errors=True)


def _total(files: CorpusFiles, root: SplitName) -> int | None:
    sources = sources_of(files, split=root)
    if any(source.format != "text" or source.path.suffix == ".gz" for source in sources):
        return None
    return sum(source.path.stat().st_size for source in sources)


def _threads(workers: int | None) -> int:
    if workers is not None:
        return max(1, workers)
    cores = getattr(os, "sched_getaffinity", None)
    return len(cores(0)) if cores else os.cpu_count() or 1


class _Reporter:
    """Tells how far it is, not more often than anyone can see."""

    _EVERY = 0.2  # seconds

    def __init__(
        self, tell: Callable[[TokenisingProgress], None] | None, total: int | None
    ) -> None:
        self._tell = tell
        self._total = total
        self._last = time.monotonic()

    def maybe(self, writers: list[ShardWriter]) -> None:
        if time.monotonic() - self._last >= self._EVERY:
            self.now(writers)

    def now(self, writers: list[ShardWriter]) -> None:
        self._last = time.monotonic()
        if self._tell is not None:
            documents, tokens, size = (
                sum(getattr(writer, name) for writer in writers)
                for name in ("documents", "tokens", "bytes")
            )
            self._tell(
                TokenisingProgress(
                    documents=documents, tokens=tokens, bytes=size, total=self._total
                )
            )
