"""What a comparison came to, in sentences that follow from its numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tawt.compare.best import ALONE, best_in_words
from tawt.compare.target_passes import uneven_passes
from tawt.report.words import largest_and_smallest, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tawt.compare.comparison import Comparison, RowResult
    from tawt.tasks import Measure

_LEARNED = ("weighted normalized joint", "learned then fine-tuning", "learned pre-training")
_MIXED = "learned weights"
"""The row of `sources only` whose weights are the answer."""
_NEARLY_ALL = 0.95  # of the weight
_NOTHING = 0.01  # of it: sources that have less together are not told apart
_QUOTED_OR_NUMBER = re.compile(r"('[^']*')|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def in_words(comparison: Comparison) -> list[str]:
    """What happened, in a few sentences that follow from the numbers."""
    sentences = [*best_row_in_words(comparison), *of_mixture(comparison)]
    measure = comparison.measure
    mixed = comparison.row(_MIXED)
    gained = [row for row in comparison.rows if row.learns and row.difference is not None]
    for row in sorted(gained, key=lambda row: -(row.difference or 0)):
        sure = f"{_how_sure(row.p_value)} over test examples"
        if row.p_seeds is not None:
            sure += f", {_how_sure(row.p_seeds)} over seeds"
        sentences.append(
            f"{beginning(row.name)} {difference_in_words(row.difference or 0.0, measure)} "
            f"{row.against} "
            f"(better on {row.wins} of {len(comparison.seeds)} seeds; {sure})."
        )
    by_size = comparison.row("weights by size")
    if mixed is not None and by_size is not None:
        difference = difference_in_words(measure.gain(mixed.mean, over=by_size.mean), measure)
        sentences.append(f"{beginning(mixed.name)} {difference} {by_size.name}.")
    learned = learned_row(comparison)
    alone = comparison.row(ALONE)
    if learned is not None and alone is not None:
        difference = difference_in_words(measure.gain(learned.mean, over=alone.mean), measure)
        sentences.append(
            f"{learned.name.capitalize()} is {difference} training on the target's examples alone."
        )
    if learned is not None:
        sentences += of_sources(learned, comparison)
    return [*sentences, *warned(comparison), *left_out(comparison)]


def of_mixture(comparison: Comparison) -> list[str]:
    """Where the weight of a mixture is, which is what is asked of one."""
    mixed = comparison.row(_MIXED)
    if mixed is None or not mixed.weights:
        return []
    say = _where_found if (mixed.difference or 0.0) > 0 else _largest
    return [say(mixed.weights, comparison.target)]


def warned(comparison: Comparison) -> list[str]:
    """How rows differ in passes over the target, and what training has warned of."""
    passes = {row.name: row.passes for row in comparison.rows}
    uneven = uneven_passes(passes, target=comparison.target)
    warnings = {row.name: row.warnings for row in comparison.rows}
    return [*uneven, *_warned(warnings, runs=len(comparison.seeds))]


def best_row_in_words(comparison: Comparison) -> list[str]:
    """Which row is the best, where there are others and what tests say of them is known."""
    best = comparison.best
    row = None if best is None else comparison.row(best.name)
    if best is None or row is None or not best.rivals:
        return []
    return [
        best_in_words(best, mean=row.mean, metric=comparison.metric, measure=comparison.measure)
    ]


def learned_row(comparison: Comparison) -> RowResult | None:
    """The row whose weights are learned from equal ones, in a paradigm that trains the target."""
    found = (comparison.row(name) for name in _LEARNED)
    return next((row for row in found if row is not None), None)


def left_out(comparison: Comparison) -> list[str]:
    """Which rows are not in the table, if any would have been."""
    return [_left_out(comparison.left_out)] if comparison.left_out else []


def of_sources(learned: RowResult, comparison: Comparison) -> list[str]:
    """What the weights say, where any is left to sources, and what is known beside chance."""
    sources = set(learned.weights) - {comparison.target}
    if not sources:
        return []
    said = _describe_findings(learned.findings, runs=len(comparison.seeds))
    if sum(learned.weights[name] for name in sources) < _NOTHING:
        return said
    return [_largest(learned.weights, comparison.target), *said]


def _left_out(rows: dict[str, str]) -> str:
    """Which rows are not in the table, and why.

    Example:
        >>> _left_out({"weighted joint": "weighted normalized joint"})
        'Left out: weighted joint; at these sizes it would repeat weighted normalized joint.'
    """
    they = "it" if len(rows) == 1 else "they"
    return (
        f"Left out: {listed(rows)}; at these sizes {they} would repeat "
        f"{listed(dict.fromkeys(rows.values()))}."
    )


def beginning(row: str) -> str:
    """A row's name, with its verb.

    Example:
        >>> beginning("weighted joint"), beginning("learned weights")
        ('Weighted joint is', 'Learned weights are')
    """
    return f"{row.capitalize()} {'are' if 'weights' in row else 'is'}"


def difference_in_words(gain: float, measure: Measure) -> str:
    """How one score is beside another, ready for the name of the other.

    Example:
        >>> from tawt.tasks import Measure
        >>> [difference_in_words(gain, Measure()) for gain in (0.054, -0.2, 0.0)]
        ['5.4 points better than', '20.0 points worse than', 'as good as']
    """
    if measure.shown(abs(gain)) == measure.shown(0.0):
        return "as good as"
    return f"{measure.in_words(gain)} {'better' if gain > 0 else 'worse'} than"


def _how_sure(p_value: float | None) -> str:
    if p_value is None:
        return "not tested"
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _where_found(weights: dict[str, float], target: str) -> str:
    """Which sources have nearly all of a mixture.

    Example:
        >>> _where_found({"near": 0.7, "far": 0.02, "next": 0.27, "noise": 0.01}, "goal")
        'The target was found in near (70%) and next (27%); the other 2 sources have 3% together.'
    """
    sources = {name: share for name, share in weights.items() if name != target}
    ranked = sorted(sources, key=lambda name: -sources[name])
    named: list[str] = []
    while sum(sources[name] for name in named) < _NEARLY_ALL and len(named) < len(ranked):
        named.append(ranked[len(named)])
    others = len(ranked) - len(named)
    if 2 * len(named) > len(ranked):
        return _largest(weights, target)
    shown = listed(f"{name} ({100 * sources[name]:.0f}%)" for name in named)
    rest = 100 * (1 - sum(sources[name] for name in named))
    said = "source has" if others == 1 else f"{others} sources have"
    together = "" if others == 1 else " together"
    return f"The target was found in {shown}; the other {said} {rest:.0f}%{together}."


def _largest(weights: dict[str, float], target: str) -> str:
    """Which sources have more weight than others."""
    return largest_and_smallest({n: share for n, share in weights.items() if n != target})


def _describe_findings(findings: dict[str, dict[str, int]], *, runs: int) -> list[str]:
    """What most runs could tell of the sources from chance.

    Example:
        >>> findings = {"near": {"helps": 5}, "far": {"hurts": 3, "cannot tell": 2}, "x": {}}
        >>> _describe_findings(findings, runs=5)
        ['Told from chance: near helps (in 5 of 5 runs), and far hurts (in 3 of 5).']
        >>> _describe_findings({"near": {"cannot tell": 5}}, runs=5)
        ['In most runs no source can be told from chance to help, or to hurt.']
    """
    if not findings:
        return []
    said: list[str] = []
    for verdict in ("helps", "hurts"):
        for name, counts in findings.items():
            if 2 * counts.get(verdict, 0) > runs:
                counted = f"{counts[verdict]} of {runs}" + ("" if said else " runs")
                said.append(f"{name} {verdict} (in {counted})")
    if not said:
        return ["In most runs no source can be told from chance to help, or to hurt."]
    *others, last = said
    return [f"Told from chance: {', '.join(others) + ', and ' if others else ''}{last}."]


def _warned(warnings: Mapping[str, Mapping[str, int]], *, runs: int) -> list[str]:
    """What training has warned of, and where. Of lines that differ in numbers alone, the first.

    Args:
        warnings: Of every row, and in how many of its runs each was said.
        runs: Of each row.

    Example:
        >>> lines = {"'x1' counts 2%.": 1, "'x1' counts 3%.": 2, "'x2' counts 3%.": 1}
        >>> for sentence in _warned({"paper": lines, "by size": {}}, runs=3):
        ...     print(sentence)
        In 3 of 3 runs of paper: 'x1' counts 2%.
        In 1 of 3 runs of paper: 'x2' counts 3%.
        >>> _warned({"paper": {"It is short.": 3}, "by size": {"It is short.": 2}}, runs=3)
        ['In 5 of 6 runs: It is short.']
    """
    first: dict[str, str] = {}
    counts: dict[str, dict[str, int]] = {}
    for row, lines in warnings.items():
        for line, count in lines.items():
            alike = _QUOTED_OR_NUMBER.sub(lambda found: found[1] or "#", line)
            first.setdefault(alike, line)
            of_rows = counts.setdefault(alike, {})
            of_rows[row] = of_rows.get(row, 0) + count
    said = []
    for alike, of_rows in counts.items():
        where = "" if len(of_rows) == len(warnings) else f" of {listed(of_rows)}"
        said.append(
            f"In {sum(of_rows.values())} of {runs * len(of_rows)} runs{where}: {first[alike]}"
        )
    return said
