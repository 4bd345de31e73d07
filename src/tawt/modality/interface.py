"""What the rest of tawt asks of a kind of data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from tawt.modality.inspecting import measured
from tawt.modality.section import DataSection, Section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tawt.modality.inspecting import Measured
    from tawt.modality.predicting import Predictor
    from tawt.modality.recognising import Drafted, FileGroup, Recognised
    from tawt.tasks import MultiTaskModel, Task
    from tawt.training import TrainingResult

D = TypeVar("D", bound=DataSection)
M = TypeVar("M", bound=Section)


@dataclass(frozen=True, kw_only=True)
class Trained(Generic[M]):
    """A model at the end of its training, with what a reader of its folder wants to know."""

    section: M
    """The section `model` of the configuration."""
    tasks: Sequence[Task]
    """Sources and targets."""
    target: str | Mapping[str, float]
    """The target, or several with the share each has."""
    model: MultiTaskModel
    paradigm: str
    """How sources and target were used."""
    result: TrainingResult
    """What came of it."""

    @property
    def targets(self) -> list[str]:
        """Names of the targets."""
        return [self.target] if isinstance(self.target, str) else list(self.target)


@dataclass(frozen=True, kw_only=True)
class PredictRequest(Generic[D, M]):
    """Which of a run's models is to answer, and how."""

    data: D
    section: M
    """The section `model` of the configuration."""
    target: str
    """Whose model."""
    targets: Sequence[str]
    """All targets of the run."""
    device: str
    """"auto" (a GPU if there is one), "cpu", "cuda" or "cuda:N"."""
    precision: Literal["fp32", "bf16"]
    """In which to compute, as in training."""
    batch_size: int
    """Rows at a time."""
    buffer: int
    """Examples taken from a stream at a time."""


