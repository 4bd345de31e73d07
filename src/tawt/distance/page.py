"""Task distances as a person reads them: sentences, a table, heat maps, estimates against truth."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from tawt.distance.estimates import NEARER_IF_LARGER, READABLE, as_distance
from tawt.report import build_page, titled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Values = dict[str, Any]
"""Of `distance.json`."""

HEADINGS = ("source", "distance\nwrong answers", "distance\nclipped loss", "estimate", "gain",
            "verdict", "recommendation")  # fmt: skip
_ABOUT = ("seeds", "seconds", "versions", "machine", "commit")
_SHOWN = ("leep", "tangent")
NOT_GAINS = (
    "Where it was measured, no estimate ordered sources by what they gain the target; it says "
    "which are likely to have the smaller trained distance."
)


def distance_page(values: Values) -> str:
    """The page."""
    plots = {"How far, by every measure": measures_map(values)}
    if len(values["trained"]) > 1:
        plots["From every task to every other"] = distance_map(values)
    if values["trained"]:
        plots["Estimates against the trained distance"] = against_truth(values)
    return build_page(
        title=f"{values['target']}: how far is each source",
        lead=sentences(values),
        headings=[heading.replace("\n", ", ") for heading in HEADINGS],
        rows=table(values),
        caption=caption(values),
        plots=titled(plots),
        about={
            **{name: values[name] for name in _ABOUT if name in values},
            "rates": values["rates"],
            "open constants": values["open_constants"],
        },
    )


def names(values: Values) -> list[str]:
    """Sources and mixtures, nearest first where that is known."""
    target = values["target"]
    trained, estimates = values["trained"].get(target, {}), values["estimates"][target]
    order = [*values["sources"], *values["mixtures"]]
    if trained:
        return sorted(
            order,
            key=lambda name: trained[name]["clipped"]["mean"] if name in trained else math.inf,
        )

    def place(name: str) -> tuple[bool, float]:
        told = estimates.get(name, {}).get(values["telling"])  # in a file, NaN is none
        far = math.inf if told is None else as_distance(values["telling"], told)
        return name in values["mixtures"], far

    return sorted(order, key=place)


def table(values: Values) -> list[list[str]]:
    """A row for each source and mixture, cells as text."""
    target = values["target"]
    trained, estimates = values["trained"].get(target, {}), values["estimates"][target]
    rows = []
    for name in names(values):
        distance, estimate = trained.get(name, {}), estimates.get(name, {})
        gain = values["gains"].get(name)
        rows.append(
            [
                f"{name} mixture" if name in values["mixtures"] else name,
                _with_interval(distance.get("zero_one"), scale=100, digits=1),
                _with_interval(distance.get("clipped"), scale=1, digits=3),
                _number(estimate.get(values["telling"])),
                _with_interval(gain, scale=100, digits=1, sign="+"),
                gain["verdict"] if gain else "",
                gain["recommendation"] if gain else "",
            ]
        )
    return rows


def caption(values: Values) -> str:
    """What the table's numbers are."""
    nearer = "larger" if values["telling"] in NEARER_IF_LARGER else "smaller"
    said = (
        "Distance: the target's held-out risk on a frozen encoder that learned from the source, "
        "over that on one that learned from the target: in points of wrong answers, and in "
        "log-loss cut at twice that of a guess (for numbers, squared error cut at four variances); "
        "brackets are 95% over seeds. "
        if any(values["trained"].values())
        else ""
    )
    said += (
        f"Estimate: {values['telling']}, from the encoder as it is, without training; {nearer} is "
        "nearer. "
    )
    if any(values["trained"].values()):  # else it leads the sentences
        said += f"{NOT_GAINS} "
    if values["gains"]:
        said += (
            f"Gain: what the source adds to the target's {values['metric']} (points) when both are "
            "trained on, for as many steps on the target; brackets are 95% over seeds and held-out "
            "examples."
        )
    return said.strip()


def sentences(values: Values) -> list[str]:
    """What to do."""
    said = []
    for recommendation in ("use", "skip", "not enough evidence"):
        found = [n for n, g in values["gains"].items() if g["recommendation"] == recommendation]
        if found:
            said.append(f"{recommendation[0].upper()}{recommendation[1:]}: {', '.join(found)}.")
    if not values["trained"]:
        nearest = [name for name in names(values) if name in values["sources"]]
        said.append(
            f"{NOT_GAINS} Nearest by {values['telling']}: {', '.join(nearest[:3])}. Nothing was "
            "trained, so there is no verdict."
        )
    terms = values["terms"]
    if terms:
        said.append(
            "What stands between the target and its best when all sources count the same, by "
            f"halving the data: {terms['head']:.3f} for too few target examples, "
            f"{terms['sources']:.3f} for too few source examples, {terms['mismatch']:.3f} for "
            "sources that do not match. "
            + (
                f"So what would help most: {terms['advice']}."
                if terms["advice"]
                else "None of these stands out."
            )
        )
    for name, rate in values["rates"].items():
        beta = (
            "without limit" if rate["ratio"] is None else f"{rate['ratio']:.3g} times its smallest"
        )
        what = f"The {name} mixture" if name in values["mixtures"] else name
        said.append(
            f"{what} is worth {rate['effective_size']:.0f} source examples (N_ω); its largest "
            f"weight is {beta} (β)."
        )
    return said


