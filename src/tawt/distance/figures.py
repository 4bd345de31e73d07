"""Task distances drawn: gains and distances with intervals, shaded tables, estimates and truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tawt.distance.estimates import NEARER_IF_LARGER, READABLE
from tawt.report import Cell, Figure, Table
from tawt.report.dots import Dot, dots, off_scale, scale_for
from tawt.report.parts import shortened
from tawt.report.scatter import Spot, scatter
from tawt.report.tones import tone_of
from tawt.report.words import listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Values = dict[str, Any]
"""Of `distance.json`."""

_DRAWN = 40  # sources
_SPOTS = 400


def gains_figure(values: Values, order: Sequence[str]) -> list[Figure]:
    """What each source adds to the target's score, where that was tried.

    Args:
        values: Of the file.
        order: Sources, from the top.
    """
    rows = [
        Dot(
            name=name,
            value=100 * gain["mean"],
            interval=_interval(gain, factor=100),
            said=f"{100 * gain['mean']:+.1f}, {gain['recommendation']}",
            tone=tone_of(gain["verdict"]),
        )
        for name in order
        if (gain := values["gains"].get(name)) is not None
    ]
    return _drawn(rows, title=f"Gain in {values['metric'] or 'score'}, points", line=0.0)


def trained_figure(values: Values, order: Sequence[str]) -> list[Figure]:
    """The trained distance of each source, where that was measured.

    Args:
        values: Of the file.
        order: Sources, from the top.
    """
    trained = values["trained"].get(values["target"], {})
    rows = [
        Dot(
            name=name,
            value=found["mean"],
            interval=_interval(found, factor=1),
            said=f"{found['mean']:.3f}",
        )
        for name in order
        if (found := trained.get(name, {}).get("clipped"))
    ]
    return _drawn(rows, title="Distance in clipped loss; the nearest first", line=None)


def measures_map(values: Values, order: Sequence[str]) -> Table:
    """Every measure of every source, shaded by its place from the nearest to the farthest.

    Args:
        values: Of the file.
        order: Sources, from the top.
    """
    target = values["target"]
    trained, estimates = values["trained"].get(target, {}), values["estimates"][target]
    columns: dict[str, list[float | None]] = {}
    if trained:
        columns["trained, clipped loss"] = [_mean(trained, name, "clipped") for name in order]
        wrong = [_mean(trained, name, "zero_one") for name in order]
        if None not in wrong:
            columns["trained, wrong"] = wrong
    for estimate in reversed(READABLE):
        found = [estimates.get(name, {}).get(estimate) for name in order]
        if any(value is not None for value in found):
            columns[estimate] = found
    places = [_places(found, turned=name in NEARER_IF_LARGER) for name, found in columns.items()]
    return Table(
        headings=("source", *columns),
        rows=[
            [
                name,
                *(
                    Cell(text=_number(found[at]), shade=place[at])
                    for found, place in zip(columns.values(), places, strict=True)
                ),
            ]
            for at, name in enumerate(order)
        ],
    )


def distance_map(values: Values) -> Table:
    """Trained distances of all pairs of tasks."""
    targets = list(values["trained"])
    rows = [*values["sources"], values["target"]]
    found = [
        [_mean(values["trained"][target], name, "clipped") for target in targets] for name in rows
    ]
    known = [value for row in found for value in row if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    return Table(
        headings=("from", *(f"to {target}" for target in targets)),
        rows=[
            [
                name,
                *(Cell(text=_number(value), shade=_share(value, low, high)) for value in of_source),
            ]
            for name, of_source in zip(rows, found, strict=True)
        ],
    )


def against_truth(values: Values) -> list[Figure]:
    """Estimates, from the nearest (0) to the farthest (1) of a target, by the trained distance."""
    figures = []
    for estimate in reversed(READABLE):
        spots = []
        for target, distances in values["trained"].items():
            known = values["estimates"].get(target, {})
            both = [
                name
                for name, found in distances.items()
                if found.get("clipped") and known.get(name, {}).get(estimate) is not None
            ]
            placed = _scaled(
                [known[name][estimate] for name in both], turned=estimate in NEARER_IF_LARGER
            )
            spots += [
                Spot(name=f"{name} for {target}", x=distances[name]["clipped"]["mean"], y=place)
                for name, place in zip(both, placed, strict=True)
            ]
        if not spots:
            continue
        rho = values["correlations"].get(estimate)
        title = estimate if rho is None else f"{estimate} (ρ = {rho:.2f})"
        kept, left = shortened(spots, most=_SPOTS)
        drawing = scatter(
            kept, label=f"{title} by trained distance", across="trained distance (clipped loss)"
        )
        note = f"{left} more are not drawn." if left else ""
        figures.append(Figure(title=title, drawing=drawing, note=note))
    return figures


def _drawn(rows: Sequence[Dot], *, title: str, line: float | None) -> list[Figure]:
    if not rows:
        return []
    kept, left = shortened(rows, most=_DRAWN)
    scale = scale_for(kept, worse="high" if line is None else "low",
                      holds=[] if line is None else [line])  # fmt: skip
    off = off_scale(kept, scale)
    note = f"Far off, and outside of the scale of the others: {listed(off)}." if off else ""
    note += f" {left} more are in the table." if left else ""
    label = f"{title}: " + ", ".join(f"{row.name} {row.said}" for row in kept)
    drawing = dots(kept, label=label, scale=scale, line=line)
    return [Figure(title=title, drawing=drawing, note=note.strip())]


def _interval(found: Mapping[str, Any], *, factor: float) -> tuple[float, float] | None:
    ends = found.get("interval")
    if not ends or None in ends:  # in a file, an end that is infinite is none
        return None
    return factor * ends[0], factor * ends[1]


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
    values = [-value if turned else value for value in found]
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [0.5 if high == low else (value - low) / (high - low) for value in values]


def _share(value: float | None, low: float, high: float) -> float | None:
    if value is None:
        return None
    return (value - low) / (high - low) if high > low else 0.0


def _mean(trained: Mapping[str, Any], name: str, loss: str) -> float | None:
    found: Mapping[str, float] = trained.get(name, {}).get(loss) or {}
    return found.get("mean")


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
