"""How training went: held-out scores, and the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tawt.report.lines import PLAIN, Line, Point, Upwards, lines, thinned
from tawt.report.parts import Figure
from tawt.report.tones import SERIES, tone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.report.scales import Side

_FEWEST = 2  # points, from which a line can be drawn


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A score by training step."""

    name: str
    points: Sequence[Point]
    kept: Point | None = None
    """Of the model that was kept."""


def dev_curve(
    name: str,
    epochs: Sequence[Mapping[str, Any]],
    *,
    target: str,
    metric: str,
    best: int | None = None,
) -> Curve:
    """The scores of held-out examples after each epoch that has one.

    Args:
        name: What is trained.
        epochs: Of a record.
        target: Whose examples they are.
        metric: Which score.
        best: Position of the kept model's epoch.

    Example:
        >>> epochs = [{"step": 5, "dev": {"ner": {"f1": 0.4}}}, {"step": 9}]
        >>> dev_curve("a", epochs, target="ner", metric="f1").points
        [(5.0, 0.4)]
    """
    found: dict[int, Point] = {}
    for place, entry in enumerate(epochs):
        value = ((entry.get("dev") or {}).get(target) or {}).get(metric)
        if value is not None:
            found[place] = (float(entry.get("step") or 0), float(value))
    return Curve(
        name=name,
        points=list(found.values()),
        kept=None if best is None else found.get(best),
    )


def learning_figure(
    curves: Sequence[Curve],
    *,
    metric: str,
    factor: float = 1.0,
    suffix: str = "",
    worse: Side = "low",
    across: str = "step",
) -> Figure | None:
    """Scores of held-out examples over training, if there are enough to draw.

    Args:
        curves: Of one run, or of several beside each other.
        metric: What the score is called.
        factor: What scores are multiplied by to be shown.
        suffix: After numbers.
        worse: On which side lines that are far off are left out of the picture.
        across: What stands from left to right.
    """
    known = [curve for curve in curves if len(curve.points) >= _FEWEST]
    if not known:
        return None
    series = [
        Line(name=curve.name, points=thinned(curve.points)[0], mark=curve.kept) for curve in known
    ]
    title = f"{metric} on dev examples"
    up = Upwards(factor=factor, suffix=suffix, from_zero=False, worse=worse)
    legend = [(tone(place), curve.name) for place, curve in enumerate(known[: len(SERIES)])]
    return Figure(
        title=title,
        drawing=lines(series, label=f"{title} over training", across=across, up=up),
        legend=legend if len(known) > 1 else (),
        note="The dot: the model that was kept."
        if len(known) == 1 and known[0].kept is not None
        else "",
    )


def loss_figure(epochs: Sequence[Mapping[str, Any]]) -> Figure | None:
    """The mean training loss of each epoch, of every phase of training."""
    phases: dict[str, list[Point]] = {}
    for entry in epochs:
        if entry.get("loss") is not None:
            point = (float(entry.get("step") or 0), float(entry["loss"]))
            phases.setdefault(str(entry.get("phase", "training")), []).append(point)
    if sum(map(len, phases.values())) < _FEWEST:
        return None
    series = [Line(name=name, points=thinned(points)[0]) for name, points in phases.items()]
    title = "Training loss"
    return Figure(
        title=title,
        drawing=lines(series, label=f"{title} by epoch", across="step", up=PLAIN),
        legend=[(tone(place), name) for place, name in enumerate(phases)]
        if len(phases) > 1
        else (),
    )
