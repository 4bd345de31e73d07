"""The section `model` of a configuration whose data is corpora.

Reading it must not take the seconds that transformers needs to import.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from tawt.errors import ConfigError
from tawt.modality import Section

Objective = Literal["causal", "masked"]
"""What is predicted: every token from those before it, or some tokens from all others."""


class LoraSection(Section):
    """Low-rank adapters: the checkpoint is kept as it is, and small additions to it are trained."""

    rank: int = Field(8, ge=1, le=10_000)
    """Of every addition."""
    alpha: int = Field(16, ge=1, le=1_000_000)
    """Additions are scaled by this over their rank."""
    dropout: float = Field(0.0, ge=0, lt=1)
    """Share of an addition's inputs that is left out at random in training."""
    targets: list[str] | Literal["all-linear"] | None = None
    """Names of the layers that get one; those that are usual for the architecture by default."""


class LanguageModelConfig(Section):
    """A language model: one to go on with, or one that is trained from nothing."""

    objective: Objective = "causal"
    """What is predicted: every token from those before it, or some tokens from all others."""
    checkpoint: str | None = None
    """A language model to go on with: a name on the Hugging Face hub, a folder, or
    `package:NAME`."""
    config: str | None = None
    """Or a model whose architecture and size are taken over, without its parameters."""
    layers: int = Field(2, ge=1, le=1000)
    """Without either of these, a small model (GPT-2; BERT if `masked`) of so many layers."""
    width: int = Field(128, ge=1, le=1_000_000)
    """Of that small model's vectors."""
    heads: int = Field(4, ge=1, le=10_000)
    """Attention heads of that small model; they must divide its width."""
    masked_share: float = Field(0.15, gt=0, lt=1)
    """Masked: share of a window's tokens that are asked for."""
    lora: LoraSection | None = None
    """With `checkpoint`: train low-rank additions to it in place of all its parameters."""
    gradient_checkpointing: bool = False
    """Compute activations again in the backward pass in place of keeping them: less memory, more
    time."""

    @model_validator(mode="after")
    def _check_one_origin(self) -> LanguageModelConfig:
        if self.checkpoint is not None and self.config is not None:
            raise ConfigError(
                "`model.checkpoint` goes on with a model and `model.config` begins one from "
                "nothing; give one of them.",
                place=("config",),
            )
        if self.lora is not None and self.checkpoint is None:
            raise ConfigError(
                "`model.lora` adds to a model that has learned something; give `checkpoint`, or "
                "leave `lora` out.",
                place=("lora",),
            )
        return self

    @model_validator(mode="after")
    def _check_size(self) -> LanguageModelConfig:
        given = self.checkpoint or self.config
        fields = type(self).model_fields
        for name in ("layers", "width", "heads"):
            # By value: a run's folder has every default written out.
            if given is not None and getattr(self, name) != fields[name].default:
                raise ConfigError(
                    f"`model.{name}` is the size of a small model from nothing, and {given!r} has "
                    "a size of its own; leave it out.",
                    place=(name,),
                )
        if self.width % self.heads:
            raise ConfigError(
                f"`model.heads` must divide `model.width` ({self.width}); got {self.heads}.",
                place=("heads",),
            )
        return self
