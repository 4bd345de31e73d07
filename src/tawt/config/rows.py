"""The ways of training that a comparison sets beside each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from tawt.errors import ConfigError, suggestion
from tawt.paths import slug

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from tawt.config.schema import RunConfig
    from tawt.training.paradigms import ParadigmName


@dataclass(frozen=True)
class Row:
    """One way of training, as changes to a configuration."""

    name: str
    paradigm: ParadigmName
    kind: Literal["fixed", "target-aware"] = "fixed"
    initial: Literal["uniform", "proportional"] = "uniform"
    weights_from: str | None = None
    """The row whose final weights of the same seed this one starts from, and keeps."""
    holds_share: bool = False
    """Whether the target's share is the one that learned weights hold it at."""
    against: str | None = None
    """The row that it should be better than."""
    against_held: str | None = None
    """The same where learned weights hold the target's share: the row that holds it too."""

    @property
    def learns(self) -> bool:
        """Whether its weights move."""
        return self.kind == "target-aware"

    def opponent(self, config: RunConfig, *, among: Collection[str]) -> str | None:
        """The row that it is compared with, of those in the table."""
        if holds_share(config) and self.against_held in among:
            return self.against_held
        return self.against if self.against in among else None

    def applied(
        self, config: RunConfig, *, seed: int, learned: Mapping[str, float] | None = None
    ) -> RunConfig:
        """The configuration of this row with this seed.

        Args:
            config: What all rows share.
            seed: Of the run.
            learned: Final weights of the row `weights_from`.
        """
        initial = self.initial if learned is None else dict(learned)
        changes: dict[str, Any] = {"kind": self.kind, "initial": initial}
        if self.kind == "fixed" and not self.holds_share:
            changes["target_share"] = "learned"  # that is: as `initial` has it, nothing held
        training = config.training
        if not self.learns:  # what says how units are measured would be refused beside it
            changes |= {"unit": "task", "group": None, "way": "auto"}
            training = replace(training, unit_examples=None)
        return config.model_copy(
            update={
                "paradigm": self.paradigm,
                "weighting": config.weighting.model_copy(update=changes),
                "training": training,
                "seed": seed,
                "name": f"{slug(self.name)}-{seed}",
            }
        )


_ROWS = (
    Row("single-task", "single-task"),
    Row("pre-training", "pre-training", initial="proportional", against="single-task"),
    Row(
        "weighted pre-training",
        "pre-training",
        kind="target-aware",
        initial="proportional",
        against="pre-training",
    ),
    Row("joint", "joint", initial="proportional", against="single-task"),
    Row(
        "weighted joint",
        "joint",
        kind="target-aware",
        initial="proportional",
        against="joint",
        against_held="balanced joint by size",
    ),
    Row("normalized joint", "joint", against="single-task"),
    Row(
        "balanced joint by size",
        "joint",
        initial="proportional",
        holds_share=True,
        against="single-task",
    ),
    Row("balanced joint", "joint", holds_share=True, against="single-task"),
    Row(
        "weighted normalized joint",
        "joint",
        kind="target-aware",
        against="normalized joint",
        against_held="balanced joint",
    ),
    Row(
        "learned weights held",
        "joint",
        weights_from="weighted normalized joint",
        against="normalized joint",
        against_held="balanced joint",
    ),
    Row(
        "joint then fine-tuning",
        "joint then fine-tuning",
        initial="proportional",
        against="single-task",
    ),
)
_EQUAL_START_ROWS = (
    Row("equal pre-training", "pre-training", against="single-task"),
    Row("learned pre-training", "pre-training", kind="target-aware", against="equal pre-training"),
    Row(
        "equal then fine-tuning",
        "joint then fine-tuning",
        holds_share=True,
        against="single-task",
    ),
    Row(
        "learned then fine-tuning",
        "joint then fine-tuning",
        kind="target-aware",
        against="equal then fine-tuning",
    ),
)
_SOURCES_ONLY_ROWS = (
    Row("equal weights", "sources only", against="single-task"),
    Row("weights by size", "sources only", initial="proportional", against="equal weights"),
    Row("learned weights", "sources only", kind="target-aware", against="equal weights"),
    Row(
        "learned weights fixed",
        "sources only",
        weights_from="learned weights",
        against="equal weights",
    ),
    Row("equal then target", "pre-training", against="equal weights"),
    Row(
        "learned then target",
        "pre-training",
        kind="target-aware",
        against="equal then target",
    ),
)
ROWS = {row.name: row for row in (*_ROWS, *_EQUAL_START_ROWS, *_SOURCES_ONLY_ROWS)}
"""By name.

"learned weights held" trains again with the weights that the weighted row ended with: the
paper's "fixed" against "dynamic". "joint then fine-tuning" gives joint training the last pass over
the target that pre-training has. The "balanced" rows start where weights that hold the target's
share start, and learn nothing: what they gain is the share's doing, and what weighted rows gain
over them is learning's. "equal pre-training", "equal then fine-tuning" and their learned rows start
from equal weights where the paper's start by size. The last six are for `paradigm: sources only`.
"""
PAPER_ROWS = tuple(row.name for row in _ROWS)
"""The paper's, and those that a critic of it would ask for."""
_LEARNED: Mapping[ParadigmName, str] = {
    "single-task": "weighted normalized joint",  # it weighs nothing, and joint is the usual one
    "joint": "weighted normalized joint",
    "pre-training": "learned pre-training",
    "joint then fine-tuning": "learned then fine-tuning",
    "sources only": "learned weights",
}
"""By paradigm, the row that learns weights from equal ones."""


def usual_rows(config: RunConfig) -> list[Row]:
    """The target alone, and equal and learned weights in the paradigm of the configuration.

    Equal weights hold the target's share where learned ones do.
    """
    learned = ROWS[_LEARNED[config.paradigm]]
    equal = learned.opponent(config, among=ROWS)
    assert equal is not None
    return [ROWS["single-task"], ROWS[equal], learned]


def every_row(config: RunConfig) -> list[Row]:
    """All rows that make sense for the configuration: the paper's, or those of sources only."""
    rows = [ROWS["single-task"], *_SOURCES_ONLY_ROWS]
    if config.paradigm != "sources only":
        held = holds_share(config)
        rows = [row for row in _ROWS if held or not row.holds_share]
        rows += [row for row in usual_rows(config) if row not in rows]
    return [row for row in rows if config.weighting.unit == "task" or not row.weights_from]


def chosen(names: Sequence[str] | None, config: RunConfig) -> list[Row]:
    """The rows of these names, or the usual three."""
    if names is None:
        return usual_rows(config)
    for name in names:
        if name not in ROWS:
            raise ConfigError(f"There is no row {name!r} to compare; {suggestion(name, ROWS)}")
        needed = ROWS[name].weights_from
        if needed is not None and config.weighting.unit != "task":
            raise ConfigError(
                f"The row {name!r} holds the weights of whole tasks; leave it out with "
                f"`weighting.unit: {config.weighting.unit}`.",
                place=("weighting", "unit"),
            )
        if needed is not None and needed not in names:
            raise ConfigError(f"The row {name!r} needs the row {needed!r}; name it too.")
    return [ROWS[name] for name in names]


def holds_share(config: RunConfig) -> bool:
    """Whether learned weights hold the target's share, or keep it in a range."""
    return config.weighting.target_share not in (None, "learned")
