"""The card of a model, which its folder shows first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tawt.files.markdown import escaped
from tawt.text.decoding import mark_spans
from tawt.text.model import kind_of, level_of
from tawt.text.reading import is_iob
from tawt.text.tokens import WholeTexts
from tawt.version import __version__

if TYPE_CHECKING:
    from tawt.modality import Trained
    from tawt.tasks import Task
    from tawt.text.sections import EncoderConfig


def card(trained: Trained[EncoderConfig], task: Task) -> str:
    """README.md: what the model does, what it was trained on, how well it does.

    Args:
        trained: All that was trained.
        task: Whose model the card is of.
    """
    of_words = level_of(task) == "words"
    pipeline = "token-classification" if of_words else "text-classification"
    result = trained.result
    scores = [
        f"| {split} | {escaped(metric)} | {value:.4f} |"
        for split, found in result.scores.get(task.name, {}).items()
        for metric, value in found.items()
    ]
    weights = [f"| {escaped(name)} | {share:.4f} |" for name, share in result.weights.items()]
    encoder, name = escaped(trained.section.encoder.rsplit("/", 1)[-1]), escaped(task.name)
    return "\n".join(
        [
            "---",
            "library_name: transformers",
            f"pipeline_tag: {pipeline}",
            "tags: [tawt]",
            "---",
            f"# {name}",
            "",
            f"{encoder}, trained for the task “{name}” from {len(task.train)} labelled "
            f"examples ({trained.paradigm}) with tawt {__version__}. It loads without tawt:",
            "",
            "```python",
            *_usage(task, pipeline),
            "```",
            "",
            *_answered(task),
            "| split | score | value |",
            "| --- | --- | --- |",
            *scores,
            "",
            "What it was trained on, and how much each counted in the end:",
            "",
            "| task | weight |",
            "| --- | --- |",
            *(weights or [f"| {name} | 1 |"]),
            "",
        ]
    )


def _answered(task: Task) -> list[str]:
    """What the scores are of, where that is not what the example prints."""
    if level_of(task) != "words" or not mark_spans(kind_of(task).labels):
        return []
    return [
        "Scores are of the best valid sequence of tags (an I- only where its span has begun), as "
        "`tawt predict` answers; the example tags every word by itself.",
        "",
    ]


def _usage(task: Task, pipeline: str) -> list[str]:
    """Python that asks the model."""
    # A span's tag is that of its first word's first piece, as in training. Other tags are not to
    # be put together: two nouns in a row are two.
    spans = pipeline == "token-classification" and is_iob(kind_of(task).labels)
    how = ', aggregation_strategy="first"' if spans else ""
    texts = task.train.texts if isinstance(task.train, WholeTexts) else ()
    paired = any(text.second is not None for text in texts)
    asked = '{"text": "One text.", "text_pair": "Another."}' if paired else '"Some new text."'
    return [
        "from transformers import pipeline",
        "",
        f'model = pipeline("{pipeline}", "path/to/this/folder"{how})',
        f"print(model({asked}))",
    ]
