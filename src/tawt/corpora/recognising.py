"""Corpora, recognised from their files."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pyarrow
from pyarrow import parquet

from tawt.corpora.reading import read
from tawt.corpora.sections import CorpusFiles
from tawt.errors import DataError
from tawt.modality.recognising import Commented, Recognised
from tawt.text.reading.hub import is_hub
from tawt.text.recognising.forms import form_of
from tawt.text.recognising.plain import is_in_paragraphs, shortened
from tawt.text.recognising.samples import TextSample, sample_of
from tawt.text.recognising.ways import ways_of

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.corpora.reading.documents import Document
    from tawt.modality.recognising import FileGroup
    from tawt.modality.split_names import Split

_SHOWN = 3
_PACKED = ".gz"


def recognise_corpus(files: FileGroup) -> Recognised | None:
    """Raw text in files, or in a folder of them; nothing where they hold something else.

    Args:
        files: Of the splits.

    Raises:
        DataError: They are text, and something is wrong with it.
    """
    if is_hub(files.first):  # as far as it has labels, which text looks for
        return None
    path = _sample_path(files.first)
    fields = _read_as(path)
    if fields is None:
        return None
    section: dict[str, Any] = {**files.sections(), **fields}
    corpus = CorpusFiles.model_validate(
        {k: v.value if isinstance(v, Commented) else v for k, v in section.items()}
    )
    sizes: dict[Split, int] = {}
    first: list[str] = []
    for split in corpus.splits:
        documents = (document for document in read(corpus, split=split) if _counts(document))
        shown = list(itertools.islice(documents, _SHOWN))
        first = first or [shortened(" ".join(each.text[:1000].split())) for each in shown]
        sizes[split] = len(shown) + sum(1 for _ in documents)
    return Recognised(
        name=files.name,
        task_kind="corpus",
        taken_for=_said(files.first, corpus),
        noun="document",
        sizes=sizes,
        first=tuple(first),
        section=section,
        remarks=()
        if corpus.encoding == "utf-8"
        else (f"the file is no UTF-8; read as {corpus.encoding}: are letters with accents right?",),
    )


def _sample_path(path: Path) -> Path:
    """The file, or the first of a folder."""
    if not path.is_dir():
        return path
    found = sorted(each for each in path.rglob("*") if each.is_file() and each.name[0] != ".")
    if not found:
        raise DataError(f"{path} holds no files; expected text.")
    return found[0]


def _read_as(path: Path) -> dict[str, Any] | None:
    """Fields of the corpus's section; nothing where the file is no raw text."""
    if path.suffix.lower() == ".parquet":
        return _of_parquet(path)
    if path.suffix.lower() == _PACKED:
        return {}
    sample = sample_of(path)
    if sample is None:
        return None
    form = form_of(path, sample)
    found = _of_records(path, sample) if form == "jsonl" else _of_plain(sample)
    if form not in ("jsonl", "plain") or found is None:
        return None
    return {**found, **_encoding(sample)}


def _of_records(path: Path, sample: TextSample) -> dict[str, Any] | None:
    [way] = ways_of(path, "jsonl", sample)
    if way.kind == "tagging":
        return None
    name = way.values.get("fields", {}).get("text", "text")
    return {} if name == "text" else {"field": Commented(name, "the field that holds the text")}


def _of_plain(sample: TextSample) -> dict[str, Any]:
    if is_in_paragraphs(sample):
        return {"documents": Commented("blank line", "a document ends with a blank line")}
    return {}


def _encoding(sample: TextSample) -> dict[str, Any]:
    if sample.encoding == "utf-8":
        return {}
    return {"encoding": Commented(sample.encoding, "the file is not UTF-8")}


def _of_parquet(path: Path) -> dict[str, Any] | None:
    try:
        schema = parquet.read_schema(path)
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".")
        raise DataError(f"{path} is no Parquet file, or is damaged ({reason}).") from error
    strings = [each.name for each in schema if pyarrow.types.is_string(each.type)]
    strings += [each.name for each in schema if pyarrow.types.is_large_string(each.type)]
    if not strings:
        raise DataError(f"{path}: none of its columns is text; there are {schema.names[:12]}.")
    if "text" in strings:
        return {}
    return {"field": Commented(strings[0], f"the column with the text; there are {schema.names}")}


def _counts(document: Document) -> bool:
    """Whether a document ends here, and has something in it; long ones come in parts."""
    return document.ends and bool(document.text.strip())


def _said(path: Path, corpus: CorpusFiles) -> str:
    units = {"line": "a line each", "blank line": "a paragraph each", "file": "a file each"}
    written = path.suffix.lower().removeprefix(".")
    if written in ("jsonl", "ndjson", "json", "parquet"):
        kind = "Parquet" if written == "parquet" else "JSON lines"
        return f"raw text, {kind}; text from {corpus.field!r}"
    folder = "all files of the folder, " if path.is_dir() else ""
    return f"raw text, {folder}{units[corpus.documents]}"
