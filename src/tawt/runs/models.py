"""The trained model in its folder: Hugging Face's form for text, safetensors for arrays."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError
from safetensors.torch import save

from tawt import files
from tawt.arrays import Classification
from tawt.config.data_sections import EncoderConfig
from tawt.errors import RunError
from tawt.files.markdown import escaped
from tawt.paths import slug
from tawt.runs import array_building
from tawt.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tawt.config.schema import RunConfig
    from tawt.tasks import MultiTaskModel, Task
    from tawt.training import TrainingResult

MODEL = "model"


def write_model(
    path: Path,
    config: RunConfig,
    tasks: Sequence[Task],
    model: MultiTaskModel,
    result: TrainingResult,
) -> None:
    """Leave the target's model in `model/` of a run's folder; several targets, one folder each.

    Args:
        path: The run's folder.
        config: What was run.
        tasks: Sources and targets.
        model: Trained.
        result: What came of it.

    Raises:
        RunError: It cannot be written.
    """
    if not isinstance(config.model, EncoderConfig):
        files.write(path / MODEL / "model.safetensors", save(model.state_dict()))
        files.write_json(path / MODEL / "model.json", _about(config, tasks, model))
        return
    part = path / f".{MODEL}.part"
    try:
        shutil.rmtree(part, ignore_errors=True)
        _write_text_models(part, config.model.encoder, config, tasks, model, result)
        shutil.rmtree(path / MODEL, ignore_errors=True)
        part.rename(path / MODEL)
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"Could not write {path / MODEL}: {error}. Make room (or fix the permissions) and run "
            "again with --resume."
        ) from error


def _write_text_models(
    folder: Path,
    encoder: str,
    config: RunConfig,
    tasks: Sequence[Task],
    model: MultiTaskModel,
    result: TrainingResult,
) -> None:
    from tawt.text.encoding import load_tokenizer
    from tawt.text.saving import save_model

    tokenizer = load_tokenizer(encoder)
    for task in tasks:
        if task.name in config.targets:
            inside = folder if len(config.targets) == 1 else folder / slug(task.name)
            save_model(model, task, tokenizer, inside, card=_card(config, task, result))


def _about(config: RunConfig, tasks: Sequence[Task], model: MultiTaskModel) -> dict[str, Any]:
    """What the parameters are parameters of."""
    labels = {
        task.name: list(task.kind.labels) if isinstance(task.kind, Classification) else None
        for task in tasks
    }
    return {
        "format": "tawt arrays 1",
        "representation": config.model.model_dump(mode="json"),
        "input_shape": list(array_building.input_shape(tasks)),
        "heads": [{"task": name, "labels": labels[name]} for name in model.heads],
        "target": config.target,
    }


def _card(config: RunConfig, task: Task, result: TrainingResult) -> str:
    """README.md: what the model does, what it was trained on, how well it does."""
    assert isinstance(config.model, EncoderConfig)
    level = getattr(task.kind, "level", "text")
    pipeline = "token-classification" if level == "words" else "text-classification"
    scores = [
        f"| {split} | {escaped(metric)} | {value:.4f} |"
        for split, found in result.scores.get(task.name, {}).items()
        for metric, value in found.items()
    ]
    weights = [f"| {escaped(name)} | {share:.4f} |" for name, share in result.weights.items()]
    encoder, name = escaped(config.model.encoder.rsplit("/", 1)[-1]), escaped(task.name)
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
            f"examples ({config.paradigm}) with tawt {__version__}. It loads without tawt:",
            "",
            "```python",
            *_usage(task, pipeline),
            "```",
            "",
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


def _usage(task: Task, pipeline: str) -> list[str]:
    """Python that asks the model."""
    from tawt.text.reading import is_iob

    # A span's tag is that of its first word's first piece, as in training. Other tags are not to
    # be put together: two nouns in a row are two.
    spans = pipeline == "token-classification" and is_iob(getattr(task.kind, "labels", ()))
    how = ', aggregation_strategy="first"' if spans else ""
    paired = any(text.second is not None for text in getattr(task.train, "texts", ()))
    asked = '{"text": "One text.", "text_pair": "Another."}' if paired else '"Some new text."'
    return [
        "from transformers import pipeline",
        "",
        f'model = pipeline("{pipeline}", "path/to/this/folder"{how})',
        f"print(model({asked}))",
    ]
