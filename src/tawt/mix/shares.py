"""From the courses of learned weights, one a seed, to the weight of each source."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tawt.mix.result import Point, Settling
from tawt.significance import interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.mix.result import Interval

Course = list[Point]
"""The weights of a run after each of its updates."""

_NEAR = 0.1  # total variation: a tenth of what is drawn would be drawn from another source
_LAST = 0.75  # weights that still move after this share of the steps have not settled
_MOST = 10.0  # times as many tokens: nothing here says anything about more
_POINTS = 200  # of a course that is kept
_NEAR_FLOOR = 1.25  # weights this close to the least that the bound allows are at it
_FEW = 0.5  # of an equal share: what is above is no floor


def late_mean(course: Course, *, steps: int) -> dict[str, float]:
    """The mean of a run's weights over the second half of its steps.

    Early weights are of a model that knows nothing yet, and the last ones alone are noisy. Updates
    may be further apart as a run goes on, so weights count for as many steps as they were held:
    until the next update, or to the end. Those in force at half-time count from then on.

    Args:
        course: Of a run, one update at least.
        steps: Of the run.

    Example:
        >>> course = [Point(step=s, weights={"a": a}) for s, a in ((1, 0.0), (4, 0.4), (8, 0.8))]
        >>> round(late_mean(course, steps=10)["a"], 3)  # 0.4 for three steps, 0.8 for two
        0.56
    """
    starts = [max(point.step, steps / 2) for point in course]
    held = [end - start for start, end in pairwise([*starts, steps])]
    if not any(held):  # the only update came at the end
        return dict(course[-1].weights)
    return {
        name: float(np.average([point.weights[name] for point in course], weights=held))
        for name in course[-1].weights
    }


def clipped_interval(shares: Sequence[float]) -> Interval | None:
    """95% of the mean of shares, by Student's t, within [0, 1]; none for one.

    Example:
        >>> [round(end, 3) for end in clipped_interval([0.9, 1.0])]
        [0.315, 1.0]
    """
    found = interval(shares)
    return None if found is None else (max(0.0, found[0]), min(1.0, found[1]))


def mean_course(courses: Sequence[Course]) -> Course:
    """The mean over seeds after each update, as far as all runs have come.

    Args:
        courses: One a seed.
    """
    return [
        Point(
            step=together[0].step,
            weights={
                name: float(np.mean([point.weights[name] for point in together]))
                for name in together[0].weights
            },
        )
        for together in zip(*courses, strict=False)
    ]


def thinned(course: Course) -> Course:
    """No more points than a picture can show; the last is among them.

    Args:
        course: Of all points.

    Example:
        >>> course = [Point(step=step, weights={}) for step in range(1000)]
        >>> len(thinned(course)), thinned(course)[-1].step
        (200, 999)
    """
    if len(course) <= _POINTS:
        return course
    return [course[round(place)] for place in np.linspace(0, len(course) - 1, _POINTS)]


def settled(course: Course, *, start: Mapping[str, float], steps: int) -> Settling:
    """When the weights stopped moving, and when to measure them again.

    They have settled at the first update from which on they stay within a total-variation distance
    of 0.1 of where they end: from then on at most a tenth of what is drawn would be drawn from
    another source. If that is only in the last quarter of the steps, they were still moving.

    Otherwise they stayed put from step s to the end, S, while the model saw S/s times as much text.
    What a model needs changes with the logarithm of what it has seen, so a thing that did not
    change over a factor S/s is expected to hold for such a factor again, and no longer: measure
    again after S/s times as many tokens as a run has seen (and at most ten times, of which nothing
    was seen here).

    Args:
        course: The mean over seeds, one update at least.
        start: Weights before the first update.
        steps: Of a run.

    Example:
        >>> after = {10: 0.7, 20: 0.9, 40: 0.9}
        >>> course = [Point(step=step, weights={"a": a}) for step, a in after.items()]
        >>> settled(course, start={"a": 0.5}, steps=40)
        Settling(step=20, moves=False, factor=2.0)
    """
    ends = course[-1].weights
    whole = [Point(step=0, weights=dict(start)), *course]
    far = [place for place, point in enumerate(whole) if _distance(point.weights, ends) > _NEAR]
    first = far[-1] + 1 if far else 0
    step = whole[first].step
    if step > _LAST * steps:
        return Settling(step=step, moves=True, factor=None)
    factor = steps / max(
        step, course[0].step
    )  # of the time before the first update nothing is known
    return Settling(step=step, moves=False, factor=min(_MOST, factor))


def at_floor(weights: Mapping[str, float], *, bound: float | None) -> set[str]:
    """The sources whose weights learning took as low as they may go.

    Args:
        weights: Learned.
        bound: β: how many times another weight may exceed the least; without one there is no floor.

    Example:
        >>> at_floor({"a": 0.83, "b": 0.09, "c": 0.08}, bound=10) == {"b", "c"}
        True
    """
    if bound is None:
        return set()
    least = max(weights.values()) / bound
    few = _FEW / len(weights)
    return {name for name, share in weights.items() if share <= min(_NEAR_FLOOR * least, few)}


def _distance(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Total variation."""
    return sum(abs(one[name] - other[name]) for name in other) / 2
