"""The plot of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from tawt.report.figures import COLOURS, half_interval, safe

if TYPE_CHECKING:
    from tawt.compare.comparison import Comparison


def scores(comparison: Comparison) -> go.Figure:
    """Every seed's score, the mean of each row, and its 95% interval over seeds."""
    figure = go.Figure()
    factor, digits = comparison.measure.factor, comparison.measure.digits
    names = [safe(row.name) for row in comparison.rows]
    colours = [COLOURS[1] if row.learns else COLOURS[0] for row in comparison.rows]
    figure.add_trace(
        go.Scatter(
            x=[factor * score for row in comparison.rows for score in row.scores],
            y=[name for name, row in zip(names, comparison.rows, strict=True) for _ in row.scores],
            mode="markers",
            marker={"size": 7, "opacity": 0.4, "color": "#888888"},
            name="one seed",
            hovertemplate=f"%{{y}}: %{{x:.{digits}f}}<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=[factor * row.mean for row in comparison.rows],
            y=names,
            mode="markers",
            marker={"size": 12, "color": colours},
            error_x={
                "type": "data",
                "array": [factor * half_interval(row.scores) for row in comparison.rows],
                "thickness": 2,
                "color": "#888888",
            },
            name="mean and 95% interval",
            hovertemplate=f"%{{y}}: %{{x:.{digits}f}}<extra></extra>",
        )
    )
    figure.update_yaxes(autorange="reversed", automargin=True)
    figure.update_xaxes(title=safe(f"test {comparison.metric} ({comparison.measure.title})"))
    figure.update_layout(height=90 + 38 * len(names))
    return figure
