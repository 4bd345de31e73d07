"""The configuration of a run: what the YAML file says, checked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import (
    Field,
    SerializeAsAny,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from tawt.config import sections, yaml_file
from tawt.config.before import without_target_parts
from tawt.config.explaining import explained, shown
from tawt.config.fold import FoldConfig
from tawt.config.presets import FINER, PRESETS
from tawt.config.weighting import WeightingConfig
from tawt.config.yaml_loader import DEEPEST
from tawt.errors import ConfigError, Place
from tawt.modality import DataSection, Modality, Section, modality_named
from tawt.training import Settings
from tawt.training.paradigms import ParadigmName
from tawt.training.settings import OF_FRESH_BATCHES


class RunConfig(Section):
    """Everything that a run depends on."""

    name: str = Field("run", max_length=200, pattern=r"^[\w-][\w.-]*$")
    """Of the run folder: letters, digits, `_`, `-` and `.`."""
    seed: int = Field(0, ge=0, lt=2**63)
    """Of every random choice."""
    data: SerializeAsAny[DataSection]
    """Where the examples come from."""
    target: str | dict[str, float]
    """The task that counts, or several with the share each has."""
    sources: list[str] | None = None
    """The tasks that may help; all others by default."""
    model: SerializeAsAny[Section] = Field(Section(), validate_default=True)
    """The representation, as the kind of data has it."""
    paradigm: ParadigmName = "joint"
    """How sources and target are used; `pre-training` by default where the data is text.
    `sources only` is for models that the target shares whole."""
    epochs: int = Field(4, ge=1, le=1_000_000)
    """Passes over the sources (and, in joint training, the target)."""
    target_epochs: int = Field(4, ge=1, le=1_000_000)
    """Passes over the target alone: single-task, and fine-tuning."""
    fine_tune_learning_rate: float | None = Field(None, gt=0)
    """Of fine-tuning; `training.learning_rate` by default."""
    split_target: bool = False
    """Weights and representation see one half of the target, the final head the other."""
    fold: FoldConfig | None = None
    """Which of the target's examples are held out, for cross-fitting; by default its own splits."""
    weighting: WeightingConfig = WeightingConfig()
    """How the sources are weighed."""
    training: Settings = Settings()
    """How to train."""

    @field_validator("data", mode="before")
    @classmethod
    def _read_data(cls, value: Any) -> Any:
        """By the kind of data that it names."""
        return sections.read_data(value)

    @field_validator("model", mode="before")
    @classmethod
    def _read_model(cls, value: Any, info: ValidationInfo) -> Any:
        """By the same kind of data; what is wrong with that is said first."""
        data = info.data.get("data")
        return sections.read_model(value, data) if isinstance(data, DataSection) else Section()

    @model_validator(mode="after")
    def _check_sections_fit(self) -> RunConfig:
        self.modality.check(self.data, self.model, targets=list(self.targets))
        return self

    @model_validator(mode="after")
    def _check_units_are_weighed(self) -> RunConfig:
        unit = self.weighting.unit
        if unit != "task" and self.paradigm == "single-task":
            raise ConfigError(
                f"`weighting.unit` is {unit}, but with `paradigm: single-task` no source is "
                "weighed; leave it out, or choose another paradigm.",
                place=("weighting", "unit"),
            )
        if unit == "task" and self.training.unit_examples is not None:
            raise ConfigError(
                "`training.unit_examples` has no effect with `weighting.unit: task`; set that to "
                "group or example, or leave it out.",
                place=("training", "unit_examples"),
            )
        return self

    @model_validator(mode="after")
    def _check_steps_show_it(self) -> RunConfig:
        learns = self.weighting.kind == "target-aware" and self.paradigm != "single-task"
        shown = self.weighting.alignment == "cosine" and self.weighting.unit == "task"
        if self.training.measure == "training steps" and learns and not shown:
            raise ConfigError(
                "`training.measure: training steps` shows cosines of whole tasks, but the section "
                "`weighting` asks for another `alignment` or `unit`; use `fresh batches`.",
                place=("training", "measure"),
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _fill_from_preset(cls, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        weighting = values.get("weighting") or {}
        training = values.get("training") or {}
        if not isinstance(weighting, Mapping) or not isinstance(training, Mapping):
            return values
        training = without_target_parts(training)
        name = str(weighting.get("preset", "robust"))
        preset = PRESETS.get(name)
        if preset is None:
            return values
        on_tasks = weighting.get("unit", "task") == "task"
        if name == "robust" and not on_tasks:
            preset = FINER
        defaults = dict(preset.weighting)
        trained = {**preset.training, **sections.training_defaults(values)}
        shown = OF_FRESH_BATCHES if training.get("measure") == "training steps" else {}
        if name == "robust":  # the other preset is the authors', whatever the data
            ours = sections.robust_defaults(values, "training")
            if on_tasks:
                defaults.update(sections.robust_defaults(values, "weighting"))
                trained.update(ours)
            else:  # finer units move in another way, by the same steps
                trained.update({key: ours[key] for key in ("sampling",) if key in ours})
        if isinstance(weighting.get("initial"), Mapping):  # weights given by hand are not moved
            defaults.update(target_share="learned", ratio_bound=None)
        beside = sections.robust_defaults(values, "") if name == "robust" else {}
        filled = {**defaults, **weighting}
        return {
            **beside,
            **values,
            "weighting": filled,
            "training": {**trained, **shown, **training},
        }

    @property
    def targets(self) -> dict[str, float]:
        """The target, or several, with the share each has."""
        return {self.target: 1.0} if isinstance(self.target, str) else self.target

    @property
    def modality(self) -> Modality[Any, Any]:
        """The kind of data, and all that follows from it."""
        return modality_named(self.data.kind)


def load(path: Path, overrides: Mapping[str, Any] | None = None) -> RunConfig:
    """The configuration in a YAML file.

    Args:
        path: The file.
        overrides: Values that replace the file's, by dotted name (`training.batch_size`).

    Raises:
        ConfigError: With the file, the line and the field, if it cannot be run.
    """
    values, lines = yaml_file.read(path)
    for name, value in (overrides or {}).items():
        _set(values, name.split("."), value)
    config = parsed(values, source=str(path), lines=lines)
    return _with_absolute_paths(config, path.parent)


def parsed(
    values: Mapping[str, Any],
    *,
    source: str = "configuration",
    lines: Mapping[Place, int] | None = None,
) -> RunConfig:
    """The configuration in a mapping; errors are named after `source`."""
    try:
        return RunConfig.model_validate(values)
    except ValidationError as error:
        raise explained(error, source, lines or {}, model=RunConfig, values=values) from error


def dumped(config: RunConfig) -> str:
    """The configuration as YAML, every default written out."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def difference(config: RunConfig, *, kept: RunConfig) -> str | None:
    """The first field in which a configuration differs from the one in a folder, or none.

    Args:
        config: The one that is given now.
        kept: The one that the folder was made with.

    Example:
        >>> base = {"data": {"kind": "digits"}, "target": "digit"}
        >>> difference(parsed({**base, "name": "digits"}), kept=parsed({**base, "name": "joint"}))
        "`name` is 'digits' now and was 'joint' in the folder"
    """
    now, before = _flat(config.model_dump(mode="json")), _flat(kept.model_dump(mode="json"))
    for name in [*before, *now]:
        if now.get(name) != before.get(name):
            present, past = _given(now.get(name)), _given(before.get(name))
            return f"`{name}` is {present} now and was {past} in the folder"
    return None


def _given(value: Any) -> str:
    return "not given" if value is None else repr(value)


def _set(values: dict[str, Any], path: list[str], value: Any) -> None:
    if len(path) > DEEPEST:
        raise ConfigError(f"Cannot set {shown('.'.join(path))}: there is no field so deep.")
    for key in path[:-1]:
        if values.get(key) is None:  # missing, or an empty section
            values[key] = {}
        inner = values[key]
        if not isinstance(inner, dict):
            raise ConfigError(f"Cannot set {'.'.join(path)}: `{key}` is not a section.")
        values = inner
    values[path[-1]] = value


def _with_absolute_paths(config: RunConfig, folder: Path) -> RunConfig:
    """Paths are relative to the file; a folder has no other way to say where it means."""
    data, model = config.modality.placed(config.data, config.model, folder)
    return config.model_copy(update={"data": data, "model": model})


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        return {name: value}
    return {
        inner: entry
        for key, part in value.items()
        for inner, entry in _flat(part, f"{name}.{key}" if name else key).items()
    }
