"""Text as a kind of data, wherever it comes from: a Hugging Face folder comes out.

What needs transformers is imported when it is first called for: a configuration must be checked
without seconds of waiting.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from tawt.errors import ConfigError
from tawt.modality import DataSection, Modality, Predictor, PredictRequest, Trained
from tawt.modality.said import DATA_LOG
from tawt.paths import resolved, slug
from tawt.text.sections import EncoderConfig
from tawt.text.sources import HeldOutTexts, UnlabelledTexts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tawt.modality.inspecting import Measured
    from tawt.tasks import MultiTaskModel, Task
    from tawt.text.kinds import TaskOptions
    from tawt.text.reading import Splits

D = TypeVar("D", bound=DataSection)


_ROBUST: Mapping[str, Mapping[str, Any]] = {
    "training": {
        "gradient_examples": 48,
        "target_examples": 128,
        "measure_through": "fitted heads",
    },
    "": {"paradigm": "pre-training"},
}
"""docs/decisions/024: a new head learns slowly at a rate that suits an encoder, and beside 100
sentences of a target sources cost more than they teach."""


class TextModality(Modality[D, EncoderConfig]):
    """Tasks of text, wherever it comes from: what follows from it is the same."""

    model_section = EncoderConfig
    model_wanted: ClassVar[str] = "an encoder (`model: {encoder: NAME}`)"
    is_pretrained = True

    @abstractmethod
    def read(self, data: D, name: str, *, is_target: bool, held_out: bool, seed: int) -> Splits:
        """The examples of a task, as they are read.

        Args:
            data: Says where they are.
            name: Of the task.
            is_target: Whether the task is a target.
            held_out: Whether dev and test are read too.
            seed: By which training examples are drawn.
        """

    def task_kind(self, data: D, name: str) -> str:
        """The name of the kind of task."""
        del data, name
        return "tagging"

    def task_options(self, data: D, name: str) -> TaskOptions:
        """What is said about a task."""
        from tawt.text.kinds import TaskOptions

        del data, name
        return TaskOptions()

    def instead(self, data: D, name: str) -> str:
        """What to read instead of a label that is always the same, if that is known."""
        del data, name
        return ""

    def field_names(self, data: D, name: str) -> Mapping[str, str]:
        """What a task's files call our fields, where that differs."""
        del data, name
        return {}

    def unlabelled(self, data: D) -> UnlabelledTexts:
        """The tasks that are text without labels."""
        del data
        return UnlabelledTexts()

    def check(self, data: D, model: EncoderConfig, *, targets: Sequence[str]) -> None:
        """Every target has labels, and its model a folder of its own."""
        del model
        folders: dict[str, str] = {}
        for name in targets:
            if name in self.unlabelled(data).sections:
                raise ConfigError(
                    f"The target {name!r} is unlabelled text, so there is no score for it to "
                    "improve. Choose a task with labels, or train a language model on the text "
                    "with `data.kind: corpora`.",
                    place=("target",),
                )
            other = folders.setdefault(slug(name), name)
            if other != name:
                raise ConfigError(
                    f"The models of `target` {other!r} and {name!r} would both be saved in the "
                    f"folder {slug(name)}; rename one of the tasks.",
                    place=("target",),
                )

    def tasks(
        self,
        data: D,
        model: EncoderConfig,
        *,
        names: Sequence[str],
        targets: Sequence[str],
        seed: int,
    ) -> list[Task]:
        """The tasks of these names. Only targets keep their held-out examples."""
        from tawt.text.building import check_learnable, cutting_of, task_of
        from tawt.text.heads import check_heads

        cutting = cutting_of(model)
        said: list[str] = []
        made: dict[str, Task] = {}
        held_out, unlabelled = HeldOutTexts(), self.unlabelled(data)
        for name in unlabelled.others(names):
            is_target = name in targets
            splits = self.read(data, name, is_target=is_target, held_out=is_target, seed=seed)
            if is_target:
                check_learnable(name, splits, partial(self.instead, data, name))
                held_out.add(name, splits)
            else:
                splits = splits.only_train()
            kind, wanted = self.task_kind(data, name), self.task_options(data, name)
            made[name] = task_of(name, splits, cutting, kind=kind, wanted=wanted, said=said)
        for name in unlabelled.among(names):
            made[name], warnings = unlabelled.read(
                name, model, cutting, held_out=held_out, seed=seed
            )
            said += warnings
        check_heads([*made.values()])
        for warning in said:  # not before it is clear that there is no error
            DATA_LOG.warning("%s", warning)
        return [made[name] for name in names]

    def model(self, section: EncoderConfig, tasks: Sequence[Task]) -> MultiTaskModel:
        """The encoder, and a head for each task."""
        from tawt.text.model import text_model

        return text_model(section.encoder, tasks)

    def save(self, trained: Trained[EncoderConfig], folder: Path) -> None:
        """The target's model in Hugging Face form; of several targets, a folder each."""
        from tawt.text.cards import card
        from tawt.text.encoding import load_tokenizer
        from tawt.text.saving import save_model

        tokenizer = load_tokenizer(trained.section.encoder)
        for task in trained.tasks:
            if task.name in trained.targets:
                inside = _model_folder(folder, task.name, trained.targets)
                save_model(trained.model, task, tokenizer, inside, card=card(trained, task))

    def predictor(self, folder: Path, request: PredictRequest[D, EncoderConfig]) -> Predictor:
        """The target's model, from its folder."""
        from tawt.text.kinds import kind_named
        from tawt.text.predicting import TextPredictor
        from tawt.training.devices import chosen_device

        return TextPredictor(
            _model_folder(folder, request.target, request.targets),
            kind=kind_named(self.task_kind(request.data, request.target)),
            max_length=request.section.max_length,
            overlap=request.section.overlap,
            device=chosen_device(request.device),
            precision=request.precision,
            batch_size=request.batch_size,
            buffer=request.buffer,
            fields=self.field_names(request.data, request.target),
        )

    def inspect(
        self,
        data: D,
        model: EncoderConfig,
        *,
        names: Sequence[str],
        targets: Sequence[str],
        seed: int,
    ) -> tuple[list[Measured], list[str]]:
        """What is in the files, one task's examples held at a time.

        Where the encoder cannot be had, a warning says so, and pieces are not counted.
        """
        from tawt.text.building import cutting_of
        from tawt.text.inspecting import by_split, measured_text

        cutting, said = None, []
        try:
            cutting = cutting_of(model)
        except ConfigError as error:
            said.append(f"Pieces are not counted: {error}")
        found: dict[str, Measured] = {}
        held_out, unlabelled = HeldOutTexts(), self.unlabelled(data)
        for name in unlabelled.others(names):
            is_target = name in targets
            splits = self.read(data, name, is_target=is_target, held_out=True, seed=seed)
            if is_target:
                held_out.add(name, splits)
            found[name] = measured_text(
                name,
                by_split(splits),
                splits.report,
                kind=self.task_kind(data, name),
                role="target" if is_target else "source",
                cutting=cutting,
            )
        for name in unlabelled.among(names):
            if cutting is None:
                said.append(f"{name!r} is left out here: unlabelled text is counted in pieces.")
            else:
                found[name], warnings = unlabelled.measure(
                    name, model, cutting, held_out=held_out, seed=seed
                )
                said += warnings
        return [found[name] for name in names if name in found], said

    @property
    def robust_defaults(self) -> Mapping[str, Mapping[str, Any]]:
        """Heads are fitted where gradients are measured."""
        return _ROBUST

    def memory_fields(self, model: EncoderConfig) -> list[str]:
        """Shorter rows take less."""
        return [f"`model.max_length` ({model.max_length})"]

    def placed(self, data: D, model: EncoderConfig, folder: Path) -> tuple[D, EncoderConfig]:
        """An encoder that is a folder is relative to this one."""
        if not (folder / model.encoder).is_dir():
            return data, model
        encoder = str(resolved(folder / model.encoder, error=ConfigError))
        return data, model.model_copy(update={"encoder": encoder})


def _model_folder(folder: Path, name: str, targets: Sequence[str]) -> Path:
    return folder if len(targets) == 1 else folder / slug(name)
