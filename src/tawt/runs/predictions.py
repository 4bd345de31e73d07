"""Predictions as a table: one line an example, or one line a word."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, NamedTuple

from tawt.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from tawt.tasks import Examples, Task
    from tawt.training.result import Predictions

_PLAIN = ("task", "gold", "predicted", "score")
_IN_WORDS = ("task", "example", "input", "gold", "predicted", "score")
# Tabs, and all that any reader might take for the end of a line.
_BREAKS = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")


class PredictionRow(NamedTuple):
    """A line of the table, as it stands there."""

    task: str
    example: str
    """Its number; empty where it is not shown."""
    input: str
    """The text or the word; empty where it is not shown."""
    gold: str
    predicted: str
    score: str


def as_tsv(found: Sequence[tuple[str, Examples, Predictions]]) -> str:
    """Predictions of several tasks on one split.

    Words have a line each, and the score of their sentence stands on the line of the first.
    Text is written as it is, but for tabs and line ends, which become blanks.

    Args:
        found: Task, examples and predictions.
    """
    text = io.StringIO()
    if not any(examples.in_words for _, examples, _ in found):
        writer = csv.writer(text, delimiter="\t", lineterminator="\n")
        writer.writerow(_PLAIN)
        for task, _, each in found:
            rows = zip(each.gold, each.predicted, each.example_scores, strict=True)
            writer.writerows((task, *row) for row in rows)
        return text.getvalue()
    text.write("\t".join(_IN_WORDS) + "\n")
    for task, examples, each in found:
        for row in _rows(task, examples, each):
            text.write("\t".join(_BREAKS.sub(" ", str(field)) for field in row) + "\n")
    return text.getvalue()


def example_scores(path: Path, task: str) -> list[float]:
    """Score of each example of the task, in order.

    Raises:
        RunError: The file is damaged, or has none.
    """
    scores = [float(row.score) for row in _read(path) if row.task == task and row.score != ""]
    if not scores:
        raise RunError(f"The run folder {path.parent} is damaged: {path.name} is empty.")
    return scores


def answers(path: Path, task: str) -> list[PredictionRow]:
    """What the model answered about each example of a task, or about each of its words.

    Raises:
        RunError: The file is damaged.
    """
    return [row for row in _read(path) if row.task == task]


def _read(path: Path) -> list[PredictionRow]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            plain = file.readline().rstrip("\n").split("\t") == list(_PLAIN)
            split = (line.rstrip("\n").split("\t") for line in file)
            rows = list(csv.reader(file, delimiter="\t") if plain else split)
        if plain:
            found = [PredictionRow(task, "", "", *rest) for task, *rest in rows]
        else:
            found = [PredictionRow(*row) for row in rows]
        for row in found:
            float(row.score or 0)
    except (OSError, ValueError, TypeError, csv.Error) as error:
        raise RunError(f"The run folder {path.parent} is damaged: {path.name}: {error}.") from error
    return found


def scores_of_labels(
    predictions: Mapping[str, Mapping[str, Predictions]], tasks: Sequence[Task]
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Precision, recall, F1 and support of each label, as the record has them.

    Args:
        predictions: By target and split.
        tasks: Whose kinds know what a label is; targets without labels are left out.

    Returns:
        By target, split and label.
    """
    kinds = {task.name: task.kind for task in tasks}
    found = {
        target: {
            split: {
                label: asdict(score)
                for label, score in kinds[target].label_scores(each.gold, each.predicted).items()
            }
            for split, each in splits.items()
        }
        for target, splits in predictions.items()
    }
    return {target: splits for target, splits in found.items() if any(splits.values())}


def _rows(task: str, examples: Examples, found: Predictions) -> Iterator[tuple[object, ...]]:
    rows = zip(found.gold, found.predicted, found.example_scores, strict=True)
    for number, (gold, predicted, score) in enumerate(rows):
        for place, row in enumerate(examples.answered(number, gold, predicted)):
            yield task, number + 1, *row, "" if place else score
