"""How weights, and what moved them, went over training."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tawt.report.lines import AROUND_ZERO, PLAIN, Line, Upwards, lines, thinned
from tawt.report.parts import Figure, Part
from tawt.report.tones import REST, SERIES, tone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NINE_OF_TEN = 1.645  # standard errors to either side
_BY_RATIO = Upwards(factor=1.0, suffix="", by_ratio=True)
_BANDS = (("0.01", "0.99"), ("0.05", "0.95"), ("0.25", "0.75"))

Updates = list[dict[str, Any]]
"""Lines of weights.jsonl."""


def moved(updates: Updates, *, title: str, note: str = "", is_folded: bool = False) -> Part:
    """Weights over time, and what they went by.

    Args:
        updates: One at least.
        title: Of the part.
        note: Besides what is said of points and lines that are left out.
        is_folded: Whether a reader has to open it.
    """
    kept, every = thinned(updates)
    named, others = _named(updates)
    figures = [_over_time(kept, "weights", "Share of the objective, ω", named, others)]
    if any(update.get("leads") for update in updates):
        heading = "Lead over the other sources, so far"
        figures.append(_over_time(kept, "leads", heading, named, others))
    heading = "Alignment with the target"
    figures.append(_over_time(kept, "alignments", heading, named, others))
    legend = [(tone(place), name) for place, name in enumerate(named)]
    said = [note] if note else []
    if any(update.get("intervals") or update.get("error") for update in updates):
        said.append("Bands: 90% intervals.")
    if every > 1:
        said.append(f"Drawn is one of every {every} updates, of {len(updates)}.")
    if others:
        legend.append((REST, f"{len(others)} others: their mean, from the least to the greatest"))
        said.append(f"Drawn apart: the {len(named)} that have the largest shares at the end.")
    return Part(
        title=title,
        note=" ".join(said),
        figures=[*figures, *_of_units(kept)],
        legend=legend,
        is_folded=is_folded,
    )


def sample_size(epochs: Sequence[Mapping[str, Any]]) -> Figure | None:
    """N_ω over training, where it is known."""
    sizes = [
        (float(entry.get("step") or 0), float(entry["effective_sample_size"]))
        for entry in epochs
        if entry.get("effective_sample_size") is not None
    ]
    if not sizes:
        return None
    kept, _ = thinned(sizes)
    title = "Effective sample size"
    drawn = lines([Line(name=title, points=kept)], label=title, across="step", up=PLAIN)
    return Figure(title=title, drawing=drawn)


def averaged(runs: Sequence[Updates]) -> Updates:
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


def _named(updates: Updates) -> tuple[list[str], list[str]]:
    """Those that have a line of their own, and the others."""
    first, last = (updates[at]["weights"] for at in (0, -1))
    names = list(first)
    if len(names) <= len(SERIES):
        return names, []
    ranked = sorted(names, key=lambda name: -(last.get(name) or 0.0))
    return ranked[: len(SERIES) - 1], ranked[len(SERIES) - 1 :]


def _over_time(
    updates: Updates, field: str, title: str, named: Sequence[str], others: Sequence[str]
) -> Figure:
    series = [
        Line(name=name, points=points, band=_band(updates, field, name), tone=tone(place))
        for place, name in enumerate(named)
        if not _is_itself(points := _points(updates, field, name), field)
    ]
    if others:
        series.append(_of_others(updates, field, others))
    up = Upwards() if field == "weights" else AROUND_ZERO
    label = f"{title}, of {len(named) + len(others)} tasks over training"
    return Figure(title=title, drawing=lines(series, label=label, across="step", up=up))


def _is_itself(points: Sequence[tuple[float, float]], field: str) -> bool:
    """Whether this is the target's alignment with itself, which is one and says nothing."""
    return field == "alignments" and all(math.isclose(value, 1.0) for _, value in points)


def _points(updates: Updates, field: str, name: str) -> list[tuple[float, float]]:
    known = ((update["step"], update.get(field, {}).get(name)) for update in updates)
    return [(float(step), value) for step, value in known if value is not None]


def _band(updates: Updates, field: str, name: str) -> list[tuple[float, float, float]]:
    found = []
    for update in updates:
        step, ends = float(update["step"]), None
        if field == "weights":
            ends = update.get("intervals", {}).get(name)
        elif field == "leads" and update.get("error"):
            lead, off = update.get("leads", {}).get(name), _NINE_OF_TEN * update["error"]
            ends = None if lead is None else (lead - off, lead + off)
        if ends is not None:
            found.append((step, float(ends[0]), float(ends[1])))
    return found


def _of_others(updates: Updates, field: str, names: Sequence[str]) -> Line:
    """Their mean as a line, and all of them as a band."""
    points, band = [], []
    for update in updates:
        known = update.get(field, {})
        values = [known[name] for name in names if known.get(name) is not None]
        if values:
            step = float(update["step"])
            points.append((step, sum(values) / len(values)))
            band.append((step, min(values), max(values)))
    return Line(name=f"{len(names)} others", points=points, band=band, tone=REST, dashed=True)


def _of_units(updates: Updates) -> list[Figure]:
    """What single examples count, where weights are on those."""
    known = [update for update in updates if update.get("units")]
    if not known:
        return []

    def quantile(update: Mapping[str, Any], share: str) -> float | None:
        found: float | None = update["units"]["quantiles"].get(share)
        return found

    def band(low: str, high: str) -> list[tuple[float, float, float]]:
        ends = [(float(u["step"]), quantile(u, low), quantile(u, high)) for u in known]
        return [(x, a, b) for x, a, b in ends if a is not None and b is not None]

    middle = [(float(u["step"]), value) for u in known if (value := quantile(u, "0.5")) is not None]
    spread = [Line(name="median", points=middle, tone=tone(0))]
    spread += [Line(name="", points=[], band=band(*ends), tone=tone(0)) for ends in _BANDS]
    numbers = [(float(u["step"]), math.exp(u["units"]["entropy"])) for u in known]
    title, size = "What single examples count, beside the average one", "Effective number of units"
    count = Line(name=size, points=numbers)
    return [
        Figure(
            title=title,
            drawing=lines(spread, label=title, across="step", up=_BY_RATIO),
            note="The median, and half, nine tenths and 98% of all examples.",
        ),
        Figure(title=size, drawing=lines([count], label=size, across="step", up=PLAIN)),
    ]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
