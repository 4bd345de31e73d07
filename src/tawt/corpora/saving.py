"""Leaving a trained language model as anyone expects it: a folder that transformers loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.corpora.kinds import LanguageModelling
from tawt.corpora.networks import LanguageModel
from tawt.text.encoding.loading import quietly
from tawt.text.saving import make_readable

if TYPE_CHECKING:
    from pathlib import Path

    from tawt.tasks import MultiTaskModel, Task


def save_language_model(model: MultiTaskModel, task: Task, folder: Path, *, card: str) -> None:
    """Write model, tokenizer and model card in Hugging Face form.

    It loads with `AutoModelForCausalLM` or `AutoModelForMaskedLM`, and `AutoTokenizer`.

    Args:
        model: Of all tasks.
        task: Any of them: its kind has the vocabulary.
        folder: Where; made if it is not there.
        card: The text of README.md.
    """
    representation, kind = model.representation, task.kind
    assert isinstance(representation, LanguageModel)
    assert isinstance(kind, LanguageModelling)
    folder.mkdir(parents=True, exist_ok=True)
    with quietly():
        representation.plain().save_pretrained(folder)
    kind.vocabulary.save(folder)
    (folder / "README.md").write_text(card, encoding="utf-8")
    make_readable(folder)
