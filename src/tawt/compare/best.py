"""The best row of a table, and the rows that it is better than by more than chance explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tawt.report.words import listed
from tawt.significance import holm, paired_t_test, verdicts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from tawt.tasks import Measure

ALONE = "single-task"
"""The row of the target alone."""
_CHANCE = 0.05
_FEWEST_SEEDS = 3  # of two, hardly any difference is sure


@dataclass(frozen=True)
class Rival:
    """A row that the best one is set beside."""

    name: str
    difference: float
    """By how much the best row's mean score is better."""
    p_value: float
    """Of the paired t-test on test examples, Holm-corrected over the rivals."""
    p_bootstrap: float
    """Of the paired bootstrap, likewise."""
    interval: tuple[float, float]
    """95% of the paired bootstrap."""

    p_seeds: float | None = None
    """Of the paired t-test on the seeds' scores, likewise; none of fewer than three seeds."""

    @property
    def is_beaten(self) -> bool:
        """Whether other test examples would agree, by both tests, and other seeds too."""
        p_values = (self.p_value, self.p_bootstrap, self.p_seeds or 0.0)
        return max(p_values) < _CHANCE and self.interval[0] > 0


@dataclass(frozen=True)
class Best:
    """The row with the best mean score; of equals the first."""

    name: str
    rivals: list[Rival]
    """All other rows, in their order."""


def best_of(
    scores: Mapping[str, Sequence[float]], examples: Mapping[str, ArrayLike], *, measure: Measure
) -> Best:
    """The best row, with tests against every other.

    Args:
        scores: Of each row, one for each seed.
        examples: Scores of its test examples, higher being better, shape `(seeds, examples)`.
        measure: How scores are read.

    Example:
        >>> from tawt.tasks import Measure
        >>> examples = {"single-task": [[0, 1] * 10], "joint": [[1, 1] * 10]}
        >>> found = best_of({"single-task": [0.5], "joint": [1.0]}, examples, measure=Measure())
        >>> found.name, [(rival.name, rival.is_beaten) for rival in found.rivals]
        ('joint', [('single-task', True)])
    """
    means = {row: float(np.mean(found)) for row, found in scores.items()}
    name = max(means, key=lambda row: measure.sign * means[row])
    others = [row for row in means if row != name]
    tests = verdicts({row: (examples[name], examples[row]) for row in others})
    of_seeds = {}
    if len(scores[name]) >= _FEWEST_SEEDS:
        of_seeds = holm({row: paired_t_test(scores[name], scores[row]) for row in others})
    rivals = [
        Rival(
            name=row,
            difference=measure.gain(means[name], over=means[row]),
            p_value=tests[row].p_value,
            p_bootstrap=tests[row].p_bootstrap,
            interval=tests[row].interval,
            p_seeds=of_seeds.get(row),
        )
        for row in others
    ]
    return Best(name, rivals)


def best_in_words(best: Best, *, mean: float, metric: str, measure: Measure) -> str:
    """Which row is the best, and whether that is more than chance.

    Args:
        best: Beside one rival at least.
        mean: Its mean score.
        metric: The score's name.
        measure: How scores are read.

    Example:
        >>> from tawt.tasks import Measure
        >>> sure, unsure = (
        ...     Rival(name, 0.04, p, p, (low, 0.08))
        ...     for name, p, low in (("single-task", 0.001, 0.02), ("balanced joint", 0.3, -0.01))
        ... )
        >>> best = Best("weighted joint", [sure, unsure])
        >>> best_in_words(best, mean=0.75, metric="accuracy", measure=Measure())
        'Weighted joint has the best accuracy, 75.0: it is better than single-task (+4.0), but no \
better than balanced joint (+4.0 can be chance).'
    """
    beaten, level = (
        [rival for rival in best.rivals if rival.is_beaten is so] for so in (True, False)
    )
    they, have, are = ("they", "have", "are") if "weights" in best.name else ("it", "has", "is")
    parts = []
    if beaten:
        parts.append(f"{they} {are} better than {_rivals(beaten, measure)}")
    if level:
        start = "" if beaten else f"{they} {are} "
        parts.append(f"{start}no better than {_rivals(level, measure, note=' can be chance')}")
    first = f"{best.name.capitalize()} {have} the best {metric}, {measure.shown(mean)}"
    return f"{first}{': ' if beaten else ', but '}{', but '.join(parts)}.{_of_alone(best)}"


def _rivals(rivals: list[Rival], measure: Measure, *, note: str = "") -> str:
    return listed(f"{each.name} ({measure.shown_gain(each.difference)}{note})" for each in rivals)


def _of_alone(best: Best) -> str:
    """What is said where the target alone may be as good."""
    unbeaten = {best.name, *(rival.name for rival in best.rivals if not rival.is_beaten)}
    return " These runs do not show that sources help." if ALONE in unbeaten else ""
