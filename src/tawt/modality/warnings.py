"""What a person would want to know before trusting a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tawt.modality.facts import Overlap, SplitFacts, TaskFacts

_NAMED = 5  # labels in a sentence


def warnings(tasks: Sequence[TaskFacts], overlaps: Sequence[Overlap]) -> Iterator[str]:
    """A sentence for each thing that makes scores doubtful, the worst first.

    Args:
        tasks: What they hold.
        overlaps: What they share.
    """
    for target in (task for task in tasks if task.role == "target"):
        yield from _of_target(target, tasks, overlaps)
    for task in tasks:
        if task.role != "source":  # no run reads what a source holds out
            for split, facts in task.splits.items():
                yield from _of_split(task, split, facts)
        yield from (f"{task.name!r}: {remark}" for remark in task.remarks())


def _of_target(
    target: TaskFacts, tasks: Sequence[TaskFacts], overlaps: Sequence[Overlap]
) -> Iterator[str]:
    for task in tasks:
        seen = [
            f"{each.of_split} {each.split} ({each.share:.1%})"
            for each in overlaps
            if (each.train_of, each.task) == (task.name, target.name)
            and each.split != "train"
            and each.of_split
        ]
        if seen:
            yield (
                f"{task.name!r} trains on examples of the target {target.name!r} that are held "
                f"out, {' and '.join(seen)}: scores on those are not scores on unseen examples."
            )


def _of_split(task: TaskFacts, split: str, facts: SplitFacts) -> Iterator[str]:
    for other, count in facts.also_in.items():
        if count:
            share = count / facts.examples
            yield f"{task.name!r}: of {split}, {count} ({share:.1%}) are in {other} too."
    if facts.unseen_labels:
        names = ", ".join(each.label for each in facts.unseen_labels[:_NAMED])
        more = ", …" if len(facts.unseen_labels) > _NAMED else ""
        times = sum(each.count for each in facts.unseen_labels)
        yield (
            f"{task.name!r}: labels of {split} that no training example has, never to be right: "
            f"{names}{more} ({times} in all)."
        )
