"""Where the documents of a corpus are: files, patterns, folders, saved datasets and the hub."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tawt.errors import DataError
from tawt.paths import check_file, home_expanded, unreadable
from tawt.text.reading.hub import is_hub

if TYPE_CHECKING:
    from tawt.corpora.sections import CorpusFiles, Format
    from tawt.tasks import SplitName

_FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
}
_PACKED = (".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".tgz")
_TABLES = (".csv", ".tsv", ".arrow", ".xlsx")
_HUB = "hub:"


class Source(NamedTuple):
    """One file, folder or name that documents are read from."""

    path: Path
    format: Format


def sources_of(files: CorpusFiles, *, split: SplitName = "train") -> list[Source]:
    """What the documents of a split are read from, in order.

    Args:
        files: Of the corpus.
        split: Which split; one that is held out is read from the files of `train`.

    Raises:
        DataError: If there is no such file, nothing matches, or the format cannot be told.
    """
    given = getattr(files, split)
    if given is None:
        if split not in files.held_out:
            raise DataError(f"The corpus has no {split}; give `{split}`, or `held_out`.")
        given = files.train
    listed: list[Path] = given if isinstance(given, list) else [given]
    found = [source for path in listed for source in _find_sources(path, files.format)]
    if files.group is not None and any(source.format == "text" for source in found):
        raise DataError(
            f"`group: {files.group}` names a field, and plain text has none; leave it out, or "
            "store the documents as JSON lines."
        )
    if files.streaming and not any(str(path).startswith(_HUB) for path in _all_of(files)):
        raise DataError(
            f"`streaming` reads `hub:NAME` as it arrives, and {listed[0]} is here already; leave "
            "it out. Files are never in memory as a whole."
        )
    return found


def _all_of(files: CorpusFiles) -> list[Path]:
    given = [files.train, *(paths for paths in (files.dev, files.test) if paths is not None)]
    return [path for paths in given for path in (paths if isinstance(paths, list) else [paths])]


def _find_sources(path: Path, wanted: Format | None) -> list[Source]:
    if str(path).startswith(_HUB):
        return [Source(path, "datasets")]
    path = home_expanded(path)
    if wanted == "datasets" or (wanted is None and is_hub(path)):
        if not is_hub(path):
            raise DataError(f"{path} is no folder that save_to_disk of `datasets` wrote.")
        return [Source(path, "datasets")]
    if path.is_dir():
        inside = [each for each in path.rglob("*") if not _is_hidden(each, below=path)]
        return _several(path, inside, wanted)
    if glob.has_magic(str(path)) and not path.exists():
        matching = [Path(name) for name in glob.glob(str(path), recursive=True)]  # noqa: PTH207
        return _several(path, matching, wanted)
    check_file(path)
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty; expected text.")
    return [Source(path, wanted or _guessed(path))]


def _several(given: Path, paths: list[Path], wanted: Format | None) -> list[Source]:
    """The files among these, in the order of their names."""
    found = sorted(path for path in paths if not path.is_dir())
    if not found:
        holds = "holds no files" if given.is_dir() else "matches no files"
        raise DataError(f"{given} {holds}; expected text.")
    for path in found:
        check_file(path)
    formats = {wanted} if wanted else {_guessed(path): path for path in found}.keys()
    if len(formats) > 1:
        raise DataError(
            f"{given} has files of several formats ({', '.join(sorted(map(str, formats)))}); give "
            "a pattern that only files of one match, such as *.txt, or say which with `format`."
        )
    return [Source(path, next(iter(formats))) for path in found]


def _guessed(path: Path) -> Format:
    suffix = (path.with_suffix("") if path.suffix == ".gz" else path).suffix.lower()
    if suffix in _PACKED:
        raise DataError(f"{path} is packed; unpack it, or pack it with gzip (.gz).")
    if suffix in _TABLES:
        raise DataError(
            f"{path}: corpora are not read from {suffix} files; store the documents as text, JSON "
            "lines or Parquet, or set `format: text` if it is text all the same."
        )
    return _FORMATS.get(suffix, "text")


def _is_hidden(path: Path, *, below: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(below).parts)


def stamp(source: Source) -> list[list[str | int]]:
    """What tells whether a source is as it was: names, sizes and times of its files.

    Of a name on the hub it is the name alone.

    Raises:
        DataError: If a file cannot be looked at.
    """
    if str(source.path).startswith(_HUB):
        return [[str(source.path)]]
    inside = sorted(source.path.rglob("*")) if source.path.is_dir() else [source.path]
    found: list[list[str | int]] = []
    for path in inside:
        try:
            status = path.stat()
        except OSError as error:
            raise DataError(unreadable(path, error)) from error
        if not path.is_dir():
            found.append([str(path.resolve()), status.st_size, status.st_mtime_ns])
    return found
