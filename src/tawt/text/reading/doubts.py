"""What was read, looked at: examples that are hardly what was meant to be read."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tawt.text.reading.examples import LabelledText, TaggedSentence
from tawt.text.reading.iob import is_iob
from tawt.text.reading.problems import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tawt.text.reading.examples import Example

_OUTSIDE = "O"
_FEW = 3  # of fewer examples nothing can be said
_SOME = 10  # fewer may well have a label each
_MANY = 20  # tags; fewer are no vocabulary
_LETTERS = frozenset("BIOESLU")


def doubts(splits: Mapping[str, Sequence[Example]]) -> Iterator[str]:
    """A sentence for each thing that makes it doubtful that the right columns were read.

    Args:
        splits: Examples by split, those that are trained on first.

    Example:
        >>> read = [TaggedSentence(("På", "Fyn", "."), ("s", "s", "s"), line=1)]
        >>> next(doubts({"train": read}))
        "every tag of train is 's', so there is nothing to learn."
    """
    name, train = next(iter(splits.items()))
    if (only := only_label(train)) is not None:
        yield f"every {_called(train)} of {name} is {shown(only)}, so there is nothing to learn."
    yield from _of_inputs(name, train)
    yield from _of_labels(name, train)
    if train and isinstance(train[0], TaggedSentence):
        yield from _of_spans({tag for part in splits.values() for tag in _labels(part)})
    for split, examples in itertools.islice(splits.items(), 1, None):
        yield from _of_two(name, set(_labels(train)), split, set(_labels(examples)))


def only_label(examples: Iterable[Example]) -> str | float | None:
    """The label (or tag) that all examples have, if it is one.

    Example:
        >>> only_label([LabelledText("a", None, "x", 1), LabelledText("b", None, "x", 2)])
        'x'
    """
    labels = _labels(examples)
    first = next(labels, None)
    return first if all(label == first for label in labels) else None


def _labels(examples: Iterable[Example]) -> Iterator[str | float]:
    for example in examples:
        if isinstance(example, TaggedSentence):
            yield from example.tags
        else:
            yield example.label


def _called(examples: Sequence[Example]) -> str:
    return "tag" if isinstance(examples[0], TaggedSentence) else "label"


def _of_inputs(split: str, examples: Sequence[Example]) -> Iterator[str]:
    words = [word for x in examples if isinstance(x, TaggedSentence) for word in x.words]
    texts = [x.text.strip() for x in examples if isinstance(x, LabelledText)]
    for what, found in (("word", words), ("text", texts)):
        if len(found) >= _FEW and len(set(found)) == 1:
            yield f"every {what} of {split} is {shown(found[0])}."
    if len(texts) >= _FEW and texts == [str(number) for number in range(1, len(texts) + 1)]:
        yield f"the texts of {split} count (1, 2, 3, …), as the numbers of rows do."


def _of_labels(split: str, examples: Sequence[Example]) -> Iterator[str]:
    labels = list(_labels(examples))
    kinds = len(set(labels))
    if any(isinstance(each, TaggedSentence) for each in examples):
        if kinds >= max(_MANY, len(labels) / 2):
            yield f"{len(labels)} words of {split} have {kinds} different tags, as words would be."
    elif all(isinstance(label, str) for label in labels):
        if kinds == len(labels) >= _SOME:
            yield f"each of the {kinds} examples of {split} has a label of its own, as ids are."
    elif len(labels) >= _SOME and labels == list(range(1, len(labels) + 1)):
        yield f"the labels of {split} count (1, 2, 3, …), as the numbers of rows do."


def _of_spans(tags: set[str | float]) -> Iterator[str]:
    names = {str(tag) for tag in tags}
    spans = {tag for tag in names if len(tag) > 2 and tag.startswith(("B-", "I-"))}
    odd = sorted(names - spans - {_OUTSIDE})
    if spans and not is_iob(names):
        yield (
            f"tags such as {shown(min(spans))} mark spans, but {', '.join(map(shown, odd[:3]))} "
            "cannot; so these are taken for plain tags, and no spans are scored."
        )
    if "B" in names and names <= _LETTERS:
        yield (
            "B, I and O without a type (B-TYPE) are taken for plain tags, and no spans are scored."
        )


def _of_two(
    name: str, ours: set[str | float], split: str, theirs: set[str | float]
) -> Iterator[str]:
    but = f" but {_OUTSIDE}" if _OUTSIDE in ours & theirs else ""
    ours, theirs = ours - {_OUTSIDE}, theirs - {_OUTSIDE}
    numbers = any(isinstance(label, float) for label in ours)
    if ours and theirs and not numbers and not ours & theirs:
        yield (
            f"{name} and {split} share no label{but}: there is {shown(min(map(str, ours)))} in one "
            f"and {shown(min(map(str, theirs)))} in the other."
        )
