"""What is in tasks of text, before anything is trained on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.modality.facts import DataFacts, Lengths
from tawt.modality.inspecting import (
    Measured,
    also_in,
    facts_of,
    label_counts,
    number_facts,
    repeated,
    unseen_labels,
)
from tawt.text.encoding import load_tokenizer
from tawt.text.facts import TextSplitFacts, TextTaskFacts
from tawt.text.kinds import Cutting
from tawt.text.measuring import piece_facts, word_counts
from tawt.text.reading import (
    LabelledText,
    ReadOptions,
    SplitFiles,
    TaggedSentence,
    doubts,
    load,
    preview,
)
from tawt.text.reading.contents import text_contents
from tawt.text.reading.hub import is_hub

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from tawt.modality.facts import Role
    from tawt.text.reading import Example, Splits, TaskKind
    from tawt.text.reading.report import ReadReport

_USUAL = ReadOptions()
_SHOWN = 3  # examples as they were read


def measured_text(
    name: str,
    splits: Mapping[str, Sequence[Example]],
    report: ReadReport,
    *,
    kind: str,
    role: Role,
    cutting: Cutting | None,
) -> Measured:
    """A task of text.

    Args:
        name: Of the task.
        splits: Its examples, the training examples first.
        report: What was found while reading them.
        kind: Of the task.
        role: What the task is to the run.
        cutting: How texts become pieces, where there is an encoder.
    """
    contents = {split: text_contents(examples) for split, examples in splits.items()}
    labels = {split: label_counts(_labels(examples)) for split, examples in splits.items()}
    found: dict[str, TextSplitFacts] = {}
    for split, examples in splits.items():
        words = word_counts(examples)
        found[split] = TextSplitFacts(
            examples=len(examples),
            words=int(words.sum()),
            lengths=Lengths.of(words),
            labels=labels[split],
            numbers=number_facts(_numbers(examples)) if not labels[split] else None,
            unseen_labels=unseen_labels(split, labels),
            repeated=repeated(contents[split]),
            also_in=also_in(split, contents),
            pieces=None if cutting is None else piece_facts(examples, cutting),
        )
    facts = TextTaskFacts(
        name=name,
        kind=kind,
        role=role,
        splits=found,
        repaired=report.repaired,
        converted=report.converted,
        empty=report.empty,
        first=tuple(preview(each) for each in next(iter(splits.values()))[:_SHOWN]),
        doubts=tuple(doubts(splits)),
    )
    return Measured(facts, contents)


def inspect_file(
    path: Path,
    *,
    kind: TaskKind = "tagging",
    options: ReadOptions = _USUAL,
    encoder: str | None = None,
    max_length: int = 128,
) -> DataFacts:
    r"""What is in a data file of any format, or in a folder with files of several splits.

    Args:
        path: The file (its examples are the split `all`), or the folder.
        kind: The kind of task.
        options: How it is read.
        encoder: Whose pieces are counted, if given.
        max_length: Most pieces to a row.

    Raises:
        TawtError: If it cannot be read, or there is no such encoder.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "ner.tsv")
        ...     _ = path.write_text("EU\tB-ORG\nrejects\tO\n\nEU\tB-ORG\n")
        ...     facts = inspect_file(path)
        >>> facts.tasks[0].splits["all"].labels[0]
        LabelCount(label='B-ORG', count=2, share=0.6666666666666666)
    """
    several = path.is_dir() or is_hub(path)
    files = SplitFiles(folder=path) if several else SplitFiles(train=path)
    splits = load(files, kind=kind, options=options, seed=0)
    examples = by_split(splits) if several else {"all": splits.train}
    cutting = None
    if encoder is not None:
        cutting = Cutting(tokenizer=load_tokenizer(encoder), max_length=max_length)
    task = measured_text(
        path.stem, examples, splits.report, kind=kind, role="file", cutting=cutting
    )
    return facts_of([task])


def by_split(splits: Splits) -> dict[str, Sequence[Example]]:
    """The splits that there are, the training examples first."""
    found = {"train": splits.train, "dev": splits.dev, "test": splits.test}
    return {split: part for split, part in found.items() if part is not None}


def _labels(examples: Sequence[Example]) -> Iterable[str]:
    for example in examples:
        if isinstance(example, TaggedSentence):
            yield from example.tags
        elif isinstance(example.label, str):
            yield example.label


def _numbers(examples: Sequence[Example]) -> list[str | float]:
    return [example.label for example in examples if isinstance(example, LabelledText)]
