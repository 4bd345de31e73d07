"""Corpora as a kind of data: raw text in, a language model out.

What needs transformers is imported when it is first called for: a configuration must be checked
without seconds of waiting.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tawt.corpora.data_sections import CorporaData
from tawt.corpora.model_sections import LanguageModelConfig
from tawt.corpora.placing import placed_checkpoint, placed_files
from tawt.errors import ConfigError
from tawt.modality import Modality, Predictor, PredictRequest, Trained
from tawt.paths import home_expanded, resolved

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tawt.modality.inspecting import Measured
    from tawt.modality.recognising import Drafted, FileGroup, Recognised
    from tawt.tasks import MultiTaskModel, Task

_TRAINING = {
    "batch_size": 16,
    "weight_decay": 0.1,
    "warmup": 0.05,
    "update_every": 25,
    "gradient_examples": 16,  # windows, each of which is hundreds of tokens
}
_ROBUST: Mapping[str, Mapping[str, Any]] = {
    "weighting": {"step": "mirror", "scale": 6.0, "anchor": 0.1, "ratio_bound": None},
    "training": {
        "sampling": "mixed",
        "update_every": 5,
        "update_growth": 0.25,
        "gradient_examples": 2,
        "target_examples": 32,
        "target_from": "all",
        "most_passes": "usual",
    },
}
"""docs/decisions/022: a bound of 10 throws most of the gain away, what is worth its tokens is
decided early, from few windows, and a corpus that is repeated too often is learned by heart."""


class Corpora(Modality[CorporaData, LanguageModelConfig]):
    """Corpora in text files, JSON lines, Parquet and saved datasets."""

    name = "corpora"
    data_section = CorporaData
    model_section = LanguageModelConfig
    model_wanted: ClassVar[str] = (
        "a language model (`model: {checkpoint: NAME}`, or `layers`, `width` and `heads` of a "
        "small one)"
    )
    groups_wanted: ClassVar[str] = "a field that names them (`group: NAME`)"
    dev_wanted: ClassVar[str] = "some (as `dev`, or a share of `train` by `held_out`)"
    files_wanted: ClassVar[str] = "raw text (.txt, JSON lines, Parquet)"
    endings: ClassVar[tuple[str, ...]] = (".txt", ".txt.gz", ".jsonl", ".jsonl.gz", ".parquet")

    def task_names(self, data: CorporaData) -> list[str]:
        """Those of the section."""
        return list(data.corpora)

    def check(
        self, data: CorporaData, model: LanguageModelConfig, *, targets: Sequence[str]
    ) -> None:
        """There is a corpus; all targets have one model, whatever they are called."""
        del model, targets
        if not data.corpora:
            raise ConfigError(
                "`data.corpora` is empty; name at least one corpus.", place=("data", "corpora")
            )

    def tasks(
        self,
        data: CorporaData,
        model: LanguageModelConfig,
        *,
        names: Sequence[str],
        targets: Sequence[str],
        seed: int,
    ) -> list[Task]:
        """The corpora, in windows. Only targets keep their held-out text."""
        from tawt.corpora.building import corpus_tasks

        return corpus_tasks(data, model, names=names, held_out=targets, seed=seed)

    def remarks(self, tasks: Sequence[Task], *, targets: Sequence[str]) -> list[str]:
        """Held-out text that is trained on, text that is too short, bytes that were replaced."""
        from tawt.corpora.warnings import warnings

        return list(warnings(tasks, targets))

    def model(self, section: LanguageModelConfig, tasks: Sequence[Task]) -> MultiTaskModel:
        """The language model."""
        from tawt.corpora.networks import language_model

        return language_model(section, tasks)

    def save(self, trained: Trained[LanguageModelConfig], folder: Path) -> None:
        """The model in Hugging Face form, once: all targets have the same."""
        from tawt.corpora.cards import card
        from tawt.corpora.saving import save_language_model

        save_language_model(trained.model, trained.tasks[0], folder, card=card(trained))

    def predictor(
        self, folder: Path, request: PredictRequest[CorporaData, LanguageModelConfig]
    ) -> Predictor:
        """The model, from its folder."""
        from tawt.corpora.asking import RowLayout
        from tawt.corpora.predicting import CorpusPredictor
        from tawt.corpora.vocabularies import vocabulary_named
        from tawt.training.devices import chosen_device

        return CorpusPredictor(
            folder,
            asking=RowLayout(
                vocabulary=vocabulary_named(str(folder.resolve())),
                objective=request.section.objective,
                window=request.data.window,
                masked_share=request.section.masked_share,
            ),
            device=chosen_device(request.device),
            precision=request.precision,
            batch_size=request.batch_size,
            buffer=request.buffer,
        )

    def inspect(
        self,
        data: CorporaData,
        model: LanguageModelConfig,
        *,
        names: Sequence[str],
        targets: Sequence[str],
        seed: int,
    ) -> tuple[list[Measured], list[str]]:
        """What is in the corpora: documents, tokens and bytes, and documents that they share."""
        from tawt.corpora.building import corpus_tasks
        from tawt.corpora.inspecting import measured_corpus, verify
        from tawt.corpora.warnings import size_warnings

        found = corpus_tasks(data, model, names=names, held_out=names, seed=seed)
        for task in found:
            verify(task)
        facts = [
            measured_corpus(task, role="target" if task.name in targets else "source")
            for task in found
        ]
        return facts, list(size_warnings(found, targets))

    def memory_fields(self, model: LanguageModelConfig) -> list[str]:
        """Shorter windows take less, and so do activations that are not kept."""
        fields = ["`data.window`"]
        if not model.gradient_checkpointing:
            fields.append("set `model.gradient_checkpointing`")
        return fields

    @property
    def robust_defaults(self) -> Mapping[str, Mapping[str, Any]]:
        """Fast, and without a bound: corpora differ by far more than tasks do."""
        return _ROBUST

    def training_defaults(self, model: Mapping[str, Any]) -> Mapping[str, Any]:
        """For models from nothing; one that has learned something is moved with more care."""
        return {**_TRAINING, "learning_rate": 1e-4 if model.get("checkpoint") else 1e-3}

    def placed(
        self, data: CorporaData, model: LanguageModelConfig, folder: Path
    ) -> tuple[CorporaData, LanguageModelConfig]:
        """Files are relative to the folder, and so are models and tokenizers that are folders."""
        corpora = {name: placed_files(files, folder) for name, files in data.corpora.items()}
        cache = None if data.cache is None else resolved(folder / home_expanded(data.cache))
        tokenizer = placed_checkpoint(data.tokenizer, folder)
        return (
            data.model_copy(update={"corpora": corpora, "cache": cache, "tokenizer": tokenizer}),
            model.model_copy(
                update={
                    "checkpoint": placed_checkpoint(model.checkpoint, folder),
                    "config": placed_checkpoint(model.config, folder),
                }
            ),
        )

    def whole(self, data: CorporaData, target: str) -> CorporaData | None:
        """The target without its limit."""
        if data.corpora[target].limit is None:
            return None
        every = data.corpora[target].model_copy(update={"limit": None})
        return data.model_copy(update={"corpora": {**data.corpora, target: every}})

    def recognise(self, files: FileGroup) -> Recognised | None:
        """By what is in them."""
        from tawt.corpora.recognising import recognise_corpus

        return recognise_corpus(files)

    def draft(self, target: Recognised, sources: Sequence[Recognised]) -> Drafted:
        """A small language model from nothing."""
        from tawt.corpora.drafting import draft_corpora

        return draft_corpora(target, sources)

    def limits(self, data: CorporaData) -> list[int]:
        """As the section says."""
        return [files.limit or 0 for files in data.corpora.values()]


CORPORA = Corpora()
