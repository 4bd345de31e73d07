"""Low-rank additions to a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transformers.pytorch_utils import Conv1D

from tawt.errors import ConfigError, first_line
from tawt.extras import MissingExtraError, need

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from tawt.corpora.model_sections import LoraSection


def adapted(model: PreTrainedModel, lora: LoraSection) -> nn.Module:
    """The model, of which low-rank additions alone are trained.

    Args:
        model: Keeps its parameters as they are.
        lora: What is added.

    Raises:
        ConfigError: It has no layers of those names, or the library is not installed.
    """
    try:
        need("lora", by="`model.lora`")
    except MissingExtraError as error:
        raise ConfigError(str(error), place=("model", "lora")) from error
    from peft import LoraConfig, get_peft_model

    settings = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.targets,
        fan_in_fan_out=any(isinstance(module, Conv1D) for module in model.modules()),
    )
    try:
        made: nn.Module = get_peft_model(model, settings)
    except ValueError as error:
        raise ConfigError(
            f"`model.lora.targets`: {first_line(error)} Name layers of the model, or `all-linear`.",
            place=("model", "lora", "targets"),
        ) from error
    return made
