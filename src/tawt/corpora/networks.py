"""A language model as a representation: from windows of tokens to the nats they take."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - the name everyone uses
from torch import Tensor, nn
from transformers import PreTrainedModel

from tawt.corpora.adapting import adapted
from tawt.corpora.loading import load_language_model
from tawt.tasks import MultiTaskModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tawt.corpora.model_sections import LanguageModelConfig
    from tawt.tasks import Task


class LanguageModel(nn.Module):
    """A causal or masked language model of transformers.

    From a batch of windows to the sum of nats and the number of tokens predicted of each, shape
    `(windows, 2)`. Shapes depend on those of the inputs alone, and nothing waits for the device, so
    that passes can be compiled and recorded.

    Args:
        model: What `AutoModelForCausalLM` or `AutoModelForMaskedLM` make.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def plain(self) -> PreTrainedModel:
        """The model as transformers has it, without what low-rank additions wrap around it."""
        if isinstance(self.model, PreTrainedModel):
            return self.model
        adapted: Any = copy.deepcopy(self.model)  # merging changes it, and training may go on
        merged: PreTrainedModel = adapted.merge_and_unload()
        return merged

    def forward(self, inputs: Mapping[str, Tensor]) -> Tensor:
        """Nats and tokens of each window.

        Args:
            inputs: As `Windows` or `MaskedWindows` have them: `tokens`, how many of each row are
                no padding (`lengths`) and, of masked models, `answers`.
        """
        tokens, lengths = inputs["tokens"], inputs["lengths"]
        if "answers" in inputs:
            answers = inputs["answers"]
            asked = answers >= 0
            places = torch.arange(tokens.shape[1], device=tokens.device)
            seen = (places < lengths[:, None]).long()
            logits = self.model(input_ids=tokens, attention_mask=seen).logits
            return counted_nats(logits, answers.clamp(min=0), asked)
        # What comes after a window's end changes nothing before it, so no mask is needed.
        logits = self.model(input_ids=tokens[:, :-1], use_cache=False).logits
        asked = torch.arange(1, tokens.shape[1], device=tokens.device) < lengths[:, None]
        return counted_nats(logits, tokens[:, 1:], asked)


def counted_nats(logits: Tensor, answers: Tensor, asked: Tensor) -> Tensor:
    """The sum of nats of each row and the number of its tokens that are asked, in float32.

    Args:
        logits: Shape `(rows, places, vocabulary)`.
        answers: Shape `(rows, places)`.
        asked: Of that shape; others count nothing.

    Example:
        >>> ones = torch.ones(1, 2, dtype=torch.long)
        >>> counted_nats(torch.zeros(1, 2, 4), ones, ones.bool()).round(decimals=4)
        tensor([[2.7726, 2.0000]])
    """
    flat = logits.float().flatten(0, 1)
    nats = F.cross_entropy(flat, answers.flatten(), reduction="none").view(answers.shape)
    counts = asked.to(nats.dtype)
    return torch.stack([(nats * counts).sum(-1), counts.sum(-1)], dim=-1)


def language_model(section: LanguageModelConfig, tasks: Sequence[Task]) -> MultiTaskModel:
    """The model before training, with a head that does nothing for each task.

    Args:
        section: The section `model` of a configuration.
        tasks: All of one kind, which says what tokens there are.

    Raises:
        ConfigError: There is no such model, or it does not fit the tasks.
    """
    kind: Any = tasks[0].kind
    made = load_language_model(section, vocabulary=kind.vocabulary, window=kind.window)
    if section.gradient_checkpointing:
        made.gradient_checkpointing_enable({"use_reentrant": False})
    body = made if section.lora is None else adapted(made, section.lora)
    return MultiTaskModel.for_tasks(LanguageModel(body), tasks, width=2)
