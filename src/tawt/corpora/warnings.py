"""What a person would want to know of corpora before trusting a score on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.corpora.windows.base import windows_of
from tawt.modality.inspecting import shared

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from tawt.tasks import Task


def warnings(tasks: Sequence[Task], targets: Collection[str]) -> Iterator[str]:
    """A sentence for each thing that makes scores doubtful, the worst first.

    Args:
        tasks: Sources and targets.
        targets: Names of the latter, which have held-out text.
    """
    yield from _overlaps(tasks, targets)
    yield from size_warnings(tasks, targets)


def size_warnings(tasks: Sequence[Task], targets: Collection[str]) -> Iterator[str]:
    """The same of what is too small or damaged.

    Args:
        tasks: Sources and targets.
        targets: Names of the latter.
    """
    if small := [task.name for task in tasks if len(task.train) == 1]:
        yield (
            f"These corpora have a single window to train on: {_with_roles(small, targets)}; lower "
            "`data.window`, or give them more text."
        )
    yield from _short_held_out_text(task for task in tasks if task.name in targets)
    for task in tasks:
        for split, windows in windows_of(task).items():
            if replaced := windows.shard.index.replaced:
                yield (
                    f"{task.name!r}: bytes of {split} that could not be decoded became the sign "
                    f"U+FFFD: {replaced}."
                )


def _short_held_out_text(targets: Iterable[Task]) -> Iterator[str]:
    for task in targets:
        for split, windows in windows_of(task).items():
            if split != "train" and len(windows) == 1:
                yield (
                    f"The {split} text of {task.name!r} is a single window "
                    f"({windows.shard.index.bytes:,} bytes): its score says little."
                )


def _with_roles(names: Sequence[str], targets: Collection[str]) -> str:
    return ", ".join(f"{name!r} (the target)" if name in targets else repr(name) for name in names)


def _overlaps(tasks: Sequence[Task], targets: Collection[str]) -> Iterator[str]:
    held_out = [
        (task.name, split, windows.shard)
        for task in tasks
        if task.name in targets
        for split, windows in windows_of(task).items()
        if split != "train"
    ]
    for task in tasks:
        trained_on = windows_of(task)["train"].shard
        known = trained_on.digests, trained_on.lines
        for target, split, shard in held_out:
            documents, lines = shared(shard.digests, *known), shared(shard.lines, *known)
            if count := documents or lines:
                of = len(shard.digests) if documents else len(shard.lines)
                what, unit = ("documents", "") if documents else ("lines", "the lines of ")
                yield (
                    f"{task.name!r} trains on {what} of the target {target!r} that are held "
                    f"out, {count} of {unit}{split} ({count / of:.1%}): scores on those are "
                    "not scores on unseen text."
                )
