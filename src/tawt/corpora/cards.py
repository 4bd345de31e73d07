"""The card of a language model, which its folder shows first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.files.markdown import escaped
from tawt.version import __version__

if TYPE_CHECKING:
    from tawt.corpora.model_sections import LanguageModelConfig
    from tawt.modality import Trained

_PIPELINES = {"causal": "text-generation", "masked": "fill-mask"}


def card(trained: Trained[LanguageModelConfig]) -> str:
    """README.md: what the model does, what it was trained on, how well it does.

    Args:
        trained: All that was trained.
    """
    section, result = trained.section, trained.result
    pipeline = _PIPELINES[section.objective]
    names = ", ".join(f"“{escaped(name)}”" for name in trained.targets)
    scores = [
        f"| {escaped(name)} | {split} | {escaped(metric)} | {value:.4f} |"
        for name in trained.targets
        for split, found in result.scores.get(name, {}).items()
        for metric, value in found.items()
    ]
    weights = [f"| {escaped(name)} | {share:.4f} |" for name, share in result.weights.items()]
    return "\n".join(
        [
            "---",
            "library_name: transformers",
            f"pipeline_tag: {pipeline}",
            "tags: [tawt]",
            "---",
            f"# Language model for {names}",
            "",
            f"{_origin(section)}, trained for text like that of {names} ({trained.paradigm}) with "
            f"tawt {__version__}. It loads without tawt:",
            "",
            "```python",
            *_usage(section),
            "```",
            "",
            "| corpus | split | score | value |",
            "| --- | --- | --- | --- |",
            *scores,
            "",
            "What it was trained on, and how much each counted in the end:",
            "",
            "| corpus | weight |",
            "| --- | --- |",
            *(weights or [f"| {escaped(name)} | 1 |" for name in trained.targets]),
            "",
        ]
    )


def _origin(section: LanguageModelConfig) -> str:
    if section.checkpoint is not None:
        return escaped(section.checkpoint.rsplit("/", 1)[-1])
    if section.config is not None:
        return f"The architecture of {escaped(section.config.rsplit('/', 1)[-1])}"
    return f"A small {section.objective} language model"


def _usage(section: LanguageModelConfig) -> list[str]:
    """Python that asks the model."""
    if section.objective == "masked":
        return [
            "from transformers import pipeline",
            "",
            'model = pipeline("fill-mask", "path/to/this/folder")',
            'print(model(f"Some text with a {model.tokenizer.mask_token} in it."))',
        ]
    return [
        "from transformers import pipeline",
        "",
        'model = pipeline("text-generation", "path/to/this/folder")',
        'print(model("Some text", max_new_tokens=20))',
    ]
