"""A trained model from its folder, and the device it answers on."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoModelForSequenceClassification, AutoModelForTokenClassification

from tawt.errors import RunError, is_out_of_memory
from tawt.text.encoding import Level, load_tokenizer
from tawt.text.encoding.loading import quietly

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from transformers import PreTrainedModel, PreTrainedTokenizerFast

_CLASSES: dict[Level, Any] = {
    "words": AutoModelForTokenClassification,
    "text": AutoModelForSequenceClassification,
}


def load_trained(folder: Path, level: Level) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """The model in a folder, with its last layer, ready to answer; and its tokenizer.

    Args:
        folder: In Hugging Face form. Nothing is fetched, and no pickle is opened.
        level: What it answers for.

    Raises:
        RunError: There is none, or it is damaged.
    """
    with _loading(folder):
        model = load_saved(folder, _CLASSES[level])
        return model, load_tokenizer(str(folder.resolve()))


def load_saved(folder: Path, kind: Any) -> PreTrainedModel:
    """The model in a folder, ready to answer.

    Args:
        folder: In Hugging Face form. Nothing is fetched, and no pickle is opened.
        kind: The `AutoModel` class that loads it.

    Raises:
        RunError: There is none, or it is damaged.
    """
    with _loading(folder), quietly():
        model, found = kind.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
        )
    if found["missing_keys"]:
        missing = min(found["missing_keys"])
        raise RunError(f"The model in {folder} is damaged: it has no parameters for {missing}.")
    made: PreTrainedModel = model.eval()
    return made


@contextlib.contextmanager
def _loading(folder: Path) -> Iterator[None]:
    try:
        yield
    except RunError:
        raise
    except Exception as error:  # what transformers raises for a damaged file may be anything
        if is_out_of_memory(error):
            raise
        reason = " ".join(str(error).split())[:300].rstrip(". ")
        raise RunError(f"The model in {folder} cannot be loaded: {reason}.") from error
