"""Scores by label, and the errors that matter, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.report.parts import Cell, Part, Quotes, Table, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LABELS = 40
_CONFUSIONS = 10
_ERRORS = "The errors that matter"


@dataclass(frozen=True, kw_only=True)
class LabelQuality:
    """How well a label is found; shares of one."""

    precision: float
    recall: float
    f1: float
    support: float
    """Examples that have it."""


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """What is taken for what."""

    gold: str
    predicted: str
    count: int
    shown: Sequence[Cell] = ()
    """Some of these errors, in their text."""


def labels_table(found: Mapping[str, LabelQuality], *, what: str, note: str = "") -> Table:
    """A row for each label, the commonest first.

    Args:
        found: By label.
        what: What is counted: examples, say.
        note: Over it.
    """
    names = sorted(found, key=lambda name: -found[name].support)
    kept, left = shortened(names, most=_LABELS)
    if left:
        note = f"{note} The {left} rarest labels are left out.".strip()
    return Table(
        note=note,
        headings=("label", "F1", "precision", "recall", what),
        rows=[
            [
                name,
                Cell(text=f"{100 * found[name].f1:.1f}", share=found[name].f1),
                f"{100 * found[name].precision:.1f}",
                f"{100 * found[name].recall:.1f}",
                f"{found[name].support:g}",
            ]
            for name in kept
        ],
    )


def confusions_part(found: Sequence[Confusion], *, what: str, of: int) -> Part | None:
    """The commonest errors first, with some of their texts; nothing where there are none.

    Args:
        found: What is taken for what.
        what: What is counted: examples, say.
        of: How many there are, right or wrong.
    """
    if not found:
        return None
    wrong = sum(confusion.count for confusion in found)
    most = sorted(found, key=lambda confusion: -confusion.count)
    kept, left = shortened(most, most=_CONFUSIONS)
    rest = sum(confusion.count for confusion in most[len(kept) :])
    besides = f" Left out: {left} rarer kinds, with {rest:,} errors." if left else ""
    note = f"{wrong:,} of {of:,} {what} are wrong; the commonest kinds first.{besides}"
    if any(confusion.shown for confusion in kept):
        quotes = [Quotes(title=_said(each), texts=each.shown) for each in kept]
        return Part(title=_ERRORS, note=note, quotes=quotes)
    rows = [[each.gold, each.predicted, str(each.count)] for each in kept]
    table = Table(headings=("gold", "predicted", what), rows=rows)
    return Part(title=_ERRORS, note=note, tables=[table])


def _said(confusion: Confusion) -> str:
    """What is taken for what, and how often.

    Example:
        >>> _said(Confusion(gold="PER", predicted="ORG", count=7))
        '7 × PER taken for ORG'
    """
    return f"{confusion.count:,} × {confusion.gold} taken for {confusion.predicted}"
