"""From a table of predictions to scores by label, and to what is taken for what."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from tawt.report.mistakes import Confusion, LabelQuality, confusions_part, labels_table
from tawt.report.parts import Cell, Part, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.runs.folder import RunFolder
    from tawt.runs.predictions import PredictionRow

_SPLITS = ("test", "dev")
_NO_SPAN = "O"
_SHOWN = 3  # texts of an error
_BEFORE, _AFTER = 8, 6  # words around a wrong one
_LONGEST = 240
_NAME = 60
_WORST = 10


def mistakes_parts(folder: RunFolder, record: Mapping[str, Any], target: str) -> list[Part]:
    """Scores by label and the commonest errors of a run, if it left predictions.

    Args:
        folder: Of the run.
        record: What it came to.
        target: Whose examples they are.
    """
    split, answers = _answers(folder, target)
    if not answers:
        return []
    of_target = f", {target}" if len(record["scores"]) > 1 else ""
    if _are_numbers(answers):
        worst = _far_off(answers)
        title = f"The largest errors{of_target}"
        return [] if worst is None else [Part(title=title, tables=[worst])]
    words = _are_words(answers)
    what = f"{split} {'words' if words else 'examples'}"
    recorded = recorded_labels(record, target, split)
    table = labels_table(
        recorded or label_scores(answers),
        what="number" if recorded else what,
        note="Word by word, whatever the spans they are in." if words and not recorded else "",
    )
    errors = confusions_part(_confusions(answers, words=words), what=what, of=len(answers))
    by_label = Part(title=f"Scores by label{of_target}", tables=[table])
    return [by_label, *([errors] if errors is not None else [])]


def labels_of(folder: RunFolder, record: Mapping[str, Any], target: str) -> dict[str, LabelQuality]:
    """Scores by label of a run; nothing where it left none, or where answers are numbers."""
    split, answers = _answers(folder, target)
    if not answers or _are_numbers(answers):
        return {}
    return recorded_labels(record, target, split) or label_scores(answers)


def label_scores(answers: Sequence[PredictionRow]) -> dict[str, LabelQuality]:
    """Precision, recall and F1 of each label; of tags, those of words, without what is no span.

    Example:
        >>> from tawt.runs.predictions import PredictionRow
        >>> pairs = [("a", "a"), ("a", "b"), ("b", "b")]
        >>> found = label_scores([PredictionRow("t", "", "", *pair, "1") for pair in pairs])
        >>> found["a"]  # doctest: +NORMALIZE_WHITESPACE
        LabelQuality(precision=1.0, recall=0.5, f1=0.6666666666666666, support=2)
    """
    pairs = [(_kind(row.gold), _kind(row.predicted)) for row in answers]
    gold = Counter(label for label, _ in pairs)
    predicted = Counter(label for _, label in pairs)
    right = Counter(label for label, other in pairs if label == other)
    names = [label for label in {**gold, **predicted} if label != _NO_SPAN]
    return {
        name: LabelQuality(
            precision=right[name] / predicted[name] if predicted[name] else 0.0,
            recall=right[name] / gold[name] if gold[name] else 0.0,
            f1=2 * right[name] / (gold[name] + predicted[name]),
            support=gold[name],
        )
        for name in names
    }


def recorded_labels(
    record: Mapping[str, Any], target: str, split: str
) -> dict[str, LabelQuality] | None:
    """What the record itself says of labels, if it does."""
    found = record.get("labels")
    for key in (target, split):
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, dict) or not found:
        return None
    try:
        return {
            str(label): LabelQuality(
                **{key: float(values[key]) for key in ("precision", "recall", "f1", "support")}
            )
            for label, values in found.items()
        }
    except (KeyError, TypeError, ValueError):
        return None


def _answers(folder: RunFolder, target: str) -> tuple[str, list[PredictionRow]]:
    """On test examples; without any, on dev examples."""
    found = ((split, folder.answers(target, split)) for split in _SPLITS)
    return next(((split, rows) for split, rows in found if rows), ("", []))


def _are_words(answers: Sequence[PredictionRow]) -> bool:
    """Whether examples have several rows."""
    return len({row.example for row in answers if row.example}) < sum(
        1 for row in answers if row.example
    )


def _are_numbers(answers: Sequence[PredictionRow]) -> bool:
    """Whether any answer is a fraction that is no label."""
    labels = {row.gold for row in answers}
    return any(
        row.predicted not in labels and _number(row.predicted) not in (None, _whole(row.predicted))
        for row in answers
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(text: str) -> float | None:
    return float(text) if text.lstrip("-").isdigit() else None


def _kind(label: str) -> str:
    """Of a span's tags, what the span is."""
    return label[2:] if label[:2] in ("B-", "I-", "E-", "S-", "L-", "U-") else label


def _far_off(answers: Sequence[PredictionRow]) -> Table | None:
    """Where predicted numbers are farthest from the truth; nothing where these are no numbers."""
    known = [(row, _number(row.gold), _number(row.predicted)) for row in answers]
    pairs = [(row, a, b) for row, a, b in known if a is not None and b is not None]
    if len(pairs) < len(known) or not any(row.input for row in answers):
        return None
    pairs.sort(key=lambda each: -abs(each[1] - each[2]))
    return Table(
        title="",
        headings=("text", "gold", "predicted"),
        rows=[
            [Cell(text=_cut(row.input, _LONGEST)), f"{gold:.3g}", f"{predicted:.3g}"]
            for row, gold, predicted in pairs[:_WORST]
        ],
        is_prose=True,
    )


def _confusions(answers: Sequence[PredictionRow], *, words: bool) -> list[Confusion]:
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, row in enumerate(answers):
        if row.gold != row.predicted:
            places[row.gold, row.predicted].append(place)
    return [
        Confusion(
            gold=_cut(gold, _NAME),
            predicted=_cut(predicted, _NAME),
            count=len(found),
            shown=[_shown(answers, place, words=words) for place in found[:_SHOWN]]
            if answers[found[0]].input
            else (),
        )
        for (gold, predicted), found in places.items()
    ]


def _shown(answers: Sequence[PredictionRow], place: int, *, words: bool) -> Cell:
    """The text of an error; of a word, the words around it."""
    row = answers[place]
    if not words:
        return Cell(text=_cut(row.input, _LONGEST))

    def joined(start: int, end: int) -> str:
        near = answers[max(0, start) : end]
        return " ".join(_cut(other.input, _NAME) for other in near if other.example == row.example)

    before, after = joined(place - _BEFORE, place), joined(place + 1, place + 1 + _AFTER)
    return Cell(
        text=f"{before} " if before else "",
        marked=_cut(row.input, _NAME),
        after=f" {after}" if after else "",
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
