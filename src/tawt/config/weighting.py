"""The sections of a configuration that say how sources are weighed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from tawt.config.curvature_before import without_removed_fields
from tawt.errors import ConfigError
from tawt.modality import MOST, Section
from tawt.per_example import Way
from tawt.weighting.rule import check_sizes


class CurvatureConfig(Section):
    """How H⁻¹ is applied."""

    kind: Literal["identity", "adam", "conjugate-gradient", "dense"] = "identity"
    """Which approximation."""
    scale: float = Field(1.0, gt=0)
    """Identity: the constant."""
    damping: float = Field(0.01, ge=0)
    """Added to the Hessian's diagonal; for adam, as a share of its mean."""
    iterations: int = Field(20, ge=1, le=MOST)
    """Conjugate gradient: most iterations."""

    @model_validator(mode="before")
    @classmethod
    def _name_what_was_removed(cls, values: Any) -> Any:
        return without_removed_fields(values) if isinstance(values, Mapping) else values

    @model_validator(mode="after")
    def _check_damping(self) -> CurvatureConfig:
        if self.damping == 0 and self.kind == "adam":
            raise ConfigError(
                "`weighting.curvature.damping` must be positive for `kind: adam`, which has zeros "
                "to divide by.",
                place=("damping",),
            )
        return self


class GroupConfig(Section):
    """What makes examples of a source a group."""

    by: Literal["label", "length", "column", "cluster"] = "label"
    """Their label (the commonest, of several); their length; what the data itself says; or clusters
    of examples that are alike, by k-means."""
    count: int = Field(8, ge=1, le=MOST)
    """Groups of each source, by length or cluster."""


class WeightingConfig(Section):
    """How the sources are weighed."""

    kind: Literal["target-aware", "fixed"] = "target-aware"
    """Learned by TAWT, or held as they start."""
    preset: Literal["robust", "paper"] = "robust"
    """Defaults for what is not given here."""
    unit: Literal["task", "group", "example"] = "task"
    """What a weight is put on: a source, a group of its examples, or each of them."""
    group: GroupConfig | None = None
    """With `unit: group`: what makes one; the label by default."""
    way: Way = "auto"
    """With groups and examples: measured exactly, in mixed precision, or by differences of two
    forward passes."""
    initial: Literal["uniform", "proportional"] | dict[str, float] = "uniform"
    """Where the weights start: equal, by size, or as given."""
    target_share: Literal["learned"] | float | tuple[float, float] | None = None
    """Joint training: the target's own share is learned, held, or kept in a range."""
    alignment: Literal["cosine", "curvature"] = "cosine"
    """What is measured between a source's gradient and the target's."""
    scale: float = Field(1.0, gt=0)
    """With `step: mirror`: c of the paper, what the alignment is multiplied by."""
    curvature: CurvatureConfig = CurvatureConfig()
    """With `alignment: curvature`."""
    step: Literal["mirror", "evidence"] = "mirror"
    """Mirror descent, or by how sure it is that a source leads the others."""
    step_size: float = Field(1.0, gt=0)
    """With `step: mirror`: η of the paper."""
    own_alignment: Literal["itself", "held-out"] = "held-out"
    """Joint training with a learned target share: what the target is compared with."""
    anchor: float = Field(0.0, ge=0, lt=1)
    """With `step: mirror`: how far each step first returns towards the initial weights."""
    ratio_bound: float | None = Field(None, ge=1)
    """β: no weight may exceed β times another."""

    @model_validator(mode="before")
    @classmethod
    def _fill_group(cls, values: Any) -> Any:
        if not isinstance(values, Mapping) or values.get("unit") != "group":
            return values
        return values if values.get("group") is not None else {**values, "group": {}}

    @model_validator(mode="after")
    def _check_sizes_have_effect(self) -> WeightingConfig:
        check_sizes(self.step, self.scale, self.step_size, self.anchor)
        return self

    @model_validator(mode="after")
    def _check_units_have_effect(self) -> WeightingConfig:
        if self.unit != "task" and self.kind == "fixed":
            raise ConfigError(
                f"`weighting.unit` is {self.unit}, but with `kind: fixed` no weight is learned; "
                "leave it out, or take `kind: target-aware`.",
                place=("unit",),
            )
        if self.unit != "group" and self.group is not None:
            raise ConfigError(
                f"`weighting.group` has no effect with `unit: {self.unit}`; set `unit: group`, or "
                "leave it out.",
                place=("group",),
            )
        if self.unit == "task" and self.way != "auto":
            raise ConfigError(
                "`weighting.way` has no effect with `unit: task`: it is how single examples are "
                "measured. Set `unit` to group or example, or leave it out.",
                place=("way",),
            )
        return self
