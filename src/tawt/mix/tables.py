"""The answer's two tables: what of each source, and what it gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.mix.study import EQUAL
from tawt.mix.words import difference_text
from tawt.report.words import times

if TYPE_CHECKING:
    from tawt.mix.result import CorpusShare, Interval, MixResult, RowLoss

CORPORA = ("source", "use", "times by size", "passes", "learned", "95% interval")
LOSSES = ("weights", "loss", "beside equal weights", "of each seed")


def corpus_cells(corpus: CorpusShare) -> tuple[str, ...]:
    """The cells of a source, in the order of `CORPORA`.

    Args:
        corpus: A source of the answer.
    """
    held = f", not {times(corpus.uncapped_passes)}" if corpus.is_capped else ""
    return (
        corpus.name,
        percent(corpus.probability),
        f"× {times(corpus.multiplier)}",
        f"{times(corpus.passes)}{held}",
        percent(corpus.weight) + (" (floor)" if corpus.at_floor else ""),
        interval_text(corpus.interval),
    )


def loss_cells(row: RowLoss, found: MixResult) -> tuple[str, ...]:
    """The cells of a row, in the order of `LOSSES`.

    Args:
        row: Of the answer.
        found: The answer.
    """
    gain = row.gains.get(EQUAL)
    shown = found.measure.shown
    return (
        row.name,
        shown(row.mean),
        "" if gain is None else difference_text(gain, found),
        ", ".join(shown(score) for score in row.scores),
    )


def percent(share: float) -> str:
    """A share in percent.

    Example:
        >>> percent(0.612), percent(0.0423)
        ('61%', '4.2%')
    """
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.1f}%"


def interval_text(ends: Interval | None) -> str:
    """An interval of a share.

    Example:
        >>> interval_text((0.55, 0.67)), interval_text(None)
        ('55% to 67%', '')
    """
    return "" if ends is None else f"{percent(ends[0])} to {percent(ends[1])}"
