"""What a search for the best model came to, as it is kept in `best.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from tawt import files
from tawt.errors import RunError
from tawt.tasks import Measure

if TYPE_CHECKING:
    from pathlib import Path

BEST = "best.json"
"""By this file the folder of a search is told from that of a run."""
MODEL, ALONE_MODEL = "best", "alone"
"""The runs on all examples: of what is used, and of the target alone where that is another."""
Gain = tuple[float, float, float]
"""The mean, and the ends of its 90% interval."""


@dataclass(frozen=True, kw_only=True)
class CandidateResult:
    """One way to train, and what it came to on examples that it had not seen."""

    number: int
    words: str
    """What is done."""
    recipe: dict[str, Any]
    state: str
    """`done`, `dropped` after its first part, or `failed`."""
    parts: int
    """That it was tried on."""
    score: float | None
    """The mean of the parts' scores."""
    gain: Gain | None
    """Beyond the target alone, in the mean score of an example."""
    seconds: float
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class SourceResult:
    """What is known of one source."""

    name: str
    verdict: str
    """`helps`, `hurts` or `cannot tell`, beside the others."""
    weight: float | None
    """Learned, where all sources were weighed."""
    gain: Gain | None
    """Of this source alone before the target, beyond the target alone, where that was tried."""


@dataclass(frozen=True, kw_only=True)
class HalfResult:
    """What the second half of some examples is worth to the way that is used."""

    whose: str
    """`target`, or `sources`: those that are used, all halved at a time."""
    examples: int
    """All of them, each run's held-out part included."""
    gain: Gain
    """Of all over half of them, in the mean score of a held-out example."""


@dataclass(frozen=True, kw_only=True)
class UnseenResult:
    """A model's score without the test examples that it was trained on, or nearly."""

    seen: int
    """Test examples that stand, or nearly stand, in what it was trained on."""
    of: int
    """All test examples."""
    score: float | None
    """On the others; none where there are no others."""


@dataclass(frozen=True, kw_only=True)
class BestResult:
    """What to use, and why."""

    target: str
    metric: str
    examples: int
    """Of the target, that were trained on and held out in turn."""
    parts: int
    chosen: int
    """Number of the candidate that is used."""
    alone: int
    """Number of the best candidate that uses no source."""
    rival: int | None
    """Number of the best candidate that uses sources."""
    worse: float | None
    """The probability that it is worse than the target alone."""
    candidates: list[CandidateResult]
    sources: list[SourceResult]
    test: dict[str, float]
    """Scores on test examples, of `best` and `alone`; none where there are no test examples."""
    test_gain: tuple[float, float, float] | None
    """Of `best` over `alone` in the mean score of a test example, with its 95% interval."""
    unseen: dict[str, UnseenResult] = field(default_factory=dict)
    """The scores without test examples that stand in training data; of `best` and `alone`, where
    there are such examples."""
    budget: str
    seconds: float
    """Of all runs together."""
    circumstances: dict[str, Any]
    remarks: list[str] = field(default_factory=list)
    halves: list[HalfResult] = field(default_factory=list)
    measure: Measure = field(default_factory=Measure)

    @property
    def uses_sources(self) -> bool:
        """Whether what is used was trained on sources."""
        return self.chosen != self.alone

    def candidate(self, number: int) -> CandidateResult:
        """By its number."""
        return next(each for each in self.candidates if each.number == number)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def load_best(folder: Path) -> BestResult:
    """The answer that a search left in its folder.

    Args:
        folder: Of the search.

    Raises:
        RunError: It is damaged, or not finished.
    """
    values = files.read_sealed(folder / BEST)
    try:
        return TypeAdapter(BestResult).validate_python(values)
    except ValidationError as error:
        raise RunError(f"{folder / BEST} is damaged: {error.errors()[0]['msg']}.") from error
