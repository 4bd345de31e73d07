"""How long a search takes and how much room its models need, before it starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tawt.best.budget import HALVED
from tawt.best.recipes import Recipe
from tawt.durations import duration
from tawt.errors import ConfigError
from tawt.modality.said import said_before
from tawt.runs.timing import time_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from tawt.best.budget import Budget
    from tawt.best.study import BestStudy

_SECONDS = 2.0  # of training that is timed
_ON_SOURCES = 0.6  # of candidates that use sources
_DROPPED = 0.4  # of these, after their first part
_SAVED = 3 * 2**20  # bytes beside a model: predictions, page, journal
_MODELS = 2


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What a search is expected to take."""

    candidates: int
    runs: int
    seconds: float
    """By the clock."""
    disk_bytes: int

    def in_words(self) -> str:
        """All of it.

        Example:
            >>> Estimate(candidates=12, runs=38, seconds=1500, disk_bytes=184_000_000).in_words()
            'about 12 candidates in 38 runs, 25 minutes, 184 MB for two models'
        """
        return (
            f"about {self.candidates} candidates in {self.runs} runs, {duration(self.seconds)}, "
            f"{self.disk_bytes / 1e6:,.0f} MB for two models"
        )


def estimated(
    study: BestStudy,
    budget: Budget,
    *,
    workers: int,
    device: str,
    should_stop: Callable[[], bool] = lambda: False,
) -> Estimate:
    """What a search will take, by a few seconds of training.

    Args:
        study: What it is for.
        budget: That it has.
        workers: Runs at a time.
        device: Where they are made.
        should_stop: Asked after every step.

    Raises:
        ConfigError: The time does not allow for the target alone and one candidate beside it.
    """
    recipe = Recipe(order="sources first", weights="equal", sources=study.sources)
    config = recipe.applied(study.config, study.fold(1), name="timed")
    with said_before():
        step = time_steps(
            config, device=device, seconds=_SECONDS, rounds_of=1, should_stop=should_stop
        ).step
    alone = step * _fine_tuning_steps(study)
    beside = alone + step * study.source_steps
    per_candidate = _mean_runs(study.parts)
    each = (1 - _ON_SOURCES) * study.parts * alone + _ON_SOURCES * per_candidate * beside
    last = alone + beside
    if budget.seconds is not None:
        least = (study.parts * alone + beside) / workers + last
        if least > budget.seconds:
            raise ConfigError(
                f"--budget {budget.text} is too small: the target alone, one candidate beside it "
                f"and the model that is kept take about {duration(least)} here."
            )
        count = max(2, int((budget.seconds - last) * workers / each) - HALVED)
        seconds = budget.seconds
    else:
        assert budget.candidates is not None
        count = budget.candidates
        seconds = (count + HALVED) * each / workers + last
    runs = math.ceil(count * ((1 - _ON_SOURCES) * study.parts + _ON_SOURCES * per_candidate))
    runs += 2 * study.parts  # on half of the examples
    return Estimate(
        candidates=count,
        runs=runs,
        seconds=seconds,
        disk_bytes=_MODELS * (study.model_bytes + _SAVED),
    )


def _mean_runs(parts: int) -> float:
    """Of a candidate that may be dropped after its first part."""
    return _DROPPED + (1 - _DROPPED) * parts


def _fine_tuning_steps(study: BestStudy) -> int:
    held_out = study.examples // study.parts
    batch = study.config.training.batch_size
    return study.config.target_epochs * math.ceil((study.examples - held_out) / batch)
