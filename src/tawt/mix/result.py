"""What a search for a mixture came to, as it is kept in `mix.json`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import TypeAdapter, ValidationError

from tawt import files
from tawt.errors import RunError
from tawt.tasks import Measure

if TYPE_CHECKING:
    from pathlib import Path

MIX = "mix.json"
"""By this file the folder of a mixture is told from that of a run."""
Interval = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class CorpusShare:
    """One source: how much of it to use, and why."""

    name: str
    weight: float
    """Learned: the mean over seeds, of each run's mean over the second half of its steps."""
    interval: Interval | None
    """95% over seeds; none for one seed."""
    by_size: float
    """Its share of all there is."""
    multiplier: float
    """How many times more often than by size the recommended mixture draws it."""
    probability: float
    """To draw it with: the recommended weight, lowered where text would be repeated too often."""
    passes: float
    """Over it, with this probability."""
    uncapped: float
    """The recommended weight, as the runs drew it."""
    uncapped_passes: float
    """Over it, with that weight."""
    at_floor: bool
    """Whether learning took it as low as `ratio_bound` allows; never without a bound."""

    @property
    def is_capped(self) -> bool:
        """Whether the weight that the runs drew it by would repeat it too often."""
        return self.passes < self.uncapped_passes * (1 - 1e-6)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Of two rows, paired by seed."""

    mean: float
    interval: Interval | None
    """95% over seeds; none for one seed."""

    @property
    def is_measured(self) -> bool:
        """Whether it is more than chance: better on other seeds too."""
        return self.interval is not None and self.interval[0] > 0


@dataclass(frozen=True, kw_only=True)
class RowLoss:
    """The target's held-out loss after training with one kind of weights."""

    name: str
    scores: list[float]
    """Of each seed."""
    mean: float
    gains: dict[str, Difference]
    """Over other rows, by their names; positive where this one is better."""


@dataclass(frozen=True, kw_only=True)
class Settling:
    """When the weights stopped moving, and for how long that holds."""

    step: int
    """After which they stayed near their end."""
    moves: bool
    """Whether that was only in the last quarter: they had not settled."""
    factor: float | None
    """After how many times as many tokens to measure again; none where they had not settled."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """The learned weights after an update, averaged over seeds."""

    step: int
    weights: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class MixResult:
    """Which corpora to use, how much of each, and what that was measured to gain."""

    target: str
    recommended: Literal["learned weights", "weights by size", "equal weights"]
    corpora: list[CorpusShare]
    """The largest recommended weight first, then the largest learned one."""
    losses: list[RowLoss]
    metric: str
    measure: Measure
    split: Literal["dev", "test"]
    """The target's held-out examples that losses are of."""
    settling: Settling
    course: list[Point]
    seeds: list[int]
    steps: int
    """Of each run."""
    unit: Literal["tokens", "examples"]
    amount: float
    """That each run trained on, in `unit`."""
    wanted: float
    """That the mixture is for, in `unit`."""
    most_passes: float | None
    """That a source may be repeated; none where there is no limit."""
    is_short: bool
    """Whether all sources together are too little for that, so that nothing can be capped."""
    seconds: float
    """Training time of all runs together."""
    circumstances: dict[str, Any] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    """Sources too rare to draw: they are in no file for other programs."""
    warnings: list[str] = field(default_factory=list)
    """What makes the losses doubtful: held-out text in a source, or too little of it."""

    @property
    def mixture(self) -> dict[str, float]:
        """The probability to draw each source with."""
        return {corpus.name: corpus.probability for corpus in self.corpora}

    @property
    def handed_out(self) -> dict[str, float]:
        """The mixture for other programs: without what is left out, adding up to one."""
        kept = {name: share for name, share in self.mixture.items() if name not in self.left_out}
        total = sum(kept.values())
        return {name: share / total for name, share in kept.items()}

    @property
    def uncapped(self) -> dict[str, float]:
        """The recommended weights as the runs drew them, however often they repeat a source."""
        return {corpus.name: corpus.uncapped for corpus in self.corpora}

    def loss(self, name: str) -> RowLoss | None:
        """The row of that name, if there is one."""
        return next((row for row in self.losses if row.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def load_mix(folder: Path) -> MixResult:
    """What `mix` left in a folder.

    Args:
        folder: Of the mixture.

    Raises:
        RunError: There is nothing, or it is damaged.
    """
    values = files.read_sealed(folder / MIX)
    try:
        found = TypeAdapter(MixResult).validate_python(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise RunError(f"{folder / MIX} is damaged: {place}: {first['msg']}.") from error
    if not (found.corpora and found.losses and found.course and found.seeds):
        raise RunError(f"{folder / MIX} is damaged: it has no sources, losses, seeds or weights.")
    return found
