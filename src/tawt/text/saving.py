"""Leaving a trained model as anyone expects it: a folder that transformers loads by itself."""

from __future__ import annotations

import copy
import stat
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from tawt.tasks.heads import alone
from tawt.text.encoding import TextRepresentation
from tawt.text.encoding.loading import quietly
from tawt.text.model import kind_of, level_of

if TYPE_CHECKING:
    from pathlib import Path

    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from tawt.tasks import MultiTaskModel, Task


def save_model(
    model: MultiTaskModel,
    task: Task,
    tokenizer: PreTrainedTokenizerFast,
    folder: Path,
    *,
    card: str,
) -> None:
    """Write the task's model in Hugging Face form, with tokenizer, labels and a model card.

    It loads with `AutoModelForTokenClassification` or `AutoModelForSequenceClassification`.

    Args:
        model: Of all tasks.
        task: Whose head is put on; of one that is shared, the outputs of the task's own labels.
        tokenizer: The encoder's.
        folder: Where; made if it is not there.
        card: The text of README.md.
    """
    representation = model.representation
    assert isinstance(representation, TextRepresentation)
    body = representation.body(level_of(task))
    config, before = _config(body, task), body.config
    name = str(body.head_name)
    body.set_submodule(name, alone(model.heads[task.name]))
    body.config = config
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with quietly():
            body.save_pretrained(folder, state_dict=_own_state(body, config))
    finally:
        body.config = before
        body.set_submodule(name, nn.Identity())
    tokenizer.save_pretrained(folder)
    (folder / "README.md").write_text(card, encoding="utf-8")
    make_readable(folder)


def make_readable(folder: Path) -> None:
    """Let whoever may read the configuration read the weights too; they are written private.

    Args:
        folder: Of a model in Hugging Face form.
    """
    mode = (folder / "config.json").stat().st_mode
    for weights in folder.glob("*.safetensors"):
        weights.chmod(stat.S_IMODE(mode))


def _config(body: PreTrainedModel, task: Task) -> Any:
    config, kind = copy.deepcopy(body.config), kind_of(task)
    labels = list(kind.labels) or [task.name]
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: index for index, label in enumerate(labels)}
    config.problem_type = kind.problem_type
    return config


def _own_state(body: PreTrainedModel, config: Any) -> dict[str, torch.Tensor]:
    """Its parameters, without what a shared encoder has for others."""
    with torch.device("meta"):
        known = set(type(body)(config).state_dict())
    return {
        name: value.detach().cpu().contiguous()
        for name, value in body.state_dict().items()
        if name in known
    }
