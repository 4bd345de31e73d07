"""What is in a corpus, before anything is trained on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.corpora.windows.base import CorpusWindows
from tawt.modality.facts import CorpusFacts, SplitFacts, TaskFacts
from tawt.modality.inspecting import Measured, also_in, repeated

if TYPE_CHECKING:
    from tawt.modality.facts import Role
    from tawt.tasks import Examples, Task

_SHOWN = 3  # windows as they were read


def measured_corpus(task: Task, *, role: Role) -> Measured:
    """A corpus: its documents are what is counted, repeated and shared.

    Args:
        task: With the splits that are to be looked into.
        role: What the corpus is to the run.
    """
    found: dict[str, Examples] = dict(task.splits().items())
    contents = {split: examples.digests() for split, examples in found.items()}
    splits = {
        split: SplitFacts(
            examples=len(contents[split]),
            repeated=repeated(contents[split]),
            also_in=also_in(split, contents),
            corpus=_facts(examples),
        )
        for split, examples in found.items()
    }
    facts = TaskFacts(
        name=task.name,
        kind="corpus",
        role=role,
        splits=splits,
        empty=int(task.train.notes.get("skipped", 0)),
        first=tuple(task.train.preview(index) for index in range(min(len(task.train), _SHOWN))),
    )
    return Measured(facts, contents)


def verify(task: Task) -> None:
    """Hold what a corpus was tokenised to against its checksums.

    Args:
        task: Of windows.

    Raises:
        DataError: If it is damaged.
    """
    for examples in task.splits().values():
        assert isinstance(examples, CorpusWindows)
        examples.shard.verify()


def _facts(examples: Examples) -> CorpusFacts:
    notes = examples.notes
    return CorpusFacts(
        tokens=int(notes["tokens"]), bytes=int(notes["bytes"]), windows=len(examples)
    )
