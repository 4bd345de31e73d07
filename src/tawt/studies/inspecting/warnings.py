"""What a person would want to know before trusting a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tawt.studies.inspecting.facts import Overlap, SplitFacts, TaskFacts

_NAMED = 5  # labels in a sentence


def warnings(tasks: Sequence[TaskFacts], overlaps: Sequence[Overlap]) -> Iterator[str]:
    """A sentence for each thing that makes scores doubtful, the worst first.

    Args:
        tasks: What they hold.
        overlaps: What they share.
    """
    roles = {task.name: task.role for task in tasks}
    for found in overlaps:
        held_out = found.split != "train" and roles[found.task] == "target"
        if held_out and found.of_split:
            yield (
                f"{found.of_split} {found.split} examples of the target {found.task!r} "
                f"({found.share:.1%}) are among the training examples of {found.train_of!r}: a "
                "score on them is not one on unseen text."
            )
    for task in tasks:
        for split, facts in task.splits.items():
            yield from _of_split(task, split, facts)
        if task.repaired:
            yield f"{task.name!r}: the tags of {task.repaired} sentences broke IOB2; repaired."


def _of_split(task: TaskFacts, split: str, facts: SplitFacts) -> Iterator[str]:
    for other, count in facts.also_in.items():
        if count:
            share = count / facts.examples
            yield f"{task.name!r}: {count} {split} examples ({share:.1%}) are in {other} too."
    if facts.unseen_labels:
        names = ", ".join(each.label for each in facts.unseen_labels[:_NAMED])
        more = ", …" if len(facts.unseen_labels) > _NAMED else ""
        times = sum(each.count for each in facts.unseen_labels)
        yield (
            f"{task.name!r}: labels of {split} that no training example has, never to be right: "
            f"{names}{more} ({times} in all)."
        )
