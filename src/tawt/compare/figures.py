"""The pictures of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.report import Figure
from tawt.report.dots import Dot, dots, off_scale, scale_for
from tawt.report.learning import Curve, dev_curve, learning_figure
from tawt.report.tones import SERIES
from tawt.report.words import listed, metric_in_words
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.compare.comparison import Comparison, RowResult
    from tawt.report.scales import Side

_FEW = 2  # rows, of which the better one needs no such warning


def scores_figure(comparison: Comparison) -> Figure:
    """The mean of each row with its 95% interval over seeds, and every seed's score."""
    measure = comparison.measure
    rows = [_dot(row, comparison) for row in comparison.rows]
    scale = scale_for(rows, worse=_worse(comparison))
    alone = next((row.value for row in rows if row.name == "single-task"), None)
    off = off_scale(rows, scale)
    unit = measure.title if measure.title != "%" else "percent"
    note = f"Test {metric_in_words(comparison.metric)} in {unit}, mean and 95% interval over seeds"
    note += "; small dots are seeds. " if len(comparison.seeds) > 1 else ". "
    note += "Orange: weights are learned."
    if alone is not None:
        note += " The line is the target alone."
    if off:
        they = "is" if len(off) == 1 else "are"
        note += f" {listed(off).capitalize()} {they} far off, and left of the scale of the others."
        if measure.lower_is_better:
            note = note.replace("left of the scale", "right of the scale")
    if len(rows) > _FEW:
        note += " The best of many rows is so by chance too: its lead is somewhat too large."
    label = "Test scores: " + ", ".join(f"{row.name} {row.said}" for row in rows)
    return Figure(
        drawing=dots(
            rows, label=label, scale=scale, line=alone, suffix="%" if unit == "percent" else ""
        ),
        note=note,
    )


def curves_figure(
    comparison: Comparison, records: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Figure | None:
    """Dev scores over training: the mean over the seeds of each row."""
    measure = comparison.measure
    curves = [
        _mean_curve(row, records[row.name], comparison)
        for row in sorted(comparison.rows, key=lambda row: -measure.sign * row.mean)
    ]
    return learning_figure(
        curves[: len(SERIES)],
        metric=metric_in_words(comparison.metric),
        factor=measure.factor,
        suffix="%" if measure.title == "%" else "",
        worse=_worse(comparison),
        across="percent of the steps of a row",
    )


def _dot(row: RowResult, comparison: Comparison) -> Dot:
    measure = comparison.measure
    ends = interval(row.scores)
    score = measure.shown(row.mean)
    return Dot(
        name=row.name,
        value=measure.factor * row.mean,
        interval=None if ends is None else (measure.factor * ends[0], measure.factor * ends[1]),
        singles=[measure.factor * score for score in row.scores] if len(row.scores) > 1 else (),
        said=f"{score} ± {measure.shown(row.spread)}" if len(row.scores) > 1 else score,
        tone="c1" if row.learns else "c0",
    )


def _mean_curve(
    row: RowResult, records: Sequence[Mapping[str, Any]], comparison: Comparison
) -> Curve:
    each = [
        dev_curve(
            row.name, record["epochs"], target=comparison.target, metric=comparison.metric
        ).points
        for record in records
    ]
    together = [*zip(*each, strict=False)]
    last = (
        max((float(entry.get("step") or 0) for entry in records[0]["epochs"]), default=0.0) or 1.0
    )
    points = [
        (100 * now[0][0] / last, sum(value for _, value in now) / len(now)) for now in together
    ]
    return Curve(name=row.name, points=points)


def _worse(comparison: Comparison) -> Side:
    return "high" if comparison.measure.lower_is_better else "low"
