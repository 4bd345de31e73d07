"""Plots of reproduced experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tawt.reproduce.plan import Plan
    from tawt.reproduce.scores import ScoreRow

OURS, PAPER = "#0072B2", "#D55E00"
_SYMBOLS = ("circle", "square", "diamond", "triangle-up")


def gains_figure(plan: Plan, rows: Sequence[ScoreRow]) -> go.Figure:
    """What each weighted row gains over the plain one, every seed, beside what the paper's did."""
    figure = go.Figure()
    columns = list(plan.columns)
    weighted = [row for row in rows if row.against is not None]
    for row, symbol in zip(weighted, _SYMBOLS * len(weighted), strict=False):
        numbers = row.numbers[: len(columns)]
        figure.add_trace(
            go.Scatter(
                x=columns,
                y=[number.gain for number in numbers],
                mode="markers+lines" if _is_scale(columns) else "markers",
                marker={"symbol": symbol, "size": 11, "color": OURS},
                error_y={
                    "type": "data",
                    "symmetric": False,
                    "array": [_reach(n.gains, n.gain, above=True) for n in numbers],
                    "arrayminus": [_reach(n.gains, n.gain, above=False) for n in numbers],
                },
                name=f"{row.name}, here",
            )
        )
        figure.add_trace(
            go.Scatter(
                x=columns,
                y=[number.paper_gain for number in numbers],
                mode="markers+lines" if _is_scale(columns) else "markers",
                marker={"symbol": f"{symbol}-open", "size": 11, "color": PAPER},
                name=f"{row.name}, the paper",
            )
        )
    figure.update_xaxes(type="category", title="", automargin=True)
    figure.update_yaxes(title="improvement over plain, points", zeroline=True)
    figure.update_layout(height=420)
    return figure


def _is_scale(columns: Sequence[str]) -> bool:
    return all(column.isdigit() for column in columns)


def _reach(gains: Sequence[float], mean: float | None, *, above: bool) -> float:
    """How far single seeds lie from the mean."""
    if mean is None:
        return 0.0
    return max(gains) - mean if above else mean - min(gains)