class Modality(ABC, Generic[D, M]):
    """One kind of data, from its section of a configuration to the answers of a trained model.

    A subclass names its two sections and says how tasks and model are made of them, and how the
    model is saved and asked. The rest has defaults.
    """

    name: ClassVar[str]
    """Of the kind of data, as `data.kind` has it."""
    data_section: type[D]
    """The section `data`; its field `kind` is that name."""
    model_section: type[M]
    """The section `model`."""
    model_wanted: ClassVar[str] = "another `model`"
    """What a configuration without a fitting model is told to give."""
    groups_wanted: ClassVar[str] = ""
    """What data is to be given that says which group each example is in; nothing where none can."""
    dev_wanted: ClassVar[str] = "some"
    """What a target without dev examples is to be given."""
    files_wanted: ClassVar[str] = ""
    """What files `recognise` knows, for whoever gives others; empty where it knows none."""
    endings: ClassVar[tuple[str, ...]] = ()
    """How the names of files end that are looked for in a folder that `recognise` is to look at."""
    is_pretrained: ClassVar[bool] = False
    """Whether the representation has learned much before training, so that heads on it tell what
    tasks have in common."""
    depends_on_roles: ClassVar[bool] = False
    """Whether a task has other examples as a source than as the target."""

    @abstractmethod
    def task_names(self, data: D) -> list[str]:
        """Names of all tasks that the data has."""

    @abstractmethod
    def tasks(
        self, data: D, model: M, *, names: Sequence[str], targets: Sequence[str], seed: int
    ) -> list[Task]:
        """The tasks of these names, in this order.

        Args:
            data: The section `data`.
            model: The section `model`.
            names: Of the tasks; `task_names` has them all.
            targets: Which of them are targets. A source needs no held-out examples.
            seed: Of whatever is drawn.

        Raises:
            TawtError: If one of them cannot be read, or a target has nothing to learn.
        """

    def remarks(self, tasks: Sequence[Task], *, targets: Sequence[str]) -> list[str]:
        """What makes scores on these tasks doubtful, a sentence each; kept with what comes of them.

        Args:
            tasks: As `tasks` made them.
            targets: Names of the targets among them.
        """
        del tasks, targets
        return []

    @abstractmethod
    def model(self, section: M, tasks: Sequence[Task]) -> MultiTaskModel:
        """The model before training. Torch's random numbers are seeded by the caller."""

    @abstractmethod
    def save(self, trained: Trained[M], folder: Path) -> None:
        """Leave the target's model in a folder that exists and is empty.

        It is moved to its place when all is written, so that it is there whole or not at all.
        """

    @abstractmethod
    def predictor(self, folder: Path, request: PredictRequest[D, M]) -> Predictor:
        """The model that `save` left in a folder, ready to answer.

        Raises:
            RunError: It is damaged.
        """

    def check(self, data: D, model: M, *, targets: Sequence[str]) -> None:
        """Refuse sections that are good each by itself but do not fit together.

        Raises:
            ConfigError: Saying what does not.
        """

    @property
    def robust_defaults(self) -> Mapping[str, Mapping[str, Any]]:
        """Values for weights on tasks that suit this kind of data better than the usual preset's.

        By section, `weighting` and `training`, and "" for fields beside the sections. They stand
        where a configuration gives none and asks for no other preset. Of weights on finer units
        `sampling` alone does, and what is beside the sections.
        """
        return {}

    def training_defaults(self, model: Mapping[str, Any]) -> Mapping[str, Any]:
        """Values of the section `training` that suit this kind of data better than the usual ones.

        They stand where a configuration gives none.

        Args:
            model: The section `model` as it is in the file, not checked yet.
        """
        del model
        return {}

    def placed(self, data: D, model: M, folder: Path) -> tuple[D, M]:
        """The sections with absolute paths, those in them being relative to a folder."""
        del folder
        return data, model

    def inspect(
        self, data: D, model: M, *, names: Sequence[str], targets: Sequence[str], seed: int
    ) -> tuple[list[Measured], list[str]]:
        """What is in the tasks, and what there is to warn of beside that; arguments as `tasks`."""
        found = self.tasks(data, model, names=names, targets=targets, seed=seed)
        return [
            measured(task, role="target" if task.name in targets else "source") for task in found
        ], []

    def recognise(self, files: FileGroup) -> Recognised | None:
        """What files are, where they are of this kind of data.

        Args:
            files: Those of one task. They exist and are not empty.

        Returns:
            Nothing where they are of another kind.

        Raises:
            DataError: They are of this kind, and something is wrong with them.
        """
        del files
        return None

    def draft(self, target: Recognised, sources: Sequence[Recognised]) -> Drafted:
        """A configuration to begin with, for tasks that `recognise` returned.

        Args:
            target: The task that counts.
            sources: All others.

        Raises:
            DataError: They cannot be trained on together, or the target by itself.
        """
        del target, sources
        raise NotImplementedError(
            f"{type(self).__name__} recognises files, so it must also have `draft`, which says how "
            "a configuration with them begins."
        )

    def memory_fields(self, model: M) -> list[str]:
        """Fields of the section `model` that lower the use of memory, with their values."""
        del model
        return []

    def whole(self, data: D, target: str) -> D | None:
        """The section with all that there is of the target; nothing where it has that already."""
        del data, target
        return None

    def sharers(self, data: D, tasks: Sequence[Task], *, target: str) -> list[str]:
        """Sources whose labels are the target's, so that it may be worth to share a head with them.

        Args:
            data: The section `data`.
            tasks: As `tasks` made them.
            target: Name of the target.
        """
        del data, tasks, target
        return []

    def with_shared_head(self, data: D, *, target: str, sources: Sequence[str]) -> D:
        """The section where the target shares its head with these sources.

        Args:
            data: The section `data`.
            target: Name of the target.
            sources: Some of its `sharers`.
        """
        del target, sources
        return data

    def limits(self, data: D) -> list[int]:
        """How many training examples each task is limited to; 0 where that is not said."""
        return [0 for _ in self.task_names(data)]
