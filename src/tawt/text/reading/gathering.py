"""The files of a task's splits read into memory, their tags made uniform."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tawt.errors import DataError
from tawt.text.reading.documents import Documents
from tawt.text.reading.examples import TaggedSentence
from tawt.text.reading.formats import read
from tawt.text.reading.hub import is_hub
from tawt.text.reading.iob import TagCounts, check_tags, is_iob
from tawt.text.reading.renaming import new_names, renamed
from tawt.text.reading.report import labels_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tawt.modality.split_names import Split
    from tawt.text.reading.examples import Example, TaskKind
    from tawt.text.reading.iob import Invalid
    from tawt.text.reading.options import ReadOptions

Files = list[tuple["Path", list["Example"]]]


@dataclass(frozen=True)
class Gathered:
    """Everything that the files hold."""

    examples: Mapping[Split, list[Example]]
    """Of each split, in the order of its files."""
    counts: TagCounts
    """What was done to tags."""
    empty: int
    """How many empty examples were left out."""


def gather(
    paths: Mapping[Split, Sequence[Path]],
    *,
    kind: TaskKind,
    options: ReadOptions,
    invalid: Invalid,
) -> Gathered:
    """Read every file; whether tags are of spans is judged from all of them together.

    Args:
        paths: The files of each split.
        kind: The kind of task.
        options: How they are read.
        invalid: What is done with tags that are no IOB2.

    Raises:
        DataError: If a file cannot be read, tags are refused, or a split has only empty examples.
        ConfigError: If a label is to be renamed that does not occur.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from tawt.text.reading.options import ReadOptions
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "train.txt")
        ...     _ = path.write_text("EU I-ORG")
        ...     options = ReadOptions()
        ...     both = gather({"train": [path]}, kind="tagging", options=options, invalid="repair")
        >>> both.examples["train"][0].tags, both.counts.repaired
        (('B-ORG',), 1)
    """
    files: dict[Split, Files] = {}
    empty = 0
    documents = Documents()
    for split, of_split in paths.items():
        files[split] = []
        for path in of_split:
            chosen = _for_split(options, path, split)
            examples = list(read(path, kind=kind, options=chosen, documents=documents))
            filled = [example for example in examples if _is_filled(example)]
            empty += len(examples) - len(filled)
            files[split].append((path, filled))
        if not any(filled for _, filled in files[split]):
            listed = ", ".join(map(str, of_split))
            raise DataError(f"{listed}: every example is empty; expected words or text.")
    counts = TagCounts()
    are_spans = kind == "tagging" and is_iob(_tags(files))
    if are_spans:
        files = _iob2(files, invalid, counts)
    if options.rename:
        files = _renamed(files, options.rename, are_spans=are_spans)
    merged = {split: [x for _, part in parts for x in part] for split, parts in files.items()}
    return Gathered(merged, counts, empty)


def _for_split(options: ReadOptions, path: Path, split: Split) -> ReadOptions:
    """On the hub all splits are behind one name."""
    if not is_hub(path) or (split == "train" and options.split is not None):
        return options
    return replace(options, split=split)


def _is_filled(example: Example) -> bool:
    if isinstance(example, TaggedSentence):
        return bool(example.words)
    return bool(example.text.strip()) and (example.second is None or bool(example.second.strip()))


def _tags(files: Mapping[Split, Files]) -> set[str]:
    return {tag for parts in files.values() for _, examples in parts for tag in labels_of(examples)}


def _renamed(
    files: Mapping[Split, Files], rename: Mapping[str, str], *, are_spans: bool
) -> dict[Split, Files]:
    names = new_names(sorted(_tags(files)), rename, are_spans=are_spans)
    return {
        split: [(path, [renamed(each, names) for each in examples]) for path, examples in parts]
        for split, parts in files.items()
    }


def _iob2(files: Mapping[Split, Files], invalid: Invalid, counts: TagCounts) -> dict[Split, Files]:
    first: DataError | None = None
    checked: dict[Split, Files] = {}
    for split, parts in files.items():
        checked[split] = []
        for path, examples in parts:
            kept: list[Example] = []
            for example in examples:
                assert isinstance(example, TaggedSentence)  # the kind is tagging
                try:
                    kept.append(check_tags(example, path=path, invalid=invalid, counts=counts))
                except DataError as error:  # go on, to say how many there are
                    first = first or error
            checked[split].append((path, kept))
    if first is not None:
        more = f" There are {counts.refused} such sentences." if counts.refused > 1 else ""
        raise DataError(f"{first}{more}") from first
    return checked
