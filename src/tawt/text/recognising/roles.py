"""Which field of a record is the text, which the label, and of what kind the task is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tawt.text.reading import TaskKind

    Records = Sequence[Mapping[str, object]]

_PAIRS = (
    ("text", "second"),
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("sentence_a", "sentence_b"),
    ("query", "passage"),
)
_TEXTS = ("text", "sentence")
_LABELS = (
    *("label", "labels", "class", "category", "target", "gold", "y", "sentiment", "intent"),
    *("stars", "rating", "score", "similarity"),
)
_TOKENS, _TAGS = ("tokens", "words"), ("tags", "ner_tags", "pos_tags", "labels")
_MOST_CLASSES = 20  # of whole numbers; more are amounts
_LEAST_REPEATED = 2  # examples of a label, on average; names of rows have fewer


@dataclass(frozen=True)
class Roles:
    """What the fields are.

    Example:
        >>> records = [{"id": 1, "review": "very good", "stars": 5}, {"id": 2, "review": "bad", \
"stars": 1}]
        >>> roles_of(records)
        Roles(kind='classification', fields={'text': 'review', 'label': 'stars'}, others=('id',))
    """

    kind: TaskKind | None
    """Nothing where there are no labels."""
    fields: Mapping[str, str]
    """Our names to the file's."""
    others: tuple[str, ...]
    """Fields that are not read."""


def roles_of(records: Records) -> Roles | None:
    """What the fields of records are; nothing where none of them is text.

    Args:
        records: Some of them; values of tables are strings.
    """
    names = list(records[0])
    if tagged := _tagged(names, records):
        return _roles("tagging", tagged, names)
    strings = [name for name in names if _is_text(name, records)]
    label = _label(names, records)
    strings = [name for name in strings if name != label]
    if not strings:
        return None
    texts = _texts(strings, records)
    if label is None:
        return _roles(None, {"text": texts[0]}, names)
    kind = _kind([record.get(label) for record in records], paired=len(texts) > 1)
    ours = dict(zip(("text", "second"), texts, strict=False))
    return _roles(kind, {**ours, "label": label}, names)


def is_number(value: object) -> bool:
    """Whether it is a number, or a string that reads as one.

    Example:
        >>> [is_number(value) for value in ("4.5", 3, "four", True)]
        [True, True, False, False]
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        float(value)
    except ValueError:
        return False
    return True


def _roles(kind: TaskKind | None, fields: Mapping[str, str], names: Sequence[str]) -> Roles:
    used = set(fields.values())
    return Roles(kind, fields, tuple(name for name in names if name not in used))


def _tagged(names: Sequence[str], records: Records) -> dict[str, str] | None:
    """Two fields that have an entry for each word."""
    lists = [name for name in names if all(_is_list(each.get(name)) for each in records)]
    tokens = next((name for name in _TOKENS if name in (lists or names)), None)
    tags = next((name for name in _TAGS if name in (lists or names)), None)
    if tokens is not None and tags is not None:
        return {"tokens": tokens, "tags": tags}
    if len(lists) != 2:
        return None
    values = {name: {str(x) for each in records for x in _entries(each[name])} for name in lists}
    few, many = sorted(lists, key=lambda name: len(values[name]))
    return {"tokens": many, "tags": few}


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _entries(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_text(name: str, records: Records) -> bool:
    values = [each.get(name) for each in records]
    filled = [value for value in values if isinstance(value, str) and value.strip()]
    return 2 * len(filled) > len(values) and not all(is_number(value) for value in filled)


def _texts(names: Sequence[str], records: Records) -> tuple[str, ...]:
    """The text, or the two of a pair: by their names, else the longest."""
    for pair in _PAIRS:
        if set(pair) <= set(names):
            return pair
    usual = next((name for name in _TEXTS if name in names), None)
    return (usual or max(names, key=lambda name: _length(name, records)),)


def _length(name: str, records: Records) -> int:
    return sum(len(str(each.get(name) or "")) for each in records)


def _label(names: Sequence[str], records: Records) -> str | None:
    """By its name, else the last field whose values repeat."""
    lower = {name.lower().strip(): name for name in reversed(names)}
    for usual in _LABELS:
        if usual in lower and _may_be_label(lower[usual], records, named=True):
            return lower[usual]
    others = [name for name in names if name not in _TEXTS]
    found = [name for name in others if _may_be_label(name, records, named=False)]
    return found[-1] if found else None


def _may_be_label(name: str, records: Records, *, named: bool) -> bool:
    values = [each.get(name) for each in records]
    if not all(isinstance(value, str | int | float) for value in values):
        return False
    kinds = len(set(values))
    return named or 1 < kinds <= len(values) / _LEAST_REPEATED


def _kind(labels: Collection[object], *, paired: bool) -> TaskKind:
    if all(is_number(label) for label in labels):
        numbers = Counter(float(str(label)) for label in labels)
        whole = all(number.is_integer() for number in numbers)
        if not whole or len(numbers) > _MOST_CLASSES:
            return "regression"
    return "pair" if paired else "classification"
