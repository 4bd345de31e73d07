"""What is in a corpus, before anything is trained on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.corpora.facts import CorpusFacts, CorpusSplitFacts
from tawt.corpora.windows.base import windows_of
from tawt.modality.facts import TaskFacts
from tawt.modality.inspecting import Measured, also_in, repeated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tawt.corpora.windows.base import CorpusWindows
    from tawt.modality.facts import Role
    from tawt.tasks import Task

_SHOWN = 3  # windows as they were read


def measured_corpus(task: Task, *, role: Role) -> Measured:
    """A corpus: its documents are what is counted, repeated and shared.

    Args:
        task: With the splits that are to be looked into.
        role: What the corpus is to the run.
    """
    found = windows_of(task)
    contents: dict[str, NDArray[np.uint64]] = {
        split: windows.digests() for split, windows in found.items()
    }
    splits = {
        split: CorpusSplitFacts(
            examples=len(contents[split]),
            repeated=repeated(contents[split]),
            also_in=also_in(split, contents),
            corpus=_facts(windows),
        )
        for split, windows in found.items()
    }
    facts = TaskFacts(
        name=task.name,
        kind="corpus",
        role=role,
        splits=splits,
        empty=found["train"].shard.index.skipped,
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
    for windows in windows_of(task).values():
        windows.shard.verify()


def _facts(windows: CorpusWindows) -> CorpusFacts:
    index = windows.shard.index
    return CorpusFacts(tokens=index.tokens, bytes=index.bytes, windows=len(windows))
