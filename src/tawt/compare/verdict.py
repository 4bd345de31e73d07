"""What a comparison came to, for its page: the answer first, and no p-value among it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tawt.compare.best import ALONE
from tawt.compare.sources import main_row, verdicts_of
from tawt.compare.tables import interval_text
from tawt.compare.words import (
    beginning,
    best_row_in_words,
    difference_in_words,
    left_out,
    of_mixture,
    of_sources,
)
from tawt.report.parts import Fact
from tawt.report.words import metric_in_words
from tawt.significance import interval

if TYPE_CHECKING:
    from tawt.compare.comparison import Comparison, RowResult


def best_row(comparison: Comparison) -> RowResult:
    """The row with the best mean score."""
    return max(comparison.rows, key=lambda row: comparison.measure.sign * row.mean)


def opening_words(comparison: Comparison) -> list[str]:
    """Which way of training is best, what learned weights gain, and what is known of sources."""
    best = best_row_in_words(comparison) or [_verdict(comparison), *_doubt(comparison)]
    said = [*best, *of_mixture(comparison)]
    learned = main_row(comparison)
    if learned is not None:
        said += of_sources(learned, comparison)
    said += [_gain(row, comparison) for row in comparison.rows if row.learns and row.against]
    return [*said, *left_out(comparison)]


def facts_of(comparison: Comparison) -> list[Fact]:
    """The answer in numbers."""
    best, alone, measure = best_row(comparison), comparison.row(ALONE), comparison.measure
    metric = metric_in_words(comparison.metric)
    facts = [Fact(value=_shown(best.mean, comparison), said=f"{metric}, {best.name}")]
    if alone is not None and alone is not best:
        gain = measure.gain(best.mean, over=alone.mean)
        unit = "points" if measure.title == "%" else measure.title
        facts += [
            Fact(value=_shown(alone.mean, comparison), said=f"{metric}, the target alone"),
            Fact(
                value=measure.shown_gain(gain),
                said=f"{unit} over the target alone; better on {_wins(best, alone, comparison)}",
                verdict="helps" if gain > 0 else "hurts",
            ),
        ]
    learned = main_row(comparison)
    if learned is not None and learned.findings:
        counts = Counter(verdicts_of(learned, runs=len(comparison.seeds)).values())
        facts.append(
            Fact(
                value=f"{counts['helps']} of {len(learned.findings)}",
                said=f"sources help in most runs; {counts['hurts']} hurt, "
                f"{counts['cannot tell']} cannot be told",
                verdict="helps" if counts["helps"] else "unclear",
            )
        )
    return facts


def _verdict(comparison: Comparison) -> str:
    best, alone = best_row(comparison), comparison.row(ALONE)
    score = f"{metric_in_words(comparison.metric)} of {_shown(best.mean, comparison)}"
    if alone is None:
        return f"On {comparison.target}, {best.name} is best: {score}."
    if alone is best:
        if len(comparison.rows) == 1:
            return f"On {comparison.target}, training on the target alone comes to {score}."
        return f"On {comparison.target}, nothing is better than the target alone: {score}."
    gain = comparison.measure.gain(best.mean, over=alone.mean)
    if comparison.measure.shown(abs(gain)) == comparison.measure.shown(0.0):
        return f"On {comparison.target}, nothing is better than the target alone: {score}."
    by = comparison.measure.in_words(gain)
    return (
        f"On {comparison.target}, {best.name} is best: {score}, {by} better than the target alone."
    )


def _doubt(comparison: Comparison) -> list[str]:
    """Whether other seeds may say otherwise of the best row beside the target alone."""
    best, alone, measure = best_row(comparison), comparison.row(ALONE), comparison.measure
    if alone is None or alone is best:
        return []
    pairs = zip(best.scores, alone.scores, strict=False)
    ends = interval([measure.gain(ours, over=theirs) for ours, theirs in pairs])
    if ends is None:
        return ["From one seed nothing says that another would agree."]
    if ends[0] > 0:
        return []
    return [
        f"That lead may be chance: over seeds its 95% interval is "
        f"{interval_text(ends, measure=measure)}."
    ]


def _gain(row: RowResult, comparison: Comparison) -> str:
    measure = comparison.measure
    gain = difference_in_words(row.difference or 0.0, measure)
    ends = interval_text(row.interval, measure=measure)
    within = f"95% interval {ends}; " if ends else ""
    wins = f"better on {row.wins} of {len(comparison.seeds)} seeds"
    return f"{beginning(row.name)} {gain} {row.against} ({within}{wins})."


def _wins(row: RowResult, other: RowResult, comparison: Comparison) -> str:
    pairs = zip(row.scores, other.scores, strict=False)
    wins = sum(comparison.measure.gain(ours, over=theirs) > 0 for ours, theirs in pairs)
    return f"{wins} of {len(comparison.seeds)} seeds"


def _shown(score: float, comparison: Comparison) -> str:
    measure = comparison.measure
    return f"{measure.shown(score)}{'%' if measure.title == '%' else ''}"
