"""Which field of a record is the text, the label, the tags, the group."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from tawt.text.reading.examples import TaskKind

FIELDS = ("tokens", "tags", "text", "second", "label", "group")
"""Our names; a file's own names are given as `fields`, for example `{"text": "review"}`."""

_PAIRS = (("text", "second"), ("sentence1", "sentence2"), ("premise", "hypothesis"))
_SINGLES = ("text", "sentence")

_ONE_TEXT = [{"text": text, "label": "label"} for text in _SINGLES]
_TWO_TEXTS = [{"text": text, "second": second, "label": "label"} for text, second in _PAIRS]

_CANDIDATES: Mapping[TaskKind, list[dict[str, str]]] = {
    "tagging": [{"tokens": tokens, "tags": "tags"} for tokens in ("tokens", "words")],
    "classification": _ONE_TEXT,
    "pair": _TWO_TEXTS,
    "regression": _TWO_TEXTS + _ONE_TEXT,
}

COMMON_NAMES = frozenset(
    name
    for candidates in _CANDIDATES.values()
    for candidate in candidates
    for name in candidate.values()
)
"""Every field name that needs no `fields`."""


class MissingFieldError(Exception):
    """Says which field is missing; the reader adds where."""


def fields_of(
    names: Collection[str], *, kind: TaskKind, fields: Mapping[str, str]
) -> dict[str, str]:
    """The file's name of each field that this kind of task needs.

    Without `fields`, two texts may also be called `sentence1` and `sentence2`, or `premise` and
    `hypothesis`; one text `sentence`; tokens `words`. A regression takes two texts where there
    are two.

    Args:
        names: The fields that there are.
        kind: The kind of task.
        fields: Our name to the file's, where it differs.

    Raises:
        MissingFieldError: If a field is not there.

    Example:
        >>> fields_of(["premise", "hypothesis", "label"], kind="pair", fields={})
        {'text': 'premise', 'second': 'hypothesis', 'label': 'label'}
        >>> fields_of(["review", "label"], kind="classification", fields={"text": "review"})
        {'text': 'review', 'label': 'label'}
        >>> fields_of(["text", "label"], kind="tagging", fields={})
        Traceback (most recent call last):
        ...
        tawt.text.reading.fields.MissingFieldError: there is no field 'tokens'; there are 'text', \
'label'. These are of another kind of task: give `kind: classification`, or say which one is the \
tokens with `fields: {tokens: NAME}`.
    """
    candidates = [
        {ours: fields.get(ours, theirs) for ours, theirs in candidate.items()}
        for candidate in _CANDIDATES[kind]
    ]
    given = {fields[ours] for ours in candidates[0] if ours in fields}
    candidates = [candidate for candidate in candidates if given <= set(candidate.values())]
    nearest = min(candidates, key=lambda candidate: len(set(candidate.values()) - set(names)))
    if set(nearest.values()) <= set(names):
        return nearest
    missing = next(ours for ours, theirs in nearest.items() if theirs not in names)
    raise _missing(missing, nearest[missing], names, other=_other_kind(names, kind))


def group_of(names: Collection[str], *, fields: Mapping[str, str]) -> dict[str, str]:
    """The file's name of the field that says an example's group; none unless `fields` asks.

    Apart from `fields_of`, as predicting needs no groups.

    Args:
        names: The fields that there are.
        fields: Our name to the file's.

    Raises:
        MissingFieldError: If the field is not there.

    Example:
        >>> group_of(["text", "label", "site"], fields={"group": "site"})
        {'group': 'site'}
        >>> group_of(["text", "label", "group"], fields={})
        {}
    """
    if "group" not in fields:
        return {}
    if fields["group"] not in names:
        raise _missing("group", fields["group"], names)
    return {"group": fields["group"]}


def _other_kind(names: Collection[str], kind: TaskKind) -> TaskKind | None:
    """The kind of task that fields of these names are usual for, where that is another one."""
    for other in ("tagging", "pair", "classification"):
        if any(set(usual.values()) <= set(names) for usual in _CANDIDATES[other]):
            return None if other == kind else other
    return None


def _missing(
    ours: str, theirs: str, names: Collection[str], *, other: TaskKind | None = None
) -> MissingFieldError:
    said = f"there is no field {theirs!r}; there are {_listed(names)}. "
    if other is not None:
        said += f"These are of another kind of task: give `kind: {other}`, or say"
    else:
        said += "Say"
    return MissingFieldError(f"{said} which one is the {ours} with `fields: {{{ours}: NAME}}`.")


def _listed(names: Collection[str]) -> str:
    shown = [repr(name[:40]) for name in list(names)[:12]]
    return (", ".join(shown) or "none") + (", …" if len(names) > len(shown) else "")
