"""Tasks of text, recognised from their files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.errors import DataError
from tawt.modality.recognising import Commented, Recognised
from tawt.text.reading import (
    ReadOptions,
    SplitFiles,
    TaggedSentence,
    doubts,
    is_iob,
    load,
    preview,
)
from tawt.text.reading.hub import is_hub
from tawt.text.recognising.forms import form_of
from tawt.text.recognising.plain import documents, is_in_paragraphs, shortened
from tawt.text.recognising.samples import sample_of
from tawt.text.recognising.saved import folder_section, way_of_saved
from tawt.text.recognising.ways import Way, ways_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tawt.modality.recognising import FileGroup
    from tawt.modality.split_names import Split
    from tawt.text.reading import Example, Splits
    from tawt.text.recognising.samples import TextSample

_SHOWN = 3
_NOUNS = {"tagging": "sentence", "pair": "pair"}
_WHAT = {
    "tagging": "a tag for each word",
    "classification": "a label for a text; or regression, a number",
    "pair": "a label for two texts; or regression, a number",
    "regression": "a number for a text; or classification, a label",
}


@dataclass(frozen=True, kw_only=True)
class RecognisedText(Recognised):
    """A task of text, as it is taken from files."""

    words: int
    """No more than these, in 95% of the examples."""
    latin: float = field(default=1.0)
    """Share of the letters that are of the Latin alphabet."""


def recognise_text(files: FileGroup) -> RecognisedText | None:
    """A task in text files, or text without labels; nothing where they are no text.

    Args:
        files: Of the splits.

    Raises:
        DataError: They are text, and something is wrong with it.
    """
    path = files.first
    if is_hub(path):
        return _saved(files)
    if path.is_dir() or (sample := sample_of(path)) is None:
        return None
    form = form_of(path, sample)
    if form == "plain":
        return _unlabelled(files, sample)
    ways = ways_of(path, form, sample)
    if ways[0].kind is None:
        return _unlabelled(files, sample, ways[0])
    way, splits = _first_that_reads(files, ways, sample)
    section = {**files.sections(), **_encoding(sample)}
    found = _labelled(section, files.name, way, splits)
    return replace(found, remarks=(*_of_encoding(sample), *found.remarks))


def _saved(files: FileGroup) -> RecognisedText:
    way = way_of_saved(files.first)
    assert way.kind is not None  # or it were refused
    options = ReadOptions(**way.values)
    splits = load(SplitFiles(folder=files.first), kind=way.kind, options=options, seed=0)
    return _labelled(folder_section(files.first), files.name, way, splits)


def _first_that_reads(
    files: FileGroup, ways: Sequence[Way], sample: TextSample
) -> tuple[Way, Splits]:
    first: DataError | None = None
    for way in ways:
        assert way.kind is not None  # text without labels is read in another way
        options = ReadOptions(**way.values, encoding=sample.encoding)
        try:
            return way, load(SplitFiles(**files.sections()), kind=way.kind, options=options, seed=0)
        except DataError as error:
            first = first or error
    assert first is not None  # there is one way at least
    raise first


def _labelled(where: Mapping[str, Any], name: str, way: Way, splits: Splits) -> RecognisedText:
    """A task with labels, whose files `where` says."""
    kind = way.kind
    assert kind is not None
    found: dict[Split, Sequence[Example]] = {"train": splits.train}
    if splits.dev is not None:
        found["dev"] = splits.dev
    if splits.test is not None:
        found["test"] = splits.test
    texts = [_text(example) for example in splits.train]
    section: dict[str, Any] = {}
    if kind != "tagging":
        section["kind"] = Commented(kind, _WHAT[kind])
    return RecognisedText(
        name=name,
        task_kind=kind,
        taken_for=way.taken_for,
        noun=_NOUNS.get(kind, "text"),
        sizes={split: len(examples) for split, examples in found.items()},
        labels=tuple(_labels(splits.train)),
        first=tuple(preview(example) for example in splits.train[:_SHOWN]),
        section={**section, **where, **way.options},
        remarks=tuple(_remarks(splits)),
        of_held_out=tuple(_of_held_out(found, splits)),
        words=_usual_length(texts),
        latin=_latin_share(texts),
    )


def _unlabelled(files: FileGroup, sample: TextSample, way: Way | None = None) -> RecognisedText:
    """Text of which the encoder predicts hidden words. Only its `train` is used."""
    paragraphs = way is None and is_in_paragraphs(sample)
    paths = files.files["train"]
    section: dict[str, Any] = {
        "kind": Commented("unlabelled", "text without labels: hidden words are predicted"),
        "train": files.sections()["train"],
    }
    if paragraphs:
        section["documents"] = Commented("blank line", "a document ends with a blank line")
    if way is not None:
        section |= _without_label(files, way)
    texts = list(documents(paths, encoding=sample.encoding, in_paragraphs=paragraphs))
    unit = "a paragraph" if paragraphs else "a line"
    return RecognisedText(
        name=files.name,
        task_kind="unlabelled",
        taken_for=f"plain text, {unit} each" if way is None else f"{way.taken_for}, no label",
        noun="text",
        sizes={"train": len(texts)},
        first=tuple(shortened(text) for text in texts[:_SHOWN]),
        section={**section, **_encoding(sample)},
        remarks=tuple(_of_encoding(sample)),
        may_be_target=False,
        words=_usual_length(texts),
        latin=_latin_share(texts),
    )


def _without_label(files: FileGroup, way: Way) -> dict[str, Any]:
    """The fields that a section of text without labels has."""
    wanted = {name: way.options[name] for name in ("format", "fields") if name in way.options}
    if "separator" in way.options or way.taken_for.startswith("a table"):
        raise DataError(
            f"{files.first} is a table, and none of its columns looks like labels, which are few "
            "and repeat. Name one of them label in its first line; or, if it is text without "
            "labels, write that a line each into a .txt file."
        )
    return wanted


def _remarks(splits: Splits) -> Iterator[str]:
    yield from doubts({"train": splits.train})
    if splits.report.empty:
        yield f"{splits.report.empty} examples without any text are left out."


def _of_held_out(found: Mapping[Split, Sequence[Example]], splits: Splits) -> Iterator[str]:
    known = set(doubts({"train": splits.train}))
    sizes = {str(split): len(examples) for split, examples in found.items()}
    every = doubts({str(split): examples for split, examples in found.items()})
    yield from (doubt for doubt in every if doubt not in known)
    for split, count in splits.report.duplicates.items():
        if count:
            share = count / sizes[split]
            yield f"{count} examples of {split} ({share:.1%}) are in train too."


def _encoding(sample: TextSample) -> dict[str, Any]:
    if sample.encoding == "utf-8":
        return {}
    return {"encoding": Commented(sample.encoding, "the file is not UTF-8")}


def _of_encoding(sample: TextSample) -> Iterator[str]:
    if sample.encoding not in ("utf-8", "utf-16"):
        yield f"the file is no UTF-8; read as {sample.encoding}: are letters with accents right?"


def _labels(examples: Sequence[Example]) -> list[str]:
    """The most frequent first; types of spans and not their tags."""
    counts: Counter[str] = Counter()
    for example in examples:
        if isinstance(example, TaggedSentence):
            counts.update(example.tags)
        elif isinstance(example.label, str):
            counts[example.label] += 1
    if not is_iob(counts):
        return [label for label, _ in counts.most_common()]
    types: Counter[str] = Counter()
    for tag, count in counts.items():
        if tag.startswith("B-"):
            types[tag[2:]] += count
    return [label for label, _ in types.most_common()]


def _text(example: Example) -> str:
    if isinstance(example, TaggedSentence):
        return " ".join(example.words)
    return f"{example.text} {example.second or ''}"


def _usual_length(texts: Sequence[str]) -> int:
    return int(np.quantile([len(text.split()) for text in texts], 0.95))


def _latin_share(texts: Iterable[str]) -> float:
    """Of the letters of the first texts."""
    letters = [sign for text in list(texts)[:1000] for sign in text[:1000] if sign.isalpha()]
    return sum(sign < "\u0250" for sign in letters) / len(letters) if letters else 1.0
