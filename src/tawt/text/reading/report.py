"""What was found while reading the splits of a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.text.reading.examples import TaggedSentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tawt.text.reading.examples import Example
    from tawt.text.reading.iob import TagCounts


@dataclass(frozen=True, kw_only=True)
class ReadReport:
    """Counts, all of them of the splits as they are given out (after limits).

    Example:
        >>> report = ReadReport(sizes={"train": 9, "dev": 2}, duplicates={"dev": 1})
        >>> report.duplicates["dev"], report.repaired
        (1, 0)
    """

    sizes: Mapping[str, int]
    """Sentences (or texts) of each split that there is."""
    duplicates: Mapping[str, int]
    """Examples of dev and of test whose words (or texts) also occur in train, whatever their
    labels; blanks count as one."""
    unseen_labels: tuple[str, ...] = ()
    """Labels (or tags) that occur in dev or test but not in train, sorted."""
    repaired: int = 0
    """Sentences whose tags were no valid IOB2 and were repaired, before limits."""
    converted: int = 0
    """Sentences whose tags were BIOES and were converted to IOB2, before limits."""
    empty: int = 0
    """Sentences without words, and blank texts, which were left out, before limits."""


def report_on(
    splits: Mapping[str, Sequence[Example]], *, counts: TagCounts, empty: int
) -> ReadReport:
    """Count what is in the splits.

    Args:
        splits: Examples of train, and of dev and test where there are any.
        counts: What was done to tags.
        empty: How many examples were left out.

    Example:
        >>> from tawt.text.reading.iob import TagCounts
        >>> sentence = TaggedSentence(("a",), ("X",), line=1)
        >>> other = TaggedSentence(("a",), ("Y",), line=1)
        >>> report_on({"train": [sentence], "test": [other]}, counts=TagCounts(), empty=0)
        ReadReport(sizes={'train': 1, 'test': 1}, duplicates={'test': 1}, unseen_labels=('Y',), \
repaired=0, converted=0, empty=0)
    """
    held_out = {split: examples for split, examples in splits.items() if split != "train"}
    known = {_content(example) for example in splits["train"]}
    labels = set(labels_of(splits["train"]))
    return ReadReport(
        sizes={split: len(examples) for split, examples in splits.items()},
        duplicates={
            split: sum(_content(example) in known for example in examples)
            for split, examples in held_out.items()
        },
        unseen_labels=tuple(
            sorted(
                {x for examples in held_out.values() for x in labels_of(examples)} - labels,
            )
        ),
        repaired=counts.repaired,
        converted=counts.converted,
        empty=empty,
    )


def labels_of(examples: Iterable[Example]) -> tuple[str, ...]:
    """The labels (or tags) that occur, sorted; none for regression.

    Example:
        >>> labels_of([TaggedSentence(("a", "b"), ("Y", "X"), line=1)])
        ('X', 'Y')
    """
    found: set[str] = set()
    for example in examples:
        if isinstance(example, TaggedSentence):
            found.update(example.tags)
        elif isinstance(example.label, str):
            found.add(example.label)
    return tuple(sorted(found))


def _content(example: Example) -> tuple[str, ...]:
    if isinstance(example, TaggedSentence):
        return (" ".join(" ".join(example.words).split()),)
    return tuple(" ".join(text.split()) for text in (example.text, example.second or ""))
