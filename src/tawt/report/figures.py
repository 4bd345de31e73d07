"""The report's plots, as Plotly figures."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import scipy  # whose parts are imported when they are first used

# Okabe and Ito's colours, which the colour-blind can tell apart, without the black and the yellow
# that vanish on dark or light paper; sources past the seventh take them again, dashed.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8a63d2")
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

_NINE_OF_TEN = 1.645  # standard errors to either side

Updates = Sequence[Mapping[str, Any]]
"""Lines of weights.jsonl."""


def weights(updates: Updates) -> go.Figure:
    """Each unit's share of the objective, over training, with its 90% interval where known."""
    bands = [update.get("intervals", {}) for update in updates]
    return _over_time(updates, "weights", title="share ω", zero_line=False, bands=bands)


def leads(updates: Updates) -> go.Figure:
    """Each source's alignment above the mean of all, as far as it is known, with 90% intervals."""
    bands = []
    for update in updates:
        off = _NINE_OF_TEN * (update.get("error") or 0.0)
        known = update.get("leads", {}) if off else {}
        bands.append({name: (lead - off, lead + off) for name, lead in known.items()})
    return _over_time(updates, "leads", title="lead over the mean", zero_line=True, bands=bands)


def alignments(updates: Updates) -> go.Figure:
    """How well each unit's gradient agreed with the target's, over training."""
    return _over_time(updates, "alignments", title="alignment with the target", zero_line=True)


def spread(updates: Updates) -> go.Figure:
    """Quantiles over units of what an example counts beside the average one of its source."""
    known = [update for update in updates if update.get("units")]
    figure = go.Figure()
    steps = [update["step"] for update in known]
    bands = (("0.01", "0.99", 0.15), ("0.05", "0.95", 0.25), ("0.25", "0.75", 0.4))
    for low, high, opacity in bands:
        for name, fill in ((low, None), (high, "tonexty")):
            figure.add_trace(
                go.Scatter(
                    x=steps,
                    y=[update["units"]["quantiles"].get(name) for update in known],
                    mode="lines",
                    line={"width": 0, "color": COLOURS[0]},
                    fill=fill,
                    fillcolor=f"rgba(0,114,178,{opacity})",
                    name=f"{_percent(low)} to {_percent(high)}",
                    showlegend=fill is not None,
                    hovertemplate=f"{_percent(name)}: %{{y:.3g}}<extra></extra>",
                )
            )
    figure.add_trace(
        go.Scatter(
            x=steps,
            y=[update["units"]["quantiles"].get("0.5") for update in known],
            mode="lines",
            line={"color": COLOURS[0]},
            name="median",
        )
    )
    figure.update_xaxes(title="step")
    figure.update_yaxes(title="weight beside the average", type="log")
    return figure


def effective(updates: Updates) -> go.Figure:
    """exp(entropy): as many units with equal weight would be as undecided."""
    known = [update for update in updates if update.get("units")]
    figure = go.Figure(
        go.Scatter(
            x=[update["step"] for update in known],
            y=[np.exp(update["units"]["entropy"]) for update in known],
            mode="lines+markers",
            line={"color": COLOURS[0]},
            name="effective number",
        )
    )
    figure.update_xaxes(title="step")
    figure.update_yaxes(title="units", rangemode="tozero")
    return figure


def _percent(share: str) -> str:
    return f"{100 * float(share):g}%"


def sample_size(epochs: Sequence[Mapping[str, Any]]) -> go.Figure:
    """N_ω over training."""
    known = [entry for entry in epochs if "effective_sample_size" in entry]
    figure = go.Figure(
        go.Scatter(
            x=[entry.get("step") for entry in known],
            y=[entry["effective_sample_size"] for entry in known],
            mode="lines+markers",
            line={"color": COLOURS[0]},
            name="effective sample size",
        )
    )
    figure.update_xaxes(title="step")
    figure.update_yaxes(title="N<sub>ω</sub>", rangemode="tozero")
    return figure


def averaged(runs: Sequence[Updates]) -> list[dict[str, Any]]:
    """The mean over seeds of each update's weights and alignments; skipped ones are left out."""
    shortest = min(len(updates) for updates in runs)
    return [
        {
            "step": together[0]["step"],
            **{
                field: {
                    name: _mean([update[field].get(name) for update in together])
                    for name in together[0]["weights"]
                }
                for field in ("weights", "alignments")
            },
        }
        for together in ([updates[k] for updates in runs] for k in range(shortest))
    ]


def _over_time(
    updates: Updates,
    field: str,
    *,
    title: str,
    zero_line: bool,
    bands: Sequence[Mapping[str, Sequence[float]]] = (),
) -> go.Figure:
    figure = go.Figure()
    units = updates[0]["weights"] if updates else {}
    names = [name for name in units if any(name in update[field] for update in updates)]
    for position, name in enumerate(names):
        colour = COLOURS[position % len(COLOURS)]
        dash = _DASHES[position // len(COLOURS) % len(_DASHES)]
        known = zip(updates, bands, strict=False)
        ends = [(update["step"], *band[name]) for update, band in known if name in band]
        if ends:
            figure.add_trace(_band(ends, colour, name=safe(name)))
        figure.add_trace(
            go.Scatter(
                x=[update["step"] for update in updates],
                y=[update[field].get(name) for update in updates],
                mode="lines+markers" if len(updates) < 60 else "lines",
                line={"color": colour, "dash": dash},
                marker={"size": 4},
                name=safe(name),
                legendgroup=safe(name),
            )
        )
    figure.update_xaxes(title="step")
    figure.update_yaxes(
        title=title, zeroline=zero_line, rangemode="normal" if zero_line else "tozero"
    )
    return figure


def _band(ends: Sequence[tuple[float, float, float]], colour: str, *, name: str) -> go.Scatter:
    """Between the lower and the upper end at every step; it goes when its line is hidden."""
    steps, lows, highs = zip(*ends, strict=True)
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return go.Scatter(
        x=[*steps, *reversed(steps)],
        y=[*lows, *reversed(highs)],
        fill="toself",
        fillcolor=f"rgba({red},{green},{blue},0.12)",
        line={"width": 0},
        mode="lines",
        name=name,
        legendgroup=name,
        showlegend=False,
        hoverinfo="skip",
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def half_interval(values: Sequence[float]) -> float:
    """Half of the 95% interval of a mean, by Student's t; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    return float(scipy.special.stdtrit(len(values) - 1, 0.975) * error)


def safe(text: str) -> str:
    """Plotly reads a little HTML in labels; a name is a name."""
    return html.escape(text, quote=False)