def measures_map(values: Values) -> go.Figure:
    """Every measure of every source, coloured by its place from the nearest to the farthest."""
    target, rows = values["target"], names(values)
    trained, estimates = values["trained"].get(target, {}), values["estimates"][target]
    columns: dict[str, list[float | None]] = {}
    if trained:
        columns["trained, clipped loss"] = [_mean(trained, name, "clipped") for name in rows]
        wrong = [_mean(trained, name, "zero_one") for name in rows]
        if None not in wrong:
            columns["trained, wrong"] = wrong
    for estimate in reversed(READABLE):
        found = [estimates.get(name, {}).get(estimate) for name in rows]
        if any(value is not None for value in found):
            columns[estimate] = found
    places = [_places(found, turned=name in NEARER_IF_LARGER) for name, found in columns.items()]
    return _heat_map(
        z=[list(row) for row in zip(*places, strict=True)],
        text=[[_number(v) for v in row] for row in zip(*columns.values(), strict=True)],
        x=list(columns),
        y=rows,
        title="place",
    )


def distance_map(values: Values) -> go.Figure:
    """Trained distances of all pairs of tasks."""
    targets = list(values["trained"])
    rows = [*values["sources"], values["target"]]
    z = [
        [
            values["trained"][target].get(name, {}).get("clipped", {}).get("mean")
            for target in targets
        ]
        for name in rows
    ]
    return _heat_map(
        z=z, text=[[_number(v) for v in row] for row in z], x=targets, y=rows, title="distance"
    )


def against_truth(values: Values) -> go.Figure:
    """Estimates, from the nearest (0) to the farthest (1) of a target, by the trained distance."""
    figure = go.Figure()
    for estimate in reversed(READABLE):
        x, y, labels = [], [], []
        for target, distances in values["trained"].items():
            known = values["estimates"].get(target, {})
            both = [name for name in distances if known.get(name, {}).get(estimate) is not None]
            found = [known[name][estimate] for name in both]
            x += [distances[name]["clipped"]["mean"] for name in both]
            y += _scaled(found, turned=estimate in NEARER_IF_LARGER)
            labels += [f"{html.escape(name, quote=False)} for {html.escape(target, quote=False)}"
                       for name in both]  # fmt: skip
        if not x:
            continue
        rho = values["correlations"].get(estimate)
        figure.add_trace(
            go.Scatter(
                x=x,
                y=y,
                text=labels,
                mode="markers",
                marker={"size": 9},
                name=estimate if rho is None else f"{estimate} (ρ = {rho:.2f})",
                visible=True if estimate in _SHOWN else "legendonly",
                hovertemplate="%{text}: %{x:.3f}<extra></extra>",
            )
        )
    figure.update_xaxes(title="trained distance (clipped loss)")
    figure.update_yaxes(title="estimate, nearest to farthest")
    return figure


def _heat_map(
    *,
    z: Sequence[Sequence[float | None]],
    text: Sequence[Sequence[str]],
    x: Sequence[str],
    y: Sequence[str],
    title: str,
) -> go.Figure:
    figure = go.Figure(
        go.Heatmap(
            z=z,
            text=text,
            x=[html.escape(name, quote=False) for name in x],
            y=[html.escape(name, quote=False) for name in y],
            texttemplate="%{text}",
            colorscale="Cividis",
            reversescale=True,
            colorbar={"title": title},
            hovertemplate="%{y}, %{x}: %{text}<extra></extra>",
        )
    )
    # Tasks may be called by numbers, and are no numbers.
    figure.update_yaxes(type="category", autorange="reversed", automargin=True)
    figure.update_xaxes(type="category", automargin=True)
    figure.update_layout(height=140 + 34 * len(y))
    return figure


def _places(found: Sequence[float | None], *, turned: bool) -> list[float | None]:
    """From 0, the nearest, to 1.

    Example:
        >>> _places([0.5, None, 0.1], turned=False)
        [1.0, None, 0.0]
    """
    known = sorted({value for value in found if value is not None}, reverse=turned)
    most = max(1, len(known) - 1)
    return [None if value is None else known.index(value) / most for value in found]


def _scaled(found: Sequence[float], *, turned: bool) -> list[float]:
    values = np.asarray(found, dtype=float) * (-1 if turned else 1)
    span = float(np.ptp(values)) if len(values) else 0.0
    return [0.5] * len(values) if span == 0 else ((values - values.min()) / span).tolist()


def _mean(trained: Mapping[str, Any], name: str, loss: str) -> float | None:
    found: Mapping[str, float] = trained.get(name, {}).get(loss) or {}
    return found.get("mean")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _with_interval(
    found: Mapping[str, Any] | None, *, scale: float, digits: int, sign: str = ""
) -> str:
    if not found:
        return ""
    mean = f"{scale * found['mean']:{sign}.{digits}f}"
    ends = found.get("interval")
    if not ends or None in ends:  # in a file, an end that is infinite is none
        return mean
    low, high = (f"{scale * end:{sign}.{digits}f}" for end in ends)
    return f"{mean}\n[{low}, {high}]"
